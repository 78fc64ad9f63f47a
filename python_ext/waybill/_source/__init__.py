"""Source of code that travels between Python versions; see docs/cross_version.md.

Bytecode belongs to one minor version of Python. What stands here finds the source of a
live code object and proves that it compiles to that code, and compiles it with another
Python. Nothing of it is loaded by ``import waybill``, and it needs no extension.

Tested by tests/python/source.
"""
