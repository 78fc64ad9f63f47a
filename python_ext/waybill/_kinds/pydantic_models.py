"""Reducers of pydantic models and dataclasses: without schemas and validators.

Core schema, validator and serializer contain addresses of classes. A receiver builds
them on first use, when all classes of the payload are complete. Tested by
tests/libraries/test_derived_of_libraries.py.
"""

from __future__ import annotations

import builtins
import functools
import sys
import typing
from collections.abc import Callable
from typing import Any

from waybill._classes.annotations import code_of_annotation
from waybill._core import is_importable


def derive_on_first_use(cls: Any) -> None:
    """Sets placeholders that build schema, validator and serializer on first use."""
    try:
        lazy_attribute = _placeholders()[2]
    except (ImportError, AttributeError):  # A version without these placeholders.
        _rebuild(cls)
        return

    def build(name: str) -> Any:
        _rebuild(cls)
        return vars(cls)[name]

    def signature() -> Any:
        return build("__signature__").__get__(None, cls)

    placeholders = _placeholders_of(cls.__qualname__, "__pydantic_{}__", build)
    for name in placeholders:
        type.__setattr__(cls, name, placeholders[name])
    type.__setattr__(cls, "__signature__", lazy_attribute("__signature__", signature))
    if hasattr(cls, "model_rebuild"):
        type.__setattr__(cls, "__pydantic_setattr_handlers__", {})


@functools.cache
def _placeholders() -> tuple[Any, Any, Any]:
    """pydantic's placeholders: for schemas, for validators and serializers, for
    attributes."""
    from pydantic._internal import _mock_val_ser, _utils

    # abc reads this attribute of every class attribute; the base class would build.
    answers = {"__isabstractmethod__": False}
    not_built = type("NotBuilt", (_mock_val_ser.MockValSer,), answers)
    return _mock_val_ser.MockCoreSchema, not_built, _utils.LazyClassAttribute


def _placeholders_of(
    owner: str, attribute: str, build: Callable[[str], Any]
) -> dict[str, Any]:
    """Placeholders for the attributes that an owner builds, by attribute name.

    ``attribute`` is the format of these names; ``build(name)`` builds one of them.
    """
    schema, not_built, _ = _placeholders()
    message = f"the types of {owner} could not be resolved by the receiver"
    options: Any = {"code": "class-not-fully-defined"}

    def built(name: str) -> Callable[[], Any]:
        def attempt() -> Any:
            value = build(name)
            return None if type(value) in _placeholders() else value

        return attempt

    found: dict[str, Any] = {}
    name = attribute.format("core_schema")
    found[name] = schema(message, attempt_rebuild=built(name), **options)
    for kind in ("validator", "serializer"):
        name = attribute.format(kind)
        options["attempt_rebuild"] = built(name)
        found[name] = not_built(message, val_or_ser=kind, **options)
    return found


def _rebuild(cls: Any) -> None:
    if hasattr(cls, "model_rebuild"):
        cls.model_rebuild(force=True, raise_errors=False)
    else:
        from pydantic.dataclasses import rebuild_dataclass

        names = vars(cls).get(_PARENT_NAMESPACE)
        rebuild_dataclass(cls, force=True, raise_errors=False, _types_namespace=names)


#: Where a model has the names of its annotations; also a dataclass, once it travels.
_PARENT_NAMESPACE = "__pydantic_parent_namespace__"


def leave_out_namespace(cls: Any, own: dict[str, Any]) -> None:
    """Reduces the namespaces around a class to the names in its string annotations."""
    names = _names_in([cls])
    if names or hasattr(cls, "model_rebuild"):
        own[_PARENT_NAMESPACE] = names or None


