"""Models and dataclasses of pydantic, without what it builds from their fields.

The core schema, the validator and the serializer name classes by their addresses. A
receiver has them built when they are first asked for: all classes of the payload are
whole by then. Tested by tests/libraries/test_derived_of_libraries.py.
"""

from __future__ import annotations

import functools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def derive_when_asked(cls: Any) -> None:
    """Puts placeholders there that build all of it, once one of them is used."""
    try:
        schema, validator_or_serializer, lazy_attribute = _placeholders()
    except (ImportError, AttributeError):  # A version that has other placeholders.
        _rebuild(cls)
        return
    message = f"the fields of {cls.__qualname__} could not be resolved where it arrived"
    options: Any = {"code": "class-not-fully-defined"}

    def built(name: str) -> Callable[[], Any]:
        def build() -> Any:
            _rebuild(cls)
            value = vars(cls)[name]
            return None if type(value) in _placeholders() else value

        return build

    def put(name: str, make: Any, **kind: str) -> None:
        made = make(message, attempt_rebuild=built(name), **options, **kind)
        type.__setattr__(cls, name, made)

    def signature() -> Any:
        _rebuild(cls)
        return vars(cls)["__signature__"].__get__(None, cls)

    put("__pydantic_core_schema__", schema)
    put("__pydantic_validator__", validator_or_serializer, val_or_ser="validator")
    put("__pydantic_serializer__", validator_or_serializer, val_or_ser="serializer")
    type.__setattr__(cls, "__signature__", lazy_attribute("__signature__", signature))
    if hasattr(cls, "model_rebuild"):
        type.__setattr__(cls, "__pydantic_setattr_handlers__", {})


@functools.cache
def _placeholders() -> tuple[Any, Any, Any]:
    """pydantic's own types for what is not built yet, which it knows."""
    from pydantic._internal import _mock_val_ser, _utils

    # abc asks each attribute of a class for this one; the base would build to answer.
    answers = {"__isabstractmethod__": False}
    not_built = type("NotBuilt", (_mock_val_ser.MockValSer,), answers)
    return _mock_val_ser.MockCoreSchema, not_built, _utils.LazyClassAttribute


def _rebuild(cls: Any) -> None:
    if hasattr(cls, "model_rebuild"):
        cls.model_rebuild(force=True, raise_errors=False)
    else:
        from pydantic.dataclasses import rebuild_dataclass

        rebuild_dataclass(cls, force=True, raise_errors=False)


def reduce_decorator(obj: Any) -> Any:
    """A validator or serializer of a model, which notes the address of that as well."""
    made, arguments, (_, slots) = obj.__reduce_ex__(2)[:3]
    slots["cls_ref"] = slots["cls_ref"].partition(":")[0]
    return made, arguments, (None, slots)
