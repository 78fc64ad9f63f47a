"""What the extension asks about source: units of code that is sent, and code and
classes that another Python wrote.

Loaded when source is first asked for, by ``_api/lazy.py``. Tested by
tests/python/source/test_travelling_source.py and test_travel_cross.py.
"""

from __future__ import annotations

import sys
from types import CodeType, FunctionType

from waybill._api.errors import PythonMismatchError, refusal
from waybill._classes import making as class_making
from waybill._kinds.callables import protocol_hook
from waybill._source import by_code
from waybill._source.annotations import evaluate_annotations
from waybill._source.class_attributes import ATTRIBUTES_TO_DROP
from waybill._source.compiling import compile_unit
from waybill._source.dataclass_parts import set_state as set_state
from waybill._source.proving import prove as prove_in_file
from waybill._source.proving import prove_nested
from waybill._source.shown import keep_source
from waybill._source.units import ANNOTATE, CLASS_ANNOTATE, GENERATED, Unit, UnitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from weakref import ref

#: Of ``co_flags``: what a caller sees of a function. ``*args``, ``**kwargs``,
#: generator, coroutine, coroutine that generators may await, asynchronous generator.
_SEEN = 0x04 | 0x08 | 0x20 | 0x80 | 0x100 | 0x200


def prove(code: CodeType, owner: type | None = None) -> Unit | str:
    """The unit of a code object, or why there is none; see ``_source.proving``.

    Whatever fails is a reason: what linecache or a class says may be anything, and the
    code can be sent without.
    """
    came = by_code.noted(by_code.CAME, code)
    if came is not None:
        return Unit(*came[1])
    try:
        found = prove_nested(code)
        return prove_in_file(code, owner) if found is None else found
    except MemoryError:
        raise
    except Exception as error:
        return f"its source cannot be told: {type(error).__name__}: {error}"


def compile_source(
    parts: tuple[Any, ...], signature: tuple[Any, ...], file: str, first_line: int
) -> CodeType:
    """The code object of a unit, given by its fields.

    ``signature`` is what the sender's code object has: counts of positional,
    positional-only and keyword-only arguments, flags, names of arguments, free names.
    Raises PythonMismatchError for what this Python cannot compile, or what it compiles
    to something of another signature; DecodeError for what is beyond the limits.
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
    if not _is_like(code, signature):
        raise _mismatch(
            f"the source of {unit.qualified_name} ({file}:{first_line}) compiles to a "
            f"function of another signature with Python {_VERSION}"
        )
    if unit.kind in (ANNOTATE, CLASS_ANNOTATE):
        by_code.note(_annotations, code, unit)
    keep_source(unit, code, first_line)
    return code


_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


def _is_like(code: CodeType, signature: tuple[Any, ...]) -> bool:
    *arguments, flags, names, free_names = signature
    own = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount]
    own_names = code.co_varnames[: len(names)]
    if names == _OF_LAZY_VALUES:
        arguments, names, own_names = _NO_ARGUMENTS, (), ()
    if code.co_varnames[:1] == _OF_LAZY_VALUES:
        own = _NO_ARGUMENTS
    return (
        own == arguments
        and code.co_flags & _SEEN == flags & _SEEN
        and own_names == names
        and set(code.co_freevars) <= set(free_names)
    )


#: What gives the value of an alias is told a format, from 3.14 on; see
#: ``_kinds.annotations``.
_OF_LAZY_VALUES = (".format",)
_NO_ARGUMENTS = [0, 0, 0]


def _mismatch(detail: str) -> Exception:
    return refusal("python_mismatch", detail, kind=PythonMismatchError)


def set_annotations(function: FunctionType, annotate: Any) -> None:
    """Annotations that a function of Python 3.14 or later makes when it is asked for
    them (PEP 649), on a Python that keeps them."""
    function.__annotations__ = _evaluated(annotate)


def _evaluated(annotate: Any) -> dict[str, Any]:
    entry = by_code.noted(_annotations, annotate.__code__)
    if entry is None:
        # Not from annotations in the source: what dataclasses makes for __init__ asks
        # for modules of its own version. Those are made again with the method.
        try:
            return dict(annotate(1))
        except (AttributeError, NameError):
            return {}
    return evaluate_annotations(annotate, entry[1])


#: Units of code that gives annotations, by address, while the code lives.
_annotations: dict[int, tuple[ref[CodeType], Unit]] = {}


def make_class(
    metaclass: Any, name: str, bases: Any, namespace: dict[str, Any], is_base_open: bool
) -> Any:
    """``class_making.make_class`` for a class of another Python."""
    # finish_class() asks it for what the library here adds, if it is there.
    import waybill._source.generated  # noqa: F401

    kept = {k: v for k, v in namespace.items() if k not in ATTRIBUTES_TO_DROP}
    make: Any = class_making.make_class
    return make(metaclass, name, bases, kept, is_base_open)


def class_attribute(name: str, value: Any) -> tuple[str, Any] | None:
    """What this Python has in the place of an attribute that another Python's class
    has; None if that is nothing."""
    if name in ATTRIBUTES_TO_DROP:
        return None
    if name == "__subclasshook__" and _is_of_protocols(value):
        return None  # typing has put its own there.
    if name in _OF_PROTOCOLS and name not in _known_of_protocols():
        return None  # It would count as a member.
    if name in _OF_TYPED_DICTS and sys.version_info < (3, 15):
        return None
    if name == "__annotate__" and sys.version_info < (3, 14):
        return "__annotations__", _evaluated(value)
    return name, value


#: What versions keep of a protocol.
_OF_PROTOCOLS = frozenset(
    {
        "__callable_proto_members_only__",
        "__non_callable_proto_members__",
        "__protocol_attrs__",
    }
)


def _known_of_protocols() -> Any:
    import typing

    return typing.EXCLUDED_ATTRIBUTES  # type: ignore[attr-defined]


#: What 3.15 keeps of a TypedDict, and others know nothing of.
_OF_TYPED_DICTS = "__extra_items__", "__closed__"


def _is_of_protocols(hook: Any) -> bool:
    function = getattr(hook, "__func__", hook)
    # In 3.11 each protocol has its own, made where it is.
    return function is protocol_hook or (
        getattr(function, "__module__", None) == "typing"
        and getattr(function, "__name__", "") == "_proto_hook"
    )
