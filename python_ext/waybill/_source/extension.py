"""The functions on source that the extension calls: units of code to be sent, and code
and classes received from another version of Python.

Loaded by ``_api/lazy.py`` at the first use of source. Tested by
tests/python/source/test_travelling_source.py and test_travel_cross.py.
"""

from __future__ import annotations

import sys
from types import CodeType, FunctionType

from waybill._api.errors import PythonMismatchError, refusal
from waybill._classes import making as class_making
from waybill._classes.identity import find_entry
from waybill._kinds.callables import protocol_hook
from waybill._source import by_code
from waybill._source.annotations import evaluate_annotations
from waybill._source.class_attributes import ATTRIBUTES_TO_DROP
from waybill._source.compiling import compile_unit
from waybill._source.dataclass_parts import set_state as set_state
from waybill._source.proving import prove as prove_code
from waybill._source.proving import prove_nested
from waybill._source.shown import keep_source
from waybill._source.units import ANNOTATE, CLASS_ANNOTATE, GENERATED, Unit, UnitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from weakref import ref

#: The bits of ``co_flags`` that a caller can observe: ``*args``, ``**kwargs``,
#: generator, coroutine, iterable coroutine, asynchronous generator.
_VISIBLE_FLAGS = 0x04 | 0x08 | 0x20 | 0x80 | 0x100 | 0x200


def prove(code: CodeType, owner: type | None = None) -> Unit | str:
    """The unit of a code object, or why there is none; see ``_source.proving``.

    Any exception but MemoryError counts as a reason: linecache and classes of the
    program may raise anything, and the code can be sent without source.
    """
    received = find_entry(by_code.RECEIVED, code)
    if received is not None:
        return Unit(*received[1])
    try:
        found = prove_nested(code)
        return prove_code(code, owner) if found is None else found
    except MemoryError:
        raise
    except Exception as error:
        return f"its source cannot be found: {type(error).__name__}: {error}"


def compile_source(
    parts: tuple[Any, ...], signature: tuple[Any, ...], file: str, first_line: int
) -> CodeType:
    """The code object of a unit, given by its fields.

    ``signature`` describes the sender's code object: counts of positional,
    positional-only and keyword-only arguments, flags, names of arguments, free names.
    Raises PythonMismatchError if this Python cannot compile the unit or compiles it to
    another signature, and DecodeError for a malformed or oversized unit.
    """
    unit = Unit(*parts)
    try:
        code = compile_unit(unit, file, max(1, first_line))
    except SyntaxError as error:
        raise _mismatch(
            f"the source of {unit.qualified_name} ({file}:{error.lineno}) does not "
            f"compile with Python {_VERSION}: {error.msg}"
        ) from error
    except UnitError as error:
        raise refusal("malformed", str(error)) from error
    if unit.kind == GENERATED:
        return code
    if not _has_signature(code, signature):
        raise _mismatch(
            f"the source of {unit.qualified_name} ({file}:{first_line}) compiles to a "
            f"function of another signature with Python {_VERSION}"
        )
    if unit.kind in (ANNOTATE, CLASS_ANNOTATE):
        by_code.record(_annotations, code, unit)
    keep_source(unit, code, first_line)
    return code


_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


def _has_signature(code: CodeType, signature: tuple[Any, ...]) -> bool:
    *arguments, flags, names, free_names = signature
    own = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount]
    own_names = code.co_varnames[: len(names)]
    if names == _FORMAT_ARGUMENT:
        arguments, names, own_names = _NO_ARGUMENTS, (), ()
    if code.co_varnames[:1] == _FORMAT_ARGUMENT:
        own = _NO_ARGUMENTS
    return (
        own == arguments
        and code.co_flags & _VISIBLE_FLAGS == flags & _VISIBLE_FLAGS
        and own_names == names
        and set(code.co_freevars) <= set(free_names)
    )


#: What evaluates a type alias takes a format from 3.14 on; see _kinds/annotations.py.
_FORMAT_ARGUMENT = (".format",)
_NO_ARGUMENTS = [0, 0, 0]


def _mismatch(detail: str) -> Exception:
    return refusal("python_mismatch", detail, kind=PythonMismatchError)


def set_annotations(function: FunctionType, annotate: Any) -> None:
    """Evaluates deferred annotations (PEP 649), for a Python that stores a dict."""
    function.__annotations__ = _evaluated(annotate)


def _evaluated(annotate: Any) -> dict[str, Any]:
    entry = find_entry(_annotations, annotate.__code__)
    if entry is None:
        # The source has no annotations for it. That of a dataclass's __init__ uses
        # modules of its own version, and is generated again with the method.
        try:
            return dict(annotate(1))
        except (AttributeError, NameError):
            return {}
    return evaluate_annotations(annotate, entry[1])


#: Weak table of the units of ``__annotate__`` functions; see by_code.py.
_annotations: dict[int, tuple[ref[CodeType], Unit]] = {}


def make_class(
    metaclass: Any, name: str, bases: Any, namespace: dict[str, Any], is_base_open: bool
) -> Any:
    """``class_making.make_class`` for a class of another Python."""
    # finish_class() looks for this module in sys.modules, and then adds the methods
    # that this Python's library generates.
    import waybill._source.generated  # noqa: F401

    attributes = {k: v for k, v in namespace.items() if k not in ATTRIBUTES_TO_DROP}
    make: Any = class_making.make_class
    return make(metaclass, name, bases, attributes, is_base_open)


def class_attribute(name: str, value: Any) -> tuple[str, Any] | None:
    """The form here of (name, value), a class attribute of another Python, or None."""
    if name in ATTRIBUTES_TO_DROP:
        return None
    if name == "__subclasshook__" and _is_protocol_hook(value):
        return None  # typing has set its own.
    if name in _PROTOCOL_CACHES:
        import typing

        if name not in typing.EXCLUDED_ATTRIBUTES:  # type: ignore[attr-defined]
            return None  # Protocols would count it as a member.
    if name in _TYPED_DICT_ATTRIBUTES and sys.version_info < (3, 15):
        return None
    if name == "__annotate__" and sys.version_info < (3, 14):
        return "__annotations__", _evaluated(value)
    return name, value


#: Attributes in which some versions cache the members of a protocol.
_PROTOCOL_CACHES = frozenset(
    {
        "__callable_proto_members_only__",
        "__non_callable_proto_members__",
        "__protocol_attrs__",
    }
)


#: Attributes of a TypedDict that only 3.15 has.
_TYPED_DICT_ATTRIBUTES = "__extra_items__", "__closed__"


def _is_protocol_hook(hook: Any) -> bool:
    function = getattr(hook, "__func__", hook)
    # In 3.11 each protocol has a hook of its own.
    return function is protocol_hook or (
        getattr(function, "__module__", None) == "typing"
        and getattr(function, "__name__", "") == "_proto_hook"
    )
