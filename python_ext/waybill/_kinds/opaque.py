"""Stand-ins for objects that cannot be built here: ``loads(data, code="opaque")``.

The extension makes one for each node that fails, and then gives it the values of the
node. Tested by tests/python/source/test_opaque.py.
"""

from __future__ import annotations

import types

from waybill import _core
from waybill._api.errors import DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from inspect import Signature
    from typing import Any, NoReturn

    from typing_extensions import Buffer

#: Kinds of nodes in the wire format that have another name here.
_KINDS = {"object": "instance", "new_object": "instance", "global": "name"}

#: Bits of ``co_flags``: the function has ``*args``, ``**kwargs``.
_PACKED = 0x04 | 0x08

#: The maximal number of arguments, and of fields, in a repr.
_MAX_SHOWN = 6

#: Parts of an instance besides arguments and fields.
_CONTENT = ("items", "pairs")


class Opaque:
    """An object that a payload describes and this process cannot build.

    It describes the object, cannot be called, and can be sent on: a receiver that can
    build the object gets the object itself. The payload that it was loaded from then
    travels with it, once for all opaque objects of that payload. It equals only itself.

    Its fields are also its attributes, except fields with the name of a property.
    """

    __slots__ = (
        "__weakref__",
        "_error",
        "_fields",
        "_kind",
        "_made_type",
        "_parts",
        "_payload",
        "_position",
    )

    # Until `describe` sets the parts, attributes that the extension sets become fields
    # of a function; see set_function_field() there.
    _fields: dict[str, Any]
    _parts: dict[str, Any] | None
    _kind: str

    def __init__(self) -> None:
        raise TypeError('opaque objects come from loads(data, code="opaque")')

    @property
    def kind(self) -> str:
        """The kind of the object: "function", "class", "instance", "name" (a global
        that its module lacks here), "code", or another kind of the wire format."""
        return _KINDS.get(self._kind, self._kind)

    @property
    def name(self) -> str:
        """The full name of the object, or of an instance's class or factory; or ""."""
        return _name_of(self) if self._parts is not None else ""

    @property
    def reason(self) -> str:
        """Why it could not be built here."""
        return f"{type(self._error).__name__}: {self._error}"

    @property
    def fields(self) -> Mapping[str, Any]:
        """The attributes of an instance, if its state gives them; the namespace and the
        attributes of a class; or the non-empty attributes of a function such as
        ``__defaults__`` and ``__globals__``."""
        return types.MappingProxyType(self._fields)

    @property
    def parts(self) -> Mapping[str, Any]:
        """All values of the node, by their names in the wire format."""
        return types.MappingProxyType(self._parts or {})

    @property
    def signature(self) -> Signature | None:
        """The signature of a function; None for any other kind."""
        if self._kind != "function" or self._parts is None:
            return None
        return _signature_of(self._parts["code"][2], self._fields)

    @property
    def source(self) -> str | None:
        """The text of a function, if it travelled with source."""
        if self._kind not in ("function", "code") or self._parts is None:
            return None
        unit = self._parts["code"][3]
        return unit[1] if unit is not None and unit[1] else None

    def __getattr__(self, name: str) -> Any:
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(f"{self!r} has no field {name!r}") from None

    def __setattr__(self, name: str, value: object) -> None:
        if self._parts is not None:
            raise AttributeError(f"{self!r} is read-only")
        self._fields[name] = value

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self!r} is read-only")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._fields})

    def __call__(self, *arguments: object, **keywords: object) -> NoReturn:
        raise TypeError(f"{self!r} cannot be called here: {self.reason}")

    def __repr__(self) -> str:
        return f"<opaque {_format(self)}>"

    def __copy__(self) -> Opaque:
        return self

    def __deepcopy__(self, memo: object) -> Opaque:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuilt, (self._payload, self._position)


_set = object.__setattr__


class Payload:
    """The payload in which opaque objects were; it travels with them."""

    __slots__ = ("_by_id", "_data")

    def __init__(self, data: Buffer | None) -> None:
        #: None if the payload cannot be read again.
        self._data = data
        self._by_id: dict[bytes, Opaque] = {}

    def stand_in(
        self,
        kind: str,
        position: int,
        error: Exception,
        id: bytes | None,
        made_type: type | None,
    ) -> Opaque:
        """A stand-in for the node at ``position``, which raised ``error`` when built.

        ``id``: that of a class. ``made_type``: the type of an object that was made and
        then rejected its state.
        """
        if id is not None and id in self._by_id:
            return self._by_id[id]  # The class refers to itself.
        opaque = Opaque.__new__(Opaque)
        error.__traceback__ = None  # A traceback keeps frames alive.
        for name, value in (
            ("_kind", kind),
            ("_payload", self),
            ("_position", position),
            ("_error", error),
            ("_fields", {}),
            ("_parts", None),
            ("_made_type", made_type),
        ):
            _set(opaque, name, value)
        if id is not None:
            self._by_id[id] = opaque
        return opaque

    def describe(self, opaque: Opaque, parts: dict[str, Any]) -> None:
        """Gives a stand-in the values of its node, by their names."""
        if opaque._parts is not None:
            return  # A class that refers to itself is complete already.
        fields = _FIELDS.get(opaque._kind)
        if fields is not None:
            opaque._fields.update(fields(parts))
        _set(opaque, "_parts", parts)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._data is None:
            raise TypeError(
                "opaque objects of a stream, or with buffers outside their payload, "
                "cannot be sent on; load the payload from its bytes or its path"
            )
        return Arrived, (bytes(self._data),)


