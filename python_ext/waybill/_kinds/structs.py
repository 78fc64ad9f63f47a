"""Class parts of msgspec structs that travel by value; see ``_classes/parts.py``.

Fields, defaults and options are arguments of the class statement, stored in C. Tested
by tests/libraries/test_msgspec.py.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The key, in the namespace, of [fields, options, whether the class has
#: `__post_init__`]: it checks for that when it is made, and gets it later.
_STRUCT = "__struct__"
_AFTER_INIT = "__post_init__"


def is_struct(cls: type) -> bool:
    metaclass = type(cls)
    return (
        metaclass.__name__ == "StructMeta" and metaclass.__module__ == "msgspec._core"
    )


def struct_parts(cls: Any, namespace: dict[str, Any]) -> Any:
    """Adds the arguments of `make_struct` to a namespace; returns make_struct."""
    namespace.pop("__slots__", None)  # msgspec makes them from the fields.
    bases = [base for base in cls.__bases__ if is_struct(base)]
    inherited: dict[str, Any] = {}
    for base in reversed(bases):
        inherited.update(_fields(base))
    fields = {}
    for name, (encoded, default) in _fields(cls).items():
        before = inherited.get(name)
        if before is None or before[0] != encoded or before[1] is not default:
            fields[name] = [encoded, *_default_argument(default)]
    own = _options(cls)
    for base in bases[:1]:
        given = _options(base)
        own = {k: v for k, v in own.items() if given[k] != v}
    if own.get("tag", ...) is None:
        own["tag"] = False  # Do not inherit the tag of the base.
    if set(fields) - set(cls.__match_args__):
        own["kw_only"] = True
    namespace[_STRUCT] = [fields, own, _AFTER_INIT in vars(cls)]
    return make_struct


def _fields(cls: Any) -> dict[str, tuple[str, Any]]:
    """(name in encoded messages, default) of each field."""
    import msgspec

    names, defaults = cls.__struct_fields__, cls.__struct_defaults__
    without = (msgspec.NODEFAULT,) * (len(names) - len(defaults))
    pairs = list(zip(cls.__struct_encode_fields__, without + defaults, strict=True))
    return dict(zip(names, pairs, strict=True))


def _default_argument(default: Any) -> list[Any]:
    """(argument of ``msgspec.field``, value) for a default; [] without one."""
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
    """A class with these fields. Their types are set later, with the attributes."""
    import msgspec

    fields, options, has_after_init = namespace.pop(_STRUCT)
    annotations: dict[str, Any] = {}
    for field, (encoded, *default) in fields.items():
        annotations[field] = object
        given = {default[0]: default[1]} if default else {}
        if encoded != field:
            given["name"] = encoded
        if given:
            namespace[field] = msgspec.field(**given)
    namespace["__annotations__"] = annotations
    if has_after_init:
        namespace[_AFTER_INIT] = _call_after_init
    return type(msgspec.Struct)(name, bases, namespace, **options)


def _call_after_init(struct: Any) -> None:
    type(struct).__post_init__(struct)
