"""The parameters of ``dataclass()`` and ``field()``, read from a class and its fields.
Tested by tests/python/source/test_generated.py."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Arguments of ``dataclass()`` and ``field()`` that all versions store.
PARAMS = "init", "repr", "eq", "order", "unsafe_hash", "frozen"
FIELD_OPTIONS = "init", "repr", "hash", "compare", "kw_only"
#: Arguments that only some versions store, with their defaults.
_VERSION_DEFAULTS = {
    "match_args": True,
    "kw_only": False,
    "slots": False,
    "weakref_slot": False,
    "doc": None,
}
#: Kinds of fields.
_KINDS = {"_FIELD": "field", "_FIELD_CLASSVAR": "classvar", "_FIELD_INITVAR": "initvar"}


def set_state(obj: Any, state: Any) -> bool:
    """Sets the state of a ``Field`` or of dataclass parameters, given as another
    version stores it. Returns False, and does nothing, for any other object."""
    kind: Any = type(obj)
    if kind.__module__ != "dataclasses" or kind.__name__ not in _STATEFUL_CLASSES:
        return False
    slots = state[1] if isinstance(state, tuple) else state
    if not isinstance(slots, dict):
        return False
    given = {**_VERSION_DEFAULTS, **slots}
    for name in kind.__slots__:
        if name in given:
            setattr(obj, name, given[name])
    return True


_STATEFUL_CLASSES = "Field", "_DataclassParams"


def kind_of_field(field: Any) -> str | None:
    kind = field._field_type
    return None if kind is None else _KINDS[kind.name]


def describe(cls: type, slots: bool) -> tuple[Any, ...]:
    """The input of ``dataclass()`` that determines the methods it generates, as plain
    values: (options, whether the class has ``__post_init__``, fields)."""
    params = vars(cls)["__dataclass_params__"]
    options = [(name, bool(getattr(params, name))) for name in PARAMS]
    fields = vars(cls)["__dataclass_fields__"].values()
    return (
        (*options, ("slots", bool(slots))),
        hasattr(cls, "__post_init__"),
        tuple(_describe_field(f) for f in fields if kind_of_field(f) != "classvar"),
    )


def default_values(cls: type) -> dict[str, Any]:
    """The default or default factory of each field that has one, by field name."""
    fields = vars(cls)["__dataclass_fields__"].values()
    defaults = ((f, _default_argument(f)) for f in fields)
    return {f.name: getattr(f, given) for f, given in defaults if given}


def _describe_field(field: Any) -> tuple[Any, ...]:
    public = (getattr(field, name) for name in FIELD_OPTIONS)
    return field.name, kind_of_field(field), _default_argument(field), *public


def _default_argument(field: Any) -> str:
    """The name of the argument that gave a field its default; "" if it has none."""
    import dataclasses

    for name in ("default", "default_factory"):
        if getattr(field, name) is not dataclasses.MISSING:
            return name
    return ""