class Arrived:
    """The objects of a payload inside another one, while that one is built."""

    __slots__ = ("_objects",)

    def __init__(self, data: bytes) -> None:
        from waybill._api.functions import resolve_decode_options

        options = resolve_decode_options(data, code="opaque")
        history: list[dict[int, object]] = []
        root = _core.decode(data, {**options, "history": history})
        self._objects = {0: root, **history[0]}

    def at(self, position: int) -> object:
        """The object at a byte position of the payload."""
        try:
            return self._objects[position]
        except KeyError:
            raise DecodeError(
                f"no object begins at byte {position} of the nested payload"
            ) from None


def rebuilt(payload: Arrived, position: int) -> object:
    """The object itself; an opaque object if it still cannot be built."""
    return payload.at(position)


def _fields_of_instance(parts: dict[str, Any]) -> dict[str, Any]:
    state = parts.get("state")
    fields: dict[str, Any] = {}
    # copyreg's forms: a dict, or a pair of a dict and the values of slots.
    for values in state if type(state) is tuple and len(state) == 2 else (state,):
        if type(values) is dict:
            fields.update(_with_text_keys(values))
    return fields


def _with_text_keys(values: dict[Any, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if type(key) is str}


def _fields_of_class(parts: dict[str, Any]) -> dict[str, Any]:
    # The attributes are set after the class was made.
    return _with_text_keys({**parts["namespace"], **parts["attributes"]})


def _fields_of_function(parts: dict[str, Any]) -> dict[str, Any]:
    return {"__globals__": parts["namespace"], "__closure__": tuple(parts["closure"])}


#: The fields of each kind of node.
_FIELDS = {
    "object": _fields_of_instance,
    "new_object": _fields_of_instance,
    "class": _fields_of_class,
    "function": _fields_of_function,
}


def _name_of(opaque: Opaque) -> str:
    parts = opaque.parts
    if opaque._kind in ("object", "new_object"):
        maker = opaque._made_type or parts.get("class") or parts["callable"]
        arguments = parts.get("args")
        if not _is_class(maker) and arguments and _is_class(arguments[0]):
            maker = arguments[0]  # Factories of reducers get the class first.
        if type(maker) is Opaque:
            return maker.name
        name = getattr(maker, "__qualname__", None)
        return _join(getattr(maker, "__module__", None), name)
    if opaque._kind == "function":
        module = opaque._fields.get("__module__", parts["namespace"].get("__name__"))
        name = opaque._fields.get("__qualname__", parts["code"][1])
        return _join(module, name)
    if opaque._kind == "class":
        namespace = parts["namespace"]
        name = namespace.get("__qualname__", parts["name"])
        return _join(namespace.get("__module__"), name)
    if opaque._kind == "code":
        return str(parts["code"][1])
    return _join(parts.get("module"), parts.get("name"))


def _is_class(maker: object) -> bool:
    if type(maker) is Opaque:
        return maker._kind in ("class", "global")
    return isinstance(maker, type)


def _join(module: object, name: object) -> str:
    if type(name) is not str:
        return ""
    return f"{module}.{name}" if type(module) is str and module else name


def _signature_of(code_fields: tuple[Any, ...], fields: dict[str, Any]) -> Signature:
    from inspect import signature

    count, positional_only, keyword_only, flags, names, _ = code_fields
    code = (lambda: None).__code__
    code = code.replace(
        co_argcount=count,
        co_posonlyargcount=positional_only,
        co_kwonlyargcount=keyword_only,
        co_flags=code.co_flags | flags & _PACKED,
        co_varnames=names,
        co_nlocals=len(names),
    )
    function = types.FunctionType(code, {})  # Never called.
    for name, kind in _OF_SIGNATURES.items():
        if type(fields.get(name)) is kind:
            setattr(function, name, fields[name])
    return signature(function)


#: The fields of a function that its signature shows, with their types.
_OF_SIGNATURES = {
    "__defaults__": tuple,
    "__kwdefaults__": dict,
    "__annotations__": dict,
}


#: ids of the objects whose repr is running: they may contain each other.
_being_formatted: set[int] = set()


def _format(opaque: Opaque) -> str:
    kind, name = opaque.kind, opaque.name
    if opaque._parts is None or id(opaque) in _being_formatted:
        return f"{kind} {name} ...".replace("  ", " ")
    _being_formatted.add(id(opaque))
    try:
        if kind == "function":
            return f"function {name}{_text_of_signature(opaque)}"
        if kind != "instance":
            return f"{kind} {name}".rstrip()
        return f"instance of {name}({', '.join(_texts_of_content(opaque))})"
    finally:
        _being_formatted.discard(id(opaque))


def _text_of_signature(opaque: Opaque) -> str:
    try:
        return str(opaque.signature)
    except ValueError:  # The argument of a comprehension is not an identifier.
        return "(...)"


def _texts_of_content(opaque: Opaque) -> list[str]:
    from reprlib import repr as short

    parts, fields = opaque.parts, opaque._fields
    arguments = [value for value in parts.get("args") or () if not _is_class(value)]
    shown = [short(value) for value in arguments[:_MAX_SHOWN]]
    shown += [f"{name}={short(fields[name])}" for name in list(fields)[:_MAX_SHOWN]]
    if max(len(arguments), len(fields)) > _MAX_SHOWN:
        shown.append("...")
    shown += [f"{name}={short(parts[name])}" for name in _CONTENT if parts.get(name)]
    return shown
