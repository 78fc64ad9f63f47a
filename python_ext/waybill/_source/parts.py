"""What of a class its source decides, told alike by all versions of Python.

Ids of classes by source are hashes of that: classes of one source have one id,
whichever library wrote their methods.

Tested by tests/python/source/test_source_ids_cross.py.
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

#: Attributes that are not the same on all versions for the same source.
_NOT_OF_SOURCE = ATTRIBUTES_TO_DROP | {
    "__annotate__",
    "__annotations__",
    "__match_args__",
    "__replace__",
    # What versions keep of protocols, and of a TypedDict beside its keys.
    "__callable_proto_members_only__",
    "__mutable_keys__",
    "__non_callable_proto_members__",
    "__protocol_attrs__",
}

#: Of a TypedDict: what stands in them where the source says nothing.
_SAYS_NOTHING: dict[str, object] = {
    "__readonly_keys__": frozenset(),
    "__closed__": None,
}


def parts_by_source(parts: tuple[Any, ...], cls: type) -> tuple[Any, ...]:
    """What describes a class, as all versions of Python would have it."""
    metaclass, name, bases, namespace, own = parts
    return metaclass, name, bases, _by_source(namespace, cls), _by_source(own, cls)


def _by_source(attributes: dict[str, Any], cls: type) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in attributes.items():
        if name in _NOT_OF_SOURCE or _is_of_library(name, value, cls):
            continue
        if name == "__doc__" and isinstance(value, str):
            value = inspect.cleandoc(value)
        elif name == "__dataclass_fields__" and type(value) is dict:
            value = {key: _field(field) for key, field in value.items()}
        elif name == "__dataclass_params__":
            # They stand for the methods that are written, too.
            value = tuple(bool(getattr(value, option)) for option in PARAMS)
        elif type(value) is functools.singledispatchmethod:
            # The function that dispatches is the library's own.
            value = value.func, dict(value.dispatcher.registry)
        kept[name] = value
    return kept


def _is_of_library(name: str, value: Any, cls: type) -> bool:
    """Whether a library has put it there by itself."""
    if name in _SAYS_NOTHING and value == _SAYS_NOTHING[name]:
        return True
    if name == "__extra_items__":
        return getattr(value, "__name__", "") == "NoExtraItems"
    if name == "__doc__":
        return _is_written_doc(value, cls)
    if name == "__orig_bases__":
        # Of one that is derived from another, 3.11 does not keep it.
        return type(cls).__name__ == "_TypedDictMeta"
    function = getattr(value, "__func__", value)
    if type(function) is not FunctionType:
        return type(value).__name__ == "_tuplegetter"
    if function.__module__ == "typing":
        # The hook of protocols, and the __init__ of those without one.
        return True
    if name == "__new__" or function.__code__.co_filename == collections.__file__:
        return is_namedtuple(cls)
    # The __repr__ of dataclasses is wrapped by one that sees itself.
    written = (prove_generated(f.__code__, cls) for f in functions_of(function))
    return any(unit is not None for unit in written)


def _is_written_doc(value: Any, cls: type) -> bool:
    """Whether it is the signature that dataclass() and namedtuple() make a doc of."""
    if type(value).__name__ == "_AutoDocstring":
        return True
    is_made = is_namedtuple(cls) or "__dataclass_params__" in vars(cls)
    return is_made and isinstance(value, str) and value.startswith(f"{cls.__name__}(")


def _field(field: Any) -> tuple[Any, ...]:
    """What the source says of a field; versions keep more, or by other objects."""
    import dataclasses

    given: list[Any] = [field.name, kind_of_field(field)]
    for name in ("default", "default_factory"):
        value = getattr(field, name)
        given.append(() if value is dataclasses.MISSING else (value,))
    given.extend(getattr(field, name) for name in FIELD_OPTIONS)
    given.append(dict(field.metadata))
    return tuple(given)
