"""Compiles without compiler warnings: the import of the file has shown them.

``warnings.catch_warnings`` does not serve: it changes what other threads see, and makes
once-only warnings appear again. Tested by tests/python/source/test_quiet.py.
"""

from __future__ import annotations

import re
import sys
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The file name during compilation: unique, as another thread may copy the filter.
NAME = "<waybill unit>"
_RULE = ("ignore", None, Warning, re.compile(re.escape(NAME)), 0)

#: ``ast.PyCF_ONLY_AST``, without ``ast``, which takes milliseconds to load.
_ONLY_AST = 0x400


def compile_quietly(text: str, flags: int = 0, optimize: int = -1) -> Any:
    """The code object of a module's text, with NAME for its file."""
    if getattr(sys.flags, "context_aware_warnings", False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(text, NAME, "exec", flags, True, optimize)
    # In place: another thread may add a filter meanwhile, or replace the list.
    filters: Any = warnings.filters
    filters.insert(0, _RULE)
    try:
        return compile(text, NAME, "exec", flags, True, optimize)
    finally:
        if _RULE in filters:  # Unless another thread has reset the filters.
            filters.remove(_RULE)


def parse_quietly(text: str) -> Any:
    """The syntax tree of a module's text."""
    return compile_quietly(text, _ONLY_AST)
