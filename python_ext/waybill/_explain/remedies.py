"""Remedies for objects that cannot be sent. Tested by
tests/python/explain/test_explained_programs.py."""

from __future__ import annotations

import sys
import types

from waybill._reducers import replacements

#: Modules that are not the public ones of their types, at least before 3.13.
_PRIVATE_MODULES = ("_thread", "builtins")
_PUBLIC_NAMES = {
    "lock": "threading.Lock",
    "RLock": "threading.RLock",
    "_local": "threading.local",
    "generator": "types.GeneratorType",
    "coroutine": "types.CoroutineType",
    "async_generator": "types.AsyncGeneratorType",
    "frame": "types.FrameType",
}


#: Remedies other than ``replace``, by the name of the type.
_ALTERNATIVES = {
    "generator": "pass what it yields as a list",
    "coroutine": "call its function inside of the task",
    "async_generator": "call its function inside of the task",
    "Connection": "open it inside of the task",
    "socket": "open it inside of the task",
    "TextIOWrapper": "open it inside of the task",
    "BufferedReader": "open it inside of the task",
    "BufferedWriter": "open it inside of the task",
    "FileIO": "open it inside of the task",
}


def remedy(obj: object, reason: str, path: str = "") -> str:
    """The sender's remedy for an object that cannot be sent for this reason; "" if
    unknown. ``path``: an expression for the object, or "". The extension calls it."""
    if isinstance(obj, type) or "by value" in reason:
        # A replacement of the object would not help.
        return _by_value_remedy(obj, reason)
    kind = type(obj)
    choice = "fresh" if replacements.fresh_reducers().get(kind) is not None else "drop"
    alternative = _ALTERNATIVES.get(kind.__name__, "make it inside of the task")
    name = _public_name(kind) or (path and f"type({path})")
    return f'replace={{{name}: "{choice}"}}, or {alternative}' if name else alternative


def _public_name(kind: type) -> str:
    """An expression for a type; "" if there is none, as for a class in a function."""
    module, name = kind.__module__, kind.__qualname__
    if module in _PRIVATE_MODULES and name in _PUBLIC_NAMES:
        return _PUBLIC_NAMES[name]
    if not _is_found(kind, module, name):
        return ""
    # A script names its own classes without the module.
    return name if module in ("__main__", "builtins") else f"{module}.{name}"


def _is_found(kind: type, module: str, name: str) -> bool:
    """Whether a module has the type under its name; runs no code of the program."""
    found: object = sys.modules.get(module)
    for step in name.split("."):
        space = found.__dict__ if isinstance(found, types.ModuleType) else None
        if isinstance(found, type):
            space = type.__dict__["__dict__"].__get__(found)
        if space is None or step not in space:
            return False
        found = space[step]
    return found is kind


def _by_value_remedy(obj: object, reason: str) -> str:
    module = getattr(obj, "__module__", None)
    if "global that is not there" in reason and isinstance(module, str):
        return f'by_value=["{module}"]'
    return ""
