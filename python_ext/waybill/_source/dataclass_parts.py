"""What decides of the methods that ``dataclass()`` writes, told by their class.

Tested by tests/python/source/test_generated.py.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Arguments of ``dataclass()`` and ``field()`` that all versions keep.
PARAMS = "init", "repr", "eq", "order", "unsafe_hash", "frozen"
FIELD_OPTIONS = "init", "repr", "hash", "compare", "kw_only"
#: What some versions keep besides, and what it is by default.
_KEPT_LATER = {
    "match_args": True,
    "kw_only": False,
    "slots": False,
    "weakref_slot": False,
    "doc": None,
}
#: Kinds of fields.
_KINDS = {"_FIELD": "field", "_FIELD_CLASSVAR": "classvar", "_FIELD_INITVAR": "initvar"}


def set_state(obj: Any, state: Any) -> bool:
    """Gives an object that dataclasses keep in a class what another version kept there;
    False if it is none."""
    kind: Any = type(obj)
    if kind.__module__ != "dataclasses" or kind.__name__ not in _KEPT:
        return False
    slots = state[1] if isinstance(state, tuple) else state
    if not isinstance(slots, dict):
        return False
    given = {**_KEPT_LATER, **slots}
    for name in kind.__slots__:
        if name in given:
            setattr(obj, name, given[name])
    return True


_KEPT = "Field", "_DataclassParams"


def kind_of_field(field: Any) -> str | None:
    kind = field._field_type
    return None if kind is None else _KINDS[kind.name]


def described(cls: type, slots: bool) -> tuple[Any, ...]:
    """What decides of the methods that ``dataclass()`` writes for a class, as plain
    values: options, whether there is a ``__post_init__``, and the fields."""
    params = vars(cls)["__dataclass_params__"]
    options = [(name, bool(getattr(params, name))) for name in PARAMS]
    fields = vars(cls)["__dataclass_fields__"].values()
    return (
        (*options, ("slots", bool(slots))),
        hasattr(cls, "__post_init__"),
        tuple(_described_field(f) for f in fields if kind_of_field(f) != "classvar"),
    )


def default_values(cls: type) -> dict[str, Any]:
    """The defaults, and what makes them, by names of fields."""
    fields = vars(cls)["__dataclass_fields__"].values()
    defaults = ((f, _defaulted(f)) for f in fields)
    return {f.name: getattr(f, given) for f, given in defaults if given}


def _described_field(field: Any) -> tuple[Any, ...]:
    public = (getattr(field, name) for name in FIELD_OPTIONS)
    return field.name, kind_of_field(field), _defaulted(field), *public


def _defaulted(field: Any) -> str:
    """The argument by which a field was given a default; "" if it has none."""
    import dataclasses

    for name in ("default", "default_factory"):
        if getattr(field, name) is not dataclasses.MISSING:
            return name
    return ""