def _namespace_of(cls: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    given = vars(cls).get(_PARENT_NAMESPACE) or {}
    for name in given:
        # The namespace holds classes by pydantic's own weak references.
        value = given[name]
        is_reference = type(value).__name__ == "_PydanticWeakRef"
        found[name] = value() if is_reference else value
    return found


def _names_in(
    annotations: list[Any], *namespaces: Any, unknown: set[str] | None = None
) -> dict[str, Any]:
    """The values of the names in string annotations, sorted by name.

    Includes names in annotations of classes by value that a receiver cannot look up.
    Names without a value are added to ``unknown``.
    """
    found: dict[str, Any] = {}
    todo = [(annotation, namespaces, "") for annotation in annotations]
    visited: set[int] = set()
    while todo:
        annotation, scopes, owner = todo.pop()
        code = code_of_annotation(annotation)
        for name in code.co_names if code is not None else ():
            values = [scope[name] for scope in scopes if name in scope]
            if name == owner or name in found:  # A class can name itself.
                continue
            if values:
                found[name] = values[0]
                todo.append((values[0], scopes, ""))
            elif unknown is not None and not hasattr(builtins, name):
                unknown.add(name)
        parts: Any = typing.get_args(annotation)
        if not parts and isinstance(annotation, type):
            if id(annotation) in visited or is_importable(annotation):
                continue
            visited.add(id(annotation))
            owner = annotation.__name__
            module: Any = sys.modules.get(annotation.__module__)
            scopes = (
                *namespaces,
                _namespace_of(annotation),
                getattr(module, "__dict__", {}),
            )
            parts = _annotations_of_class(annotation)
        todo += [(part, scopes, owner) for part in parts]
    return {name: found[name] for name in sorted(found)}


def _annotations_of_class(cls: type) -> list[Any]:
    found: list[Any] = []
    for base in cls.__mro__:
        if not is_importable(base):
            found += _annotations_of(base)
    fields = getattr(cls, "__pydantic_fields__", {}).values()
    return found + [field.annotation for field in fields]


def _annotations_of(obj: Any) -> list[Any]:
    try:
        return list(getattr(obj, "__annotations__", {}).values())
    except NameError:  # From 3.14 on annotations are evaluated on access.
        return []


def reduce_validated_call(obj: Any) -> Any:
    """Reduces the result of ``validate_call``, whose first call builds validators.

    It refers to the namespaces of the decorated function, all globals of a script among
    them: of these only the names in annotations travel.
    """
    made, arguments, (state, slots) = obj.__reduce_ex__(2)[:3]
    if not {"ns_resolver", "__pydantic_complete__"} <= slots.keys():
        return made, arguments, (state, slots)  # A version that builds at once.
    resolver = slots["ns_resolver"]
    scopes = resolver.types_namespace
    names = _names_in(_annotations_of(obj.schema_type), scopes.locals, scopes.globals)
    for name in ("__pydantic_validator__", "__return_pydantic_validator__"):
        slots.pop(name, None)
    slots["__pydantic_complete__"] = False
    slots["ns_resolver"] = type(resolver)(type(scopes)({}, names), names)
    return made, arguments, (state, slots)


#: The attribute of a received adapter that holds the names in string annotations.
_ADAPTER_NAMES = "_waybill_names"

_BUILT_BY_ADAPTERS = frozenset({"core_schema", "validator", "serializer"})


def reduce_type_adapter(obj: Any) -> Any:
    """Reduces a ``TypeAdapter``, without the objects that it builds from its type.

    The whole adapter travels if a string annotation has an unresolvable name.
    """
    state = dict(vars(obj))
    unknown: set[str] = set()
    inherited = state.pop(_ADAPTER_NAMES, {})
    names = _names_in([state.get("_type")], inherited, unknown=unknown)
    if unknown or not hasattr(obj, "rebuild"):
        return obj.__reduce_ex__(2)
    if names:
        state[_ADAPTER_NAMES] = names
    for name in _BUILT_BY_ADAPTERS:
        state.pop(name, None)
    return type(obj).__new__, (type(obj),), state, None, None, set_adapter


def set_adapter(adapter: Any, state: dict[str, Any]) -> None:
    """Sets the state of an adapter, and placeholders that build the rest."""

    def build(name: str) -> Any:
        names = vars(adapter).get(_ADAPTER_NAMES, {})
        adapter.rebuild(force=True, raise_errors=False, _types_namespace=names)
        return vars(adapter)[name]

    vars(adapter).update(state)
    vars(adapter).update(_placeholders_of("a TypeAdapter", "{}", build))


def reduce_decorator(obj: Any) -> Any:
    """Reduces a validator or serializer of a model, and drops the model's address."""
    made, arguments, (_, slots) = obj.__reduce_ex__(2)[:3]
    slots["cls_ref"] = slots["cls_ref"].partition(":")[0]
    return made, arguments, (None, slots)
