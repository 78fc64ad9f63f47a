"""Which functions a module has: as objects where it is imported, else as code."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import Any

#: Where objects keep the function that they call: those of functools (lru_cache,
#: cached_property, partial) and of property, and what copies them.
HOLDERS = ("__wrapped__", "func", "fget", "fset", "fdel")
#: Values of modules that hold no functions, by far the most of them.
PLAIN = (str, bytes, int, float, list, tuple, dict, set, types.ModuleType)


def functions_of(module: types.ModuleType) -> Iterator[types.FunctionType]:
    """Functions and methods that the module defines, each once; nothing is run."""
    name = module.__name__
    seen: set[int] = set()
    todo: list[Any] = list(vars(module).values())
    while todo:
        value = todo.pop()
        kind = type(value)  # A proxy may run code for `isinstance`.
        if id(value) in seen or issubclass(kind, PLAIN):
            continue
        seen.add(id(value))
        # What a function wraps is in its closure, and so is answered with it.
        if issubclass(kind, types.FunctionType):
            if value.__module__ == name:
                yield value
        elif issubclass(kind, (staticmethod, classmethod)):
            todo.append(value.__func__)
        elif issubclass(kind, type):
            # By the type's own slot: a metaclass may run code for both.
            members = type.__dict__["__dict__"].__get__(value)
            if members.get("__module__") == name:
                todo += members.values()
        else:
            todo += [held_by(value, holder) for holder in HOLDERS]


def held_by(value: object, name: str) -> object:
    """An attribute that is stored in an object; None if there is none. Runs nothing."""
    found = inspect.getattr_static(value, name, None)
    if not isinstance(found, types.MemberDescriptorType):
        return found
    try:
        return found.__get__(value)
    except AttributeError:  # A slot without a value.
        return None


def function_behind(value: object) -> object:
    """The function that answers a call, as far as that is told."""
    # A method taken from its class or instance: the function is what has code.
    if isinstance(value, types.MethodType):
        value = value.__func__
    # As lru_cache's; functions have what they wrap in their closure.
    seen: set[int] = set()
    wrapped: object = value
    while not isinstance(wrapped, (types.FunctionType, type)):
        seen.add(id(wrapped))
        wrapped = held_by(wrapped, "__wrapped__")
        if wrapped is None or id(wrapped) in seen:
            return value
    return wrapped if isinstance(wrapped, types.FunctionType) else value


def is_function(code: types.CodeType) -> bool:
    """Whether the source has a `def` or `lambda` for it, and no class, comprehension,
    or annotation (3.14 makes a function of these)."""
    name = code.co_name
    is_made_up = name.startswith("<") or name == "__annotate__"
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and (
        name == "<lambda>" or not is_made_up
    )


def alone(code: types.CodeType, names: dict[str, Any]) -> types.FunctionType:
    """A function of this code without what is nested in it; never to be called."""
    constants = (None if isinstance(c, types.CodeType) else c for c in code.co_consts)
    code = code.replace(co_consts=tuple(constants))
    cells = tuple(types.CellType() for _ in code.co_freevars)
    return types.FunctionType(code, names, closure=cells)
