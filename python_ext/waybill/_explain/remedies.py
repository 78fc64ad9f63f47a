"""What can be done about objects that cannot travel. Tested by
tests/python/explain/test_explained_programs.py."""

from __future__ import annotations

import sys
import types

from waybill._reducers import replacements

#: Modules of types that are not spelled as they call themselves, before 3.13 at least.
_HIDDEN = ("_thread", "builtins")
_NAMES = {
    "lock": "threading.Lock",
    "RLock": "threading.RLock",
    "_local": "threading.local",
    "generator": "types.GeneratorType",
    "coroutine": "types.CoroutineType",
    "async_generator": "types.AsyncGeneratorType",
    "frame": "types.FrameType",
}


#: What to do instead, by the type's own name; a lock and the like is made.
_INSTEAD = {
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
    """What the sender can do about an object that cannot travel for this reason; ""
    where waybill knows of nothing. ``path``: an expression for it, if there is one. The
    extension calls it."""
    if isinstance(obj, type) or "by value" in reason:
        # What stands in its place would be of no use.
        return _of_modules(obj, reason)
    kind = type(obj)
    how = "fresh" if replacements.makers().get(kind) is not None else "drop"
    instead = _INSTEAD.get(kind.__name__, "make it inside of the task")
    spelled = _spelled(kind) or (path and f"type({path})")
    return f'replace={{{spelled}: "{how}"}}, or {instead}' if spelled else instead


def _spelled(kind: type) -> str:
    """What a program calls a type; "" for one that no name leads to, as of a class in a
    function."""
    module, name = kind.__module__, kind.__qualname__
    if module in _HIDDEN and name in _NAMES:
        return _NAMES[name]
    if not _is_found(kind, module, name):
        return ""
    # What a script calls its own classes.
    return name if module in ("__main__", "builtins") else f"{module}.{name}"


def _is_found(kind: type, module: str, name: str) -> bool:
    """Whether a module has the type by its name; runs no code of the program."""
    held: object = sys.modules.get(module)
    for step in name.split("."):
        space = held.__dict__ if isinstance(held, types.ModuleType) else None
        if isinstance(held, type):
            space = type.__dict__["__dict__"].__get__(held)
        if space is None or step not in space:
            return False
        held = space[step]
    return held is kind


def _of_modules(obj: object, reason: str) -> str:
    module = getattr(obj, "__module__", None)
    if "global that is not there" in reason and isinstance(module, str):
        return f'by_value=["{module}"]'
    return ""
