"""The parts of a class that its source determines, equal in all versions of Python.

A source id is a hash of these parts: classes of one source have one source id,
whichever library version generated their methods. Tested by
tests/python/source/test_source_ids_cross.py.
"""

from __future__ import annotations

import collections
import functools
import inspect
from types import FunctionType

from waybill._source.class_attributes import ATTRIBUTES_TO_DROP
from waybill._source.dataclass_parts import FIELD_OPTIONS, PARAMS, kind_of_field
from waybill._source.generated import functions_of, is_namedtuple, prove_generated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Attributes that differ between versions for the same source.
_NOT_OF_SOURCE = ATTRIBUTES_TO_DROP | {
    "__annotate__",
    "__annotations__",
    "__match_args__",
    "__replace__",
    # Cached members of protocols, and the keys of a TypedDict.
    "__callable_proto_members_only__",
    "__mutable_keys__",
    "__non_callable_proto_members__",
    "__protocol_attrs__",
}

#: Attributes of a TypedDict, with the values that they have if the source sets nothing.
_DEFAULTS: dict[str, object] = {"__readonly_keys__": frozenset(), "__closed__": None}


def parts_by_source(parts: tuple[Any, ...], cls: type) -> tuple[Any, ...]:
    """The parts of a class, as `class_parts` gives them, reduced to its source."""
    metaclass, name, bases, namespace, own = parts
    return metaclass, name, bases, _select(namespace, cls), _select(own, cls)


def _select(attributes: dict[str, Any], cls: type) -> dict[str, Any]:
    """The attributes that follow from the source, in a form that no version changes."""
    found: dict[str, Any] = {}
    for name, value in attributes.items():
        if name in _NOT_OF_SOURCE or _is_from_library(name, value, cls):
            continue
        if name == "__doc__" and isinstance(value, str):
            value = inspect.cleandoc(value)
        elif name == "__dataclass_fields__" and type(value) is dict:
            value = {key: _describe_field(field) for key, field in value.items()}
        elif name == "__dataclass_params__":
            # The parameters also stand for the generated methods.
            value = tuple(bool(getattr(value, option)) for option in PARAMS)
        elif type(value) is functools.singledispatchmethod:
            # The function that dispatches belongs to the library.
            value = value.func, dict(value.dispatcher.registry)
        found[name] = value
    return found


def _is_from_library(name: str, value: Any, cls: type) -> bool:
    """Whether a library added the attribute."""
    if name in _DEFAULTS and value == _DEFAULTS[name]:
        return True
    if name == "__extra_items__":
        return getattr(value, "__name__", "") == "NoExtraItems"
    if name == "__doc__":
        return _is_generated_doc(value, cls)
    if name == "__orig_bases__":
        # 3.11 does not store it in a TypedDict that derives from another.
        return type(cls).__name__ == "_TypedDictMeta"
    function = getattr(value, "__func__", value)
    if type(function) is not FunctionType:
        return type(value).__name__ == "_tuplegetter"
    if function.__module__ == "typing":
        # The hook of protocols, and their __init__ if they define none.
        return True
    if name == "__new__" or function.__code__.co_filename == collections.__file__:
        return is_namedtuple(cls)
    # The __repr__ of dataclasses is wrapped, to stop recursion.
    generated = (prove_generated(f.__code__, cls) for f in functions_of(function))
    return any(unit is not None for unit in generated)


def _is_generated_doc(value: Any, cls: type) -> bool:
    """Whether dataclass() or namedtuple() made the docstring, from the signature."""
    if type(value).__name__ == "_AutoDocstring":
        return True
    is_made = is_namedtuple(cls) or "__dataclass_params__" in vars(cls)
    return is_made and isinstance(value, str) and value.startswith(f"{cls.__name__}(")


def _describe_field(field: Any) -> tuple[Any, ...]:
    """The arguments of a field in the source; versions store more, or other objects."""
    import dataclasses

    given: list[Any] = [field.name, kind_of_field(field)]
    for name in ("default", "default_factory"):
        value = getattr(field, name)
        given.append(() if value is dataclasses.MISSING else (value,))
    given.extend(getattr(field, name) for name in FIELD_OPTIONS)
    given.append(dict(field.metadata))
    return tuple(given)
