"""The functions of waybill that are a few lines of Python around the extension."""

from __future__ import annotations

from waybill import _core
from waybill._api import lazy
from waybill._api.configuration import chosen
from waybill._api.load_options import load_options_of
from waybill._api.named_tuples import NamedTuple
from waybill._modules.by_value import with_registered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from typing_extensions import Buffer

    from waybill._api.configuration import Compress, MapLocation, RenameRules, Source
    from waybill._core import DecodeOptions, EncodeOptions, PreparedCall
    from waybill._kinds.opaque import Payload
    from waybill._modules.by_value import ByValue
    from waybill._reducers.replacements import Replacement
    from waybill.security import KeyRing, Limits, Policy, SigningKey

#: Bytes of what is refused for how it begins.
_BEGINNING = 1 << 20


class ImportRecord(NamedTuple):
    """One module that a payload needs, with the first place that showed the need."""

    #: Full dotted name; with leading dots when it is relative (only for time "call").
    module: str
    #: "load": imported by ``loads``. "call": by an import statement in a body, when it
    #: runs. "lazy": a lazy import (PEP 810), when its name is first used.
    time: str
    #: The expression that needs it; the module's name where a value is the module.
    chain: str
    #: Qualified name of the function; "" when the need comes from a value.
    function: str
    #: Where that code stands; "" and 0 when unknown.
    file: str
    line: int


def imports(obj: object, *, by_value: bool = False) -> tuple[ImportRecord, ...]:
    """The imports that ``dumps(obj)`` would list, as a tuple of ImportRecord.

    Without those of waybill's own that make objects, which every receiver has.
    Nothing is imported and no payload is made; objects that could not travel are no
    error. With ``by_value``, a function that could be imported where it goes is looked
    into all the same.
    """
    return tuple(map(ImportRecord._make, _core.imports(obj, by_value)))


def inspect(data: Buffer) -> dict[str, Any]:
    """What is in a payload, as a dict, without building any of it.

    The keys are those of ``waybill inspect --json`` (docs/cli.md). Works for payloads
    of any Python version. Raises DecodeError for what is no payload.
    """
    import json

    report: dict[str, Any] = json.loads(_core.inspect(data))
    return report


def fingerprint(obj: object) -> str:
    """32 hexadecimal digits that are equal for equal object graphs.

    A key for caches: file names and line numbers of code do not count, nor do the ids
    of classes. Sets make poor keys if their items are instances that differ only in
    attributes which their ``repr`` does not show, or functions of the same code that
    hold different values: such items are taken in the set's own order, which may change
    from process to process. Raises EncodeError for what cannot travel.
    """
    return _core.content_hash(obj, False, False).hex()


def dumps_with(
    obj: object,
    protocol: int | None = None,
    *,
    warn_above: int | None = None,
    **options: Any,
) -> bytes:
    """``dumps`` with options; the extension calls it but for those of engines."""
    encoding = encode_options(protocol, **options)
    limit = chosen("warn_above", warn_above)
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
    """``dumps`` as bytes-like objects, one behind the other; see ``encode_chunks``."""
    encoding = encode_options(protocol, **options)
    limit = chosen("warn_above", warn_above)
    chunks = _core.encode_chunks(obj, encoding)
    if limit and (size := size_of(chunks)) > limit:
        warn_of_size(size, obj, encoding, warn_above is not None)
    return chunks


def size_of(chunks: Iterable[Buffer]) -> int:
    return sum(memoryview(chunk).nbytes for chunk in chunks)


def warn_of_size(
    size: int, obj: object, encoding: EncodeOptions | None, is_given: bool = False
) -> None:
    """Warns that a payload is large; see ``size_warnings.warn``."""
    lazy.load("_explain.size_warnings").warn(size, obj, encoding, is_given)


def check_protocol(protocol: int | None, buffer_callback: object) -> None:
    """Raises ValueError for what pickle refuses: buffers before protocol 5."""
    if buffer_callback is not None and protocol is not None and 0 <= protocol < 5:
        raise ValueError("buffer_callback needs protocol >= 5")


