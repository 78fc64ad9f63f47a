"""Public functions that add little to the extension, and the options of a call."""

from __future__ import annotations

from waybill import _core
from waybill._api import lazy
from waybill._api.configuration import DECODING, ENCODING, option_value, option_values
from waybill._api.load_options import load_options_of
from waybill._api.named_tuples import NamedTuple
from waybill._modules.by_value import with_registered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from typing_extensions import Buffer

    from waybill._core import PreparedCall
    from waybill.security import KeyRing, Limits, Policy

#: How many bytes of invalid data the extension gets; its start suffices to refuse it.
_INVALID_PREFIX_SIZE = 1 << 20
#: The first byte of an envelope with stored buffers: an array of ten sections.
_WITH_BUFFERS = 0x9A


class ImportRecord(NamedTuple):
    """A module that a payload needs, with the first code or value that needs it."""

    #: Full dotted name; with leading dots if it is relative (only for time "call").
    module: str
    #: "load": imported by ``loads``. "call": imported by a statement in a body, when
    #: that runs. "lazy": a lazy import (PEP 810), when its name is first used.
    time: str
    #: The expression that needs the module; its name if a value is the module.
    chain: str
    #: Qualified name of the function; "" if a value needs the module.
    function: str
    #: File and line of the expression; "" and 0 if unknown.
    file: str
    line: int


def imports(obj: object, *, by_value: bool = False) -> tuple[ImportRecord, ...]:
    """The imports that ``dumps(obj)`` would list, as a tuple of ImportRecord.

    Modules of waybill are left out, since every receiver has them. Nothing is imported
    and no payload is made; objects that cannot be sent raise no error. With
    ``by_value``, functions are examined even if the receiver could import them.
    """
    return tuple(map(ImportRecord._make, _core.imports(obj, by_value)))


def inspect(data: Buffer) -> dict[str, Any]:
    """Describes the content of a payload, as a dict, without building objects.

    The keys are those of ``waybill inspect --json`` (docs/cli.md). Accepts payloads of
    any Python version. Raises DecodeError for data that is not a payload.
    """
    import json

    report: dict[str, Any] = json.loads(_core.inspect(data))
    return report


def fingerprint(obj: object) -> str:
    """A cache key: 32 hexadecimal digits that are equal for equal object graphs.

    It does not depend on file names and line numbers of code, nor on ids of classes.
    Sets are poor keys if their items are instances that differ only in attributes which
    their ``repr`` does not show, or functions of the same code with different values:
    such items are hashed in the order of the set, which may change from process to
    process. Raises EncodeError for an object that cannot be sent.
    """
    return _core.content_hash(obj, False, False).hex()


def dumps_with(
    obj: object,
    protocol: int | None = None,
    *,
    warn_above: int | None = None,
    **options: Any,
) -> bytes:
    """``dumps`` with other options than engines use; called by the extension."""
    encoding = resolve_encode_options(protocol, **options)
    limit = option_value("warn_above", warn_above)
    data = _core.encode(obj, encoding)
    if limit and len(data) > limit:
        warn_of_size(len(data), obj, encoding, warn_above is not None)
    return data


def chunks_with(
    obj: object,
    protocol: int | None = None,
    *,
    warn_above: int | None = None,
    **options: Any,
) -> list[Buffer]:
    """``dumps`` as a list of consecutive bytes-like objects; see ``encode_chunks``."""
    encoding = resolve_encode_options(protocol, **options)
    limit = option_value("warn_above", warn_above)
    chunks = _core.encode_chunks(obj, encoding)
    if limit and (size := size_of(chunks)) > limit:
        warn_of_size(size, obj, encoding, warn_above is not None)
    return chunks


def size_of(chunks: Iterable[Buffer]) -> int:
    return sum(memoryview(chunk).nbytes for chunk in chunks)


def warn_of_size(
    size: int, obj: object, encoding: dict[str, Any] | None, is_given: bool = False
) -> None:
    """Issues a SizeWarning; see ``size_warnings.warn`` for the arguments."""
    lazy.load("_explain.size_warnings").warn(size, obj, encoding, is_given)


