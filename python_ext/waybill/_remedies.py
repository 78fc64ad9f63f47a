"""What can be done about objects that cannot travel. Tested by
tests/python/explain/test_explained_programs.py."""

from __future__ import annotations

from waybill import _replacements

#: Types that are not spelled as they call themselves, before 3.13 at least.
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


def remedy(obj: object, reason: str) -> str:
    """What the sender can do about an object that cannot travel for this reason."""
    if isinstance(obj, type) or "by value" in reason:
        # What stands in its place would be of no use.
        return _of_modules(obj, reason)
    kind = type(obj)
    how = "fresh" if _replacements.makers().get(kind) is not None else "drop"
    instead = _INSTEAD.get(kind.__name__, "make it inside of the task")
    return f'replace={{{_spelled(kind)}: "{how}"}}, or {instead}'


def _spelled(kind: type) -> str:
    if kind.__name__ in _NAMES:
        return _NAMES[kind.__name__]
    name = kind.__qualname__
    # What a script calls its own classes.
    is_here = kind.__module__ in ("__main__", "builtins")
    return name if is_here else f"{kind.__module__}.{name}"


def _of_modules(obj: object, reason: str) -> str:
    module = getattr(obj, "__module__", None)
    if "global that is not there" in reason and isinstance(module, str):
        return f'by_value=["{module}"]'
    return ""
