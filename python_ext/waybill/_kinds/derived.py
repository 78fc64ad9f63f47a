"""Class attributes that libraries derive from a class and that differ between
processes: they hold addresses, or sets in arbitrary order.

They do not travel; the receiver derives them again. Tested by
tests/python/classes/test_derived.py, tests/libraries/test_derived_of_libraries.py.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def doc_of_dataclass(cls: type) -> str:
    """The docstring that ``dataclass`` makes for a class without one."""
    import inspect

    try:
        if sys.version_info >= (3, 14):
            import annotationlib

            given = inspect.signature(
                cls, annotation_format=annotationlib.Format.FORWARDREF
            )
        else:
            given = inspect.signature(cls)
    except (TypeError, ValueError):
        return cls.__name__
    return cls.__name__ + str(given).replace(" -> None", "")


def leave_out(cls: type, own: dict[str, Any]) -> None:
    """Removes derived attributes from ``own``, the attributes of a class that is sent.
    Costs one signature if the docstring may differ between processes, else nothing."""
    doc = own.get("__doc__")
    can_differ = type(doc) is str and (" at 0x" in doc or "{" in doc)
    if can_differ and has_derived_doc(own) and doc_of_dataclass(cls) == doc:
        del own["__doc__"]
    if _is_of_pydantic(cls, own):
        from waybill._kinds import pydantic_models

        for name in _BUILT_BY_PYDANTIC & own.keys():
            del own[name]
        pydantic_models.leave_out_namespace(cls, own)
    if "__attrs_attrs__" in own and _is_hash_of_attrs(own.get("__hash__")):
        own["__hash__"] = _with_stable_constant(own["__hash__"])


def has_derived_doc(attributes: Any) -> bool:
    """Whether a class received with these attributes and no docstring gets one here."""
    return "__dataclass_fields__" in attributes


def derive_again(cls: type) -> None:
    """Derives what was left out, when other attributes are set or have changed."""
    if has_derived_doc(vars(cls)) and vars(cls).get("__doc__") is None:
        type.__setattr__(cls, "__doc__", doc_of_dataclass(cls))
    if _is_of_pydantic(cls, vars(cls)):
        from waybill._kinds import pydantic_models

        pydantic_models.derive_on_first_use(cls)


#: What pydantic builds from the fields of a class, with addresses, and its caches.
_BUILT_BY_PYDANTIC = frozenset(
    {
        "__pydantic_core_schema__",
        "__pydantic_validator__",
        "__pydantic_serializer__",
        "__pydantic_setattr_handlers__",
        "__signature__",
    }
)


def _is_of_pydantic(cls: type, own: Any) -> bool:
    # pydantic's own classes are imported or travel with it; but RootModel[T] is made
    # by the program.
    return "__pydantic_fields__" in own and (
        not cls.__module__.startswith("pydantic.")
        or (own.get("__pydantic_generic_metadata__") or {}).get("origin") is not None
    )


def _is_hash_of_attrs(value: Any) -> bool:
    code = getattr(value, "__code__", None)
    return code is not None and code.co_filename.startswith("<attrs generated")


def _with_stable_constant(function: Any) -> Any:
    """A generated ``__hash__`` whose constant for the class is a checksum of the class
    name; attrs takes Python's hash() of it, which differs between processes."""
    import types
    import zlib

    code = function.__code__
    # The name ends in "-1>" if the class was defined again with other fields.
    name = code.co_filename.partition("-")[0].removesuffix(">")
    number = zlib.crc32(name.encode())
    # Not a generator expression, which leaks if memory runs out.
    constants = (*[number if type(c) is int else c for c in code.co_consts],)
    if constants == code.co_consts:
        return function
    copy = types.FunctionType(
        code.replace(co_consts=constants),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__qualname__, copy.__doc__ = function.__qualname__, function.__doc__
    copy.__module__, copy.__kwdefaults__ = function.__module__, function.__kwdefaults__
    copy.__annotations__ = function.__annotations__
    copy.__dict__.update(vars(function))
    return copy
