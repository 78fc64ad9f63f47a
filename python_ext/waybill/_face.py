"""The functions of waybill that are a few lines of Python around the extension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from waybill import _core

if TYPE_CHECKING:
    from typing_extensions import Buffer


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


def dump(obj: object, file: BinaryIO) -> None:
    """Writes ``dumps(obj)`` to a file opened in binary mode."""
    file.write(_core.dumps(obj))


def load(file: BinaryIO) -> Any:
    """Reads one object from a file opened in binary mode: a disk file, pipe or socket.

    Reads exactly one payload, so several may follow each other. Raises EOFError if the
    file is at its end.
    """
    data = bytearray()
    while missing := _core.measure(data):
        # What is missing is a claim of the sender's: believed in growing steps.
        chunk = file.read(min(missing, max(len(data), 1 << 16)))
        if not chunk:
            if not data:
                raise EOFError("no payload: the file is at its end")
            break
        data += chunk
    return _core.loads(data)