def encode_options(
    protocol: int | None = None,
    *,
    fix_imports: bool = True,
    buffer_callback: Callable[[Any], object] | None = None,
    by_value: ByValue | None = None,
    replace: Replacement | Mapping[type, Replacement] | None = None,
    key: SigningKey | None = None,
    application: Buffer | None = None,
    compress: Compress | None = None,
    source: Source | None = None,
    environment: bool | None = None,
) -> EncodeOptions:
    """What ``encode`` takes besides the object, without the hooks of a Pickler."""
    check_protocol(protocol, buffer_callback)
    return (
        None,
        None,
        None,
        buffer_callback,
        None,
        0,
        with_registered(chosen("by_value", by_value)),
        chosen("application", application) or b"",
        chosen("replace", replace),
        chosen("key", key),
        chosen("compress", compress) or 0,
        chosen("source", source) or 0,
        chosen("environment", environment) or None,
    )


def prepare(
    function: Callable[..., object], *, warn_above: int | None = None, **options: Any
) -> PreparedCall:
    """Encodes a function once, to send it with many arguments.

    ``prepare(f).dumps(*args, **kwargs)`` gives the payload of
    ``waybill.calls.dumps_call(f, args, kwargs)``, at the cost of the arguments alone.
    The function is frozen: it is sent as it is now, with its globals, closure,
    defaults and classes, whatever becomes of them later. ``refresh()`` of the prepared
    call looks at it again, and ``digest`` names what was prepared. What the arguments
    share with the function, such as a class of the same script, is sent as frozen, too.

    Options are those of ``dumps``, without ``buffer_callback``. ``warn_above`` tells
    now of a function that is larger without arguments, and then of calls whose
    arguments are; else of calls that are. Raises EncodeError for a function that cannot
    travel, and TypeError for what is not callable.
    """
    if "buffer_callback" in options:
        raise TypeError("a prepared call has all of its buffers in its payload")
    encoding = encode_options(**options)
    limit = chosen("warn_above", warn_above)

    def warn(size: int, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        call = function, args, kwargs
        warn_of_size(size, call, encoding, warn_above is not None)

    return _core.PreparedCall(function, encoding, limit or 0, warn)


def loads_with(data: Buffer, *, copy: bool = True, **options: Any) -> Any:
    """``loads`` with options; the extension calls it but for those of engines."""
    decoding = decode_options(data, **options)
    if copy:
        return _core.decode(data, decoding)
    memory = memoryview(data).cast("B").toreadonly()
    return _core.decode_head(head_of(memory), None, memory, True, decoding)


def decode_options(
    data: Buffer | None = None,
    /,
    *,
    buffers: Iterable[Buffer] | None = None,
    reset_classes: bool | None = None,
    class_state: str | None = None,
    missing: str | None = None,
    map_location: MapLocation | None = None,
    renames: RenameRules | None = None,
    code: str | None = None,
    policy: Policy | None = None,
    keys: KeyRing | None = None,
    limits: Limits | None = None,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    errors: str = "strict",
) -> DecodeOptions:
    """What ``decode`` takes besides the data, without the hooks of an Unpickler.

    ``data``: all of the payload; None if it is not to be had in one piece.
    """
    return (
        None,
        None,
        None if buffers is None else iter(buffers),
        None,
        bool(chosen("reset_classes", reset_classes)),
        chosen("class_state", class_state),
        bool(chosen("missing", missing)),
        chosen("map_location", map_location),
        chosen("renames", renames),
        opaque_of(code, data),
        load_options_of(policy, keys, limits),
    )


def opaque_of(code: str | None, data: Buffer | None) -> Payload | None:
    """What makes the stand-ins of what cannot be built; None if that is an error."""
    if not chosen("code", code):
        return None
    payload: type[Payload] = lazy.load("_kinds.opaque").Payload
    return payload(data)


def head_of(memory: memoryview) -> Buffer:
    """The head of a payload with stored buffers, which its last bytes tell the size of;
    of any other, all of it. Of what is no payload, or was cut, as much as it takes to
    be refused: it may be a file of any size."""
    if b"wb" not in bytes(memory[:20]):
        return bytes(memory[:_BEGINNING])
    if memory[0] != 0x99:
        whole = memory.obj
        if isinstance(whole, bytes) and len(whole) == len(memory):
            return whole
        return memory
    size = int.from_bytes(memory[-8:], "big")
    return bytes(memory[: size if size < len(memory) else _BEGINNING])