def check_protocol(protocol: int | None, buffer_callback: object) -> None:
    """Raises ValueError, as pickle does, for a buffer_callback before protocol 5."""
    if buffer_callback is not None and protocol is not None and 0 <= protocol < 5:
        raise ValueError("buffer_callback needs protocol >= 5")


def resolve_encode_options(
    protocol: int | None = None,
    *,
    fix_imports: bool = True,
    buffer_callback: Callable[[Any], object] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The options of ``encode``, checked, without the hooks of a Pickler."""
    check_protocol(protocol, buffer_callback)
    encoding = option_values(ENCODING, options)
    encoding["buffer_callback"] = buffer_callback
    encoding["by_value"] = with_registered(encoding.get("by_value"))
    return encoding


def prepare(
    function: Callable[..., object], *, warn_above: int | None = None, **options: Any
) -> PreparedCall:
    """Encodes a function once, to send it with many arguments.

    ``prepare(f).dumps(*args, **kwargs)`` returns the payload of
    ``waybill.calls.dumps_call(f, args, kwargs)``, at the cost of the arguments alone.
    The function is sent in its present state, with its globals, closure, defaults and
    classes; later changes to them are not sent. ``refresh()`` of the prepared call
    encodes it again, and ``digest`` identifies the prepared state. Objects that the
    arguments share with the function, such as a class of the same script, are sent in
    their prepared state, too.

    Options are those of ``dumps``, without ``buffer_callback``. If the function alone
    is larger than ``warn_above``, a warning is issued now, and then for calls whose
    arguments are larger; otherwise for calls whose payloads are larger. Raises
    EncodeError for a function that cannot be sent, and TypeError for an object that is
    not callable.
    """
    if "buffer_callback" in options:
        raise TypeError(
            "prepare() takes no buffer_callback: a prepared call has all of its "
            "buffers in its payload"
        )
    encoding = resolve_encode_options(**options)
    limit = option_value("warn_above", warn_above)

    def warn(size: int, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        call = function, args, kwargs
        warn_of_size(size, call, encoding, warn_above is not None)

    return _core.PreparedCall(function, encoding, limit or 0, warn)


def loads_with(data: Buffer, *, copy: bool = True, **options: Any) -> Any:
    """``loads`` with options; called by the extension like ``dumps_with``."""
    decoding = resolve_decode_options(data, **options)
    if copy:
        return _core.decode(data, decoding)
    memory = memoryview(data).cast("B").toreadonly()
    return _core.decode_head(head_of(memory), None, memory, True, decoding)


def resolve_decode_options(
    data: Buffer | None = None,
    /,
    *,
    buffers: Iterable[Buffer] | None = None,
    code: str | None = None,
    policy: Policy | None = None,
    keys: KeyRing | None = None,
    limits: Limits | None = None,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    errors: str = "strict",
    **options: Any,
) -> dict[str, Any]:
    """The options of ``decode``, checked, without the hooks of an Unpickler.

    ``data``: the whole payload; None if it is not in one buffer.
    """
    decoding = option_values(DECODING, options)
    if buffers is not None:
        decoding["buffers"] = iter(buffers)
    if option_value("code", code):
        decoding["opaque"] = lazy.load("_kinds.opaque").Payload(data)
    decoding["load_options"] = load_options_of(policy, keys, limits)
    return decoding


def head_of(memory: memoryview) -> Buffer:
    """The head of a payload with stored buffers, whose size is in its last bytes; the
    whole payload if it has none. Of data that is not a payload, or is truncated, a
    prefix that suffices to refuse it: the file may have any size."""
    if b"wb" not in bytes(memory[:20]):
        return bytes(memory[:_INVALID_PREFIX_SIZE])
    if memory[0] != _WITH_BUFFERS:
        whole = memory.obj
        if isinstance(whole, bytes) and len(whole) == len(memory):
            return whole
        return memory
    size = int.from_bytes(memory[-8:], "big")
    return bytes(memory[: size if size < len(memory) else _INVALID_PREFIX_SIZE])
