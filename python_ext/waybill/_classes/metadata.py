"""Bases, names and docstrings of classes, read without code of their metaclasses.
Tested by tests/python/classes/test_class_values.py."""

from __future__ import annotations

import types
from _operator import is_

from waybill._kinds.derived import has_derived_doc
from waybill._state.snapshots import ABSENT, Kind, Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Attributes that the compiler adds. Their absence in a payload is not a deletion.
COMPILER_MADE = frozenset(
    {"__static_attributes__", "__firstlineno__", "__annotations_cache__"}
)
#: Properties of a class besides its attributes. Python may refuse the first two.
METADATA = (
    "__class__",
    "__bases__",
    "__name__",
    "__qualname__",
    "__module__",
    "__doc__",
)


def own_attribute(cls: type, name: str) -> Any:
    """The attribute of the class itself, by its name in payloads, or ABSENT."""
    own = vars(cls).get(name, ABSENT)
    if own is ABSENT and name in ("__annotate__", "__annotations__"):
        deferred = "__annotate_func__", "__annotations_cache__"
        return vars(cls).get(deferred[name == "__annotations__"], ABSENT)
    return own


def with_slots(attributes: dict[str, Any], namespace: Any) -> dict[str, Any]:
    """The attributes of a class, and the ``__slots__`` that it was made with."""
    if "__slots__" in attributes:
        return attributes
    return {"__slots__": namespace["__slots__"], **attributes}


def metadata_value(cls: type, name: str) -> Any:
    """The value of a name of METADATA. Nothing of the metaclass is called."""
    if name == "__class__":
        return type(cls)
    if name in ("__module__", "__doc__"):
        return vars(cls).get(name)
    return vars(type)[name].__get__(cls)


def comparable_value(value: Any) -> Any:
    """A value of METADATA, except bases, in a form to compare: text, None, a class or
    a snapshot."""
    if value is None or type(value) is str or issubclass(type(value), type):
        return value
    return Snapshot(Kind.WHOLE, value)


def sent_metadata(
    cls: Any,
    metaclass: Any,
    name: str,
    bases: list[Any],
    namespace: dict[str, Any],
    attributes: dict[str, Any],
) -> dict[str, Any]:
    """The METADATA of a class at its sender, by name, from the parts of its node."""
    metadata: dict[str, Any] = {}
    if not bases:  # A call made the class, not a class statement.
        for key in METADATA:
            metadata[key] = metadata_value(cls, key)
        return metadata
    # Where the node names `type` or a function, the class was made with its metaclass:
    # bases of ctypes bring one.
    is_given = metaclass is not type and issubclass(type(metaclass), type)
    metadata["__class__"] = metaclass if is_given else type(cls)
    metadata["__bases__"] = tuple(bases)
    for base in bases:
        if not isinstance(base, type):
            metadata["__bases__"] = types.resolve_bases(bases)
            break
    metadata["__name__"] = name
    metadata["__qualname__"] = namespace.get("__qualname__", name)
    for key in ("__module__", "__doc__"):
        metadata[key] = comparable_value(namespace.get(key))
    if "__doc__" not in namespace and has_derived_doc(attributes):
        metadata["__doc__"] = metadata_value(cls, "__doc__")
    return metadata


def is_same_value(own: Any, value: Any) -> bool:
    """Whether two values are equal. Calls no code of a program."""
    if own is value:
        return True
    if type(own) is not type(value):
        return False
    if type(own) is tuple:
        return len(own) == len(value) and all(map(is_, own, value))
    if type(own) is Snapshot:
        return own.is_same(value)
    return type(own) is str and bool(own == value)


def is_same_metadata(own: dict[str, Any], value: dict[str, Any]) -> bool:
    """Whether all METADATA of two classes are equal."""
    for name in METADATA:
        mine, theirs = own[name], value[name]
        if mine is not theirs and not is_same_value(mine, theirs):
            return False
    return True
