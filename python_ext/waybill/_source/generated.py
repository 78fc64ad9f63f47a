"""Functions that a library wrote by ``exec`` and that it can write again.

``dataclasses`` and ``namedtuple`` write their methods as text that nobody keeps. What
they write differs between versions. It is proven by letting them write it once more,
for a class that is asked the same by public arguments; the receiver has its own library
write it. What makes the parts of dataclasses again is in dataclass_parts.py.

Tested by tests/python/source/test_generated.py.
"""

from __future__ import annotations

import sys
from types import CellType, CodeType, FunctionType

from waybill._source import comparing
from waybill._source.units import GENERATED, Unit, UnitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

#: The file of text that ``exec`` and ``eval`` are given.
FILE = "<string>"
_MARK = ": a library of another Python wrote it, and it was not written again here"

#: What was written, by what was asked for; that depends on nothing else.
_written: dict[Any, dict[str, CodeType]] = {}
_MAX_WRITTEN = 512


def prove_generated(code: CodeType, owner: Any) -> Unit | None:
    """The unit of what a library wrote for a class; None of all else."""
    fields = vars(owner).get("__dataclass_fields__")
    if fields is not None and "__dataclass_params__" in vars(owner):
        name = code.co_name
        proven = any(
            name in made and comparing.is_same(made[name], code)
            for made in _dataclass_codes(owner)
        )
    elif is_namedtuple(owner):
        name = "__new__"
        proven = comparing.is_same(new_of_namedtuple(owner._fields).__code__, code)
    else:
        return None
    return Unit(GENERATED, "", name, code.co_qualname) if proven else None


def is_namedtuple(cls: type) -> bool:
    """Whether namedtuple() made the class, not one that it is derived from."""
    return issubclass(cls, tuple) and isinstance(vars(cls).get("_fields"), tuple)


def placeholder(unit: Unit, file: str, first_line: int) -> CodeType:
    """Code that stands for what a library writes until `finish_generated` is called."""
    if unit.text or not unit.name.isidentifier():
        raise UnitError(f"{unit.name[:100]!r} is nothing that a library writes")
    text = f"def {unit.name}(*_, **__): raise TypeError({unit.name + _MARK!r})\n"
    module = compile(text, file, "exec", 0, True, 0)
    code = next(k for k in module.co_consts if type(k) is CodeType)
    return code.replace(co_qualname=unit.qualified_name, co_firstlineno=first_line)


def finish_generated(cls: type) -> None:
    """Replaces the placeholders in a class by what this Python's library writes.

    Called once the class has all of its attributes. Methods that this version adds to
    all such classes are added.
    """
    own = vars(cls)
    names = [name for name, value in own.items() if _is_placeholder(value)]
    if "__dataclass_fields__" in own and "__dataclass_params__" in own:
        _finish_dataclass(cls, names)
    elif is_namedtuple(cls):
        _finish_namedtuple(cls, names)
    elif own.get("_is_protocol") is True:
        _finish_protocol(cls)


