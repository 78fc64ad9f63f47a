"""What decides of the methods that ``dataclass()`` writes, told by their class.

Tested by tests/python/source/test_generated.py.
"""

from __future__ import annotations

from waybill import _declarative
from waybill._declarative import FIELD_OPTIONS, PARAMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

kind_of_field: Any = _declarative.kind_of_field


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
