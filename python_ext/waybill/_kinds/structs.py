"""Structs of msgspec by value; asked by ``_classes/parts.py``, in its terms.

Fields, defaults and options are given while such a class is made, and kept in C. Tested
by tests/libraries/test_msgspec.py.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Under this name the namespace of a class that travels has fields, options, and if
#: there is a method that the class looks up while it is made, but gets later.
_STRUCT = "__struct__"
_AFTER_INIT = "__post_init__"


def is_struct(cls: type) -> bool:
    metaclass = type(cls)
    return (
        metaclass.__name__ == "StructMeta" and metaclass.__module__ == "msgspec._core"
    )


def take_apart(cls: Any, namespace: dict[str, Any]) -> Any:
    """Fills the namespace with what make_struct makes the class of; answers that."""
    namespace.pop("__slots__", None)  # They are made of the fields.
    inherited: dict[str, Any] = {}
    for base in reversed(cls.__bases__):
        if is_struct(base):
            inherited.update(_fields(base))
    fields = {}
    for name, (written, default) in _fields(cls).items():
        before = inherited.get(name)
        if before is None or before[0] != written or before[1] is not default:
            fields[name] = [written, *_told(default)]
    own = _options(cls)
    for base in cls.__bases__:
        if is_struct(base):
            given = _options(base)
            own = {k: v for k, v in own.items() if given[k] != v}
            break
    if own.get("tag", ...) is None:
        own["tag"] = False  # Not the one of the base.
    if set(fields) - set(cls.__match_args__):
        own["kw_only"] = True
    namespace[_STRUCT] = [fields, own, _AFTER_INIT in vars(cls)]
    return make_struct


def _fields(cls: Any) -> dict[str, tuple[str, Any]]:
    """The name that each field has where it is written, and its default."""
    import msgspec

    names, defaults = cls.__struct_fields__, cls.__struct_defaults__
    without = (msgspec.NODEFAULT,) * (len(names) - len(defaults))
    pairs = list(zip(cls.__struct_encode_fields__, without + defaults, strict=True))
    return dict(zip(names, pairs, strict=True))


def _told(default: Any) -> list[Any]:
    import msgspec

    if default is msgspec.NODEFAULT:
        return []
    if hasattr(default, "factory"):
        return ["default_factory", default.factory]
    return ["default", default]


def _options(cls: Any) -> dict[str, Any]:
    config = cls.__struct_config__
    names = [name for name in dir(config) if not name.startswith("_")]
    return {name: getattr(config, name) for name in names}


def make_struct(name: str, bases: tuple[Any, ...], namespace: dict[str, Any]) -> Any:
    """A class with these fields. What their types are is set later, as an attribute."""
    import msgspec

    fields, options, has_after_init = namespace.pop(_STRUCT)
    annotations: dict[str, Any] = {}
    for field, (written, *default) in fields.items():
        annotations[field] = object
        given = {default[0]: default[1]} if default else {}
        if written != field:
            given["name"] = written
        if given:
            namespace[field] = msgspec.field(**given)
    namespace["__annotations__"] = annotations
    if has_after_init:
        namespace[_AFTER_INIT] = _call_after_init
    return type(msgspec.Struct)(name, bases, namespace, **options)


def _call_after_init(struct: Any) -> None:
    type(struct).__post_init__(struct)