def finished(cls: type, attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a class as they came, with what is here instead of those that
    a library has written again: they are no change that anybody made."""
    own = vars(cls)
    return {
        name: own.get(name, value) if _is_placeholder(value) else value
        for name, value in attributes.items()
    }


def is_placeholder(code: CodeType) -> bool:
    return any(type(k) is str and k.endswith(_MARK) for k in code.co_consts)


def _is_placeholder(value: Any) -> bool:
    return any(is_placeholder(f.__code__) for f in functions_of(value))


def functions_of(value: Any) -> Iterator[FunctionType]:
    """A function and those that it wraps."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    for _ in range(8):
        if type(value) is not FunctionType:
            return
        yield value
        value = vars(value).get("__wrapped__")


# ---- Dataclasses


def _dataclass_codes(owner: type) -> Iterator[dict[str, CodeType]]:
    """What ``dataclass()`` writes for a class, in each way that it may have been."""
    from waybill._source.dataclass_parts import described

    # 3.11 does not keep whether a class was made with slots.
    said = getattr(vars(owner)["__dataclass_params__"], "slots", None)
    likely = "__slots__" in vars(owner)
    for slots in (likely, not likely) if said is None else (said,):
        asked = described(owner, slots)
        if asked not in _written:
            if len(_written) >= _MAX_WRITTEN:
                _written.clear()
            _written[asked] = _codes_in(vars(_scratch_dataclass(asked, None)))
        yield _written[asked]


def _codes_in(own: Any) -> dict[str, CodeType]:
    return {
        f.__code__.co_name: f.__code__
        for value in own.values()
        for f in functions_of(value)
        if f.__code__.co_filename == FILE
    }


def _scratch_dataclass(asked: Any, values: dict[str, Any] | None) -> Any:
    """A class for which ``dataclass()`` writes what it wrote for another.

    All fields are its own: what is written is the same as for inherited ones. Set
    later, they are not told their names, which defaults might keep.
    """
    import dataclasses

    from waybill._source.dataclass_parts import FIELD_OPTIONS

    options, has_post_init, fields = asked
    annotations = {}
    made = []
    for name, kind, defaulted, *public in fields:
        annotations[name] = dataclasses.InitVar if kind == "initvar" else object
        given: dict[str, Any] = dict(zip(FIELD_OPTIONS, public, strict=True))
        if defaulted:
            given[defaulted] = list if defaulted == "default_factory" else None
            if values is not None:
                given[defaulted] = values[name]
        made.append((name, dataclasses.field(**given)))
    body: dict[str, Any] = {"__annotations__": annotations, "__module__": "<waybill>"}
    if has_post_init:
        body["__post_init__"] = lambda self: None
    scratch = type("scratch", (), body)
    for name, field in made:
        setattr(scratch, name, field)
    return dataclasses.dataclass(**dict(options))(scratch)


def _finish_dataclass(cls: Any, names: list[str]) -> None:
    from waybill._source.dataclass_parts import default_values, described

    own = vars(cls)
    if names:
        params = own["__dataclass_params__"]
        slots = getattr(params, "slots", "__slots__" in own)
        asked = described(cls, slots)
        scratch = _scratch_dataclass(asked, default_values(cls))
        for name in names:
            value = vars(scratch).get(name)
            if value is not None:
                _settle(value, scratch, cls, own[name])
                type.__setattr__(cls, name, value)
    if sys.version_info >= (3, 13) and "__replace__" not in own:
        import dataclasses

        type.__setattr__(cls, "__replace__", dataclasses._replace)


def _settle(value: Any, scratch: Any, cls: Any, arrived: Any) -> None:
    """Lets what was written for a scratch class be of another."""
    before = {f.__name__: f for f in functions_of(arrived)}
    for function in functions_of(value):
        function.__module__ = cls.__module__
        if function.__qualname__.startswith(f"{scratch.__qualname__}."):
            function.__qualname__ = f"{cls.__qualname__}.{function.__name__}"
        for cell in function.__closure__ or ():
            if _holds_scratch(cell, scratch):
                cell.cell_contents = cls
        old = before.get(function.__name__)
        if old is not None and function.__annotations__:
            function.__annotations__ = _annotations_of(cls)


def _holds_scratch(cell: CellType, scratch: Any) -> bool:
    # One with slots is another class than the one that was decorated.
    held = cell.cell_contents
    return isinstance(held, type) and held.__module__ == scratch.__module__


def _annotations_of(cls: Any) -> dict[str, Any]:
    """Those of ``__init__``."""
    fields = vars(cls)["__dataclass_fields__"].values()
    kinds = ("_FIELD", "_FIELD_INITVAR")
    of_init = [f for f in fields if f.init and f._field_type.name in kinds]
    positional = {f.name: f.type for f in of_init if not f.kw_only}
    by_name = {f.name: f.type for f in of_init if f.kw_only}
    return {**positional, **by_name, "return": None}


# ---- Named tuples


def new_of_namedtuple(fields: tuple[str, ...]) -> Any:
    """The ``__new__`` that ``namedtuple()`` writes for these fields."""
    from collections import namedtuple

    # Names that cannot be fields are those that rename=True gave.
    made = namedtuple("scratch", fields, rename=True)  # type: ignore[misc]
    return made.__new__


def _finish_namedtuple(cls: Any, names: list[str]) -> None:
    own = vars(cls)
    if "__new__" in names:
        old = next(functions_of(own["__new__"]))
        new = new_of_namedtuple(cls._fields)
        for name in ("__name__", "__qualname__", "__doc__", "__module__"):
            setattr(new, name, getattr(old, name))
        new.__defaults__ = old.__defaults__
        if sys.version_info >= (3, 14):
            new.__annotate__ = old.__annotate__
        else:
            new.__annotations__ = old.__annotations__
        type.__setattr__(cls, "__new__", staticmethod(new))
    is_made_here = type(own.get("_replace")) is FunctionType
    if sys.version_info >= (3, 13) and "__replace__" not in own and is_made_here:
        type.__setattr__(cls, "__replace__", own["_replace"])


# ---- Protocols


def _finish_protocol(cls: Any) -> None:
    """Tells a protocol its members, which 3.11 looks up each time, and later versions
    when the class is made, with what it has then."""
    import typing

    library: Any = typing
    own = vars(cls)
    if "__protocol_attrs__" not in own or cls.__module__ == "typing":
        return
    members = cls.__protocol_attrs__ = library._get_protocol_attrs(cls)
    if "__callable_proto_members_only__" in own:  # In 3.12.
        found = (getattr(cls, name, None) for name in members)
        cls.__callable_proto_members_only__ = all(map(callable, found))
    if own.get("_is_runtime_protocol"):
        library.runtime_checkable(cls)
