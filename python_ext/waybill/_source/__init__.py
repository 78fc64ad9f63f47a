"""Source of code that travels between Python versions; see docs/cross_version.md.

Bytecode belongs to one minor version of Python. The sender finds the source of a live
code object and proves that it compiles to that code; a receiver on another version
compiles the source. ``import waybill`` loads nothing of this package. Tested by
tests/python/source.
"""
