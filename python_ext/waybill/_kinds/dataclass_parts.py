"""What dataclasses keep in a class, described by the library's public arguments.

``_DataclassParams`` and ``Field`` differ between versions: 3.11 keeps less, 3.14 keeps
a doc, metadata are of another type in 3.15. A description is what ``dataclass()`` and
``field()`` take, so that any version makes its own of it.

Tested by tests/python/source/test_generated.py.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Arguments of ``dataclass()`` that 3.11 does not keep, and what they are by default.
_KEPT_LATER = {
    "match_args": True,
    "kw_only": False,
    "slots": False,
    "weakref_slot": False,
}
_OPTIONS = "init", "repr", "eq", "order", "unsafe_hash", "frozen"
_OF_FIELDS = "init", "repr", "hash", "compare", "kw_only"
#: Kinds of fields, and what the library has for each.
_KINDS = {"field": "_FIELD", "classvar": "_FIELD_CLASSVAR", "initvar": "_FIELD_INITVAR"}
_NAMES = {private: kind for kind, private in _KINDS.items()}


def reduce_params(params: Any) -> tuple[Any, tuple[dict[str, Any]]]:
    """A reducer of ``_DataclassParams``."""
    names = (*_OPTIONS, *_KEPT_LATER)
    return make_params, ({n: getattr(params, n) for n in names if hasattr(params, n)},)


def make_params(given: dict[str, Any]) -> Any:
    import dataclasses

    kind: Any = dataclasses._DataclassParams  # type: ignore[attr-defined]
    known = kind.__slots__
    options = {**_KEPT_LATER, **given}
    return kind(**{name: options[name] for name in known})


def reduce_field(field: Any) -> tuple[Any, tuple[dict[str, Any]]]:
    """A reducer of ``Field``."""
    import dataclasses

    described: dict[str, Any] = {
        "name": field.name,
        "type": field.type,
        "kind": _kind_of(field),
    }
    for name in ("default", "default_factory", *_OF_FIELDS):
        value = getattr(field, name)
        if value is not dataclasses.MISSING:
            described[name] = value
    if field.metadata:
        described["metadata"] = dict(field.metadata)
    doc = getattr(field, "doc", None)
    if doc is not None:
        described["doc"] = doc
    return make_field, (described,)


def make_field(described: dict[str, Any]) -> Any:
    import dataclasses

    given = dict(described)
    name, of_type, kind = given.pop("name"), given.pop("type"), given.pop("kind")
    if "doc" not in dataclasses.Field.__slots__:  # Before 3.14.
        given.pop("doc", None)
    made: Any = dataclasses.field(**given)
    made.name, made.type = name, of_type
    if kind is not None:
        made._field_type = getattr(dataclasses, _KINDS[kind])
    return made


def described(cls: type, slots: bool) -> tuple[Any, ...]:
    """What decides of the methods that ``dataclass()`` writes for a class, as plain
    values: options, whether there is a ``__post_init__``, and the fields."""
    params = vars(cls)["__dataclass_params__"]
    options = [(name, bool(getattr(params, name))) for name in _OPTIONS]
    fields = vars(cls)["__dataclass_fields__"].values()
    return (
        (*options, ("slots", bool(slots))),
        hasattr(cls, "__post_init__"),
        tuple(_described_field(f) for f in fields if _kind_of(f) != "classvar"),
    )


def default_values(cls: type) -> dict[str, Any]:
    """The defaults, and what makes them, by names of fields."""
    fields = vars(cls)["__dataclass_fields__"].values()
    defaults = ((f, _defaulted(f)) for f in fields)
    return {f.name: getattr(f, given) for f, given in defaults if given}


def _described_field(field: Any) -> tuple[Any, ...]:
    public = (getattr(field, name) for name in _OF_FIELDS)
    return field.name, _kind_of(field), _defaulted(field), *public


def _defaulted(field: Any) -> str:
    """The argument by which a field was given a default; "" if it has none."""
    import dataclasses

    for name in ("default", "default_factory"):
        if getattr(field, name) is not dataclasses.MISSING:
            return name
    return ""


def _kind_of(field: Any) -> str | None:
    kind = field._field_type
    return None if kind is None else _NAMES[kind.name]
