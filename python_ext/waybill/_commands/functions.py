"""The functions of a module: objects if it is imported, else code objects."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import Any

#: Attributes in which objects store the function that they call: those of functools
#: (lru_cache, cached_property, partial), of property, and of classes like them.
HOLDERS = ("__wrapped__", "func", "fget", "fset", "fdel")
#: Types of most globals of modules; such values hold no functions.
PLAIN = (str, bytes, int, float, list, tuple, dict, set, types.ModuleType)


def functions_of(module: types.ModuleType) -> Iterator[types.FunctionType]:
    """Functions and methods that the module defines, each once. Runs no code of it."""
    name = module.__name__
    seen: set[int] = set()
    todo: list[Any] = list(vars(module).values())
    while todo:
        value = todo.pop()
        kind = type(value)  # A proxy may run code for `isinstance`.
        if id(value) in seen or issubclass(kind, PLAIN):
            continue
        seen.add(id(value))
        # A wrapped function is in the closure of its wrapper: imports() finds it there.
        if issubclass(kind, types.FunctionType):
            if value.__module__ == name:
                yield value
        elif issubclass(kind, (staticmethod, classmethod)):
            todo.append(value.__func__)
        elif issubclass(kind, type):
            # Read by a descriptor of type: a metaclass may run code when it is asked
            # for __dict__ or __module__.
            members = type.__dict__["__dict__"].__get__(value)
            if members.get("__module__") == name:
                todo += members.values()
        else:
            todo += [stored_attribute(value, holder) for holder in HOLDERS]


def stored_attribute(value: object, name: str) -> object:
    """A stored attribute of an object; None if there is none. Runs no code."""
    found = inspect.getattr_static(value, name, None)
    if not isinstance(found, types.MemberDescriptorType):
        return found
    try:
        return found.__get__(value)
    except AttributeError:  # A slot without a value.
        return None


def function_behind(value: object) -> object:
    """The function that a call of the object runs, if its attributes show it."""
    # A method of a class or instance: the function has the code.
    if isinstance(value, types.MethodType):
        value = value.__func__
    # Only for lru_cache and the like: imports() finds what functions wrap.
    seen: set[int] = set()
    wrapped: object = value
    while not isinstance(wrapped, (types.FunctionType, type)):
        seen.add(id(wrapped))
        wrapped = stored_attribute(wrapped, "__wrapped__")
        if wrapped is None or id(wrapped) in seen:
            return value
    return wrapped if isinstance(wrapped, types.FunctionType) else value


def is_function(code: types.CodeType) -> bool:
    """Whether it is the code of a `def` or `lambda`, not of a class or the like."""
    name = code.co_name
    is_made_up = name.startswith("<") or name == "__annotate__"
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and (
        name == "<lambda>" or not is_made_up
    )


def without_nested(code: types.CodeType, names: dict[str, Any]) -> types.FunctionType:
    """A function of this code without its nested code. It must not be called."""
    constants = (None if isinstance(c, types.CodeType) else c for c in code.co_consts)
    code = code.replace(co_consts=tuple(constants))
    cells = tuple(types.CellType() for _ in code.co_freevars)
    return types.FunctionType(code, names, closure=cells)
