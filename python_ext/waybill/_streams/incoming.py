"""Payloads that are read piece by piece from a file, a pipe or a socket. Tested by
tests/python/streams/test_streams.py and test_stored_streams.py."""

from __future__ import annotations

import errno
import sys

from waybill import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

    from waybill._api.load_options import LoadOptions

    #: The methods ``read`` and ``readinto`` of a file; None: the file is not ready.
    Read = Callable[[int], Buffer | None]
    ReadInto = Callable[[memoryview], int | None]


#: Kinds of buffers, with their numbers in docs/wire_format.md.
_BYTEARRAY, _SOURCE = 1, 4


class IncomingPayload:
    """One payload of a stream, as far as it has been read."""

    __slots__ = ("_load_options", "_regions", "_stream_length", "data", "stored")

    def __init__(self, load_options: LoadOptions | None) -> None:
        #: The head. Without stored buffers it is the whole payload.
        self.data = bytearray()
        #: The objects of the stored buffers; None if there are none, or none yet.
        self.stored: list[Buffer] | None = None
        self._regions: list[_Region] = []  # After the head, still to be read.
        self._load_options = load_options
        self._stream_length = _core.stream_length(load_options)

    def read(self, read: Read, read_into: ReadInto | None = None) -> bytearray:
        """Reads exactly this payload with the ``read`` of a file; returns the head.

        Buffers are read directly into their final memory, with the ``readinto`` of the
        file if it is given. Reading stops as soon as ``loads`` is certain to refuse the
        payload. Raises EOFError if the file is at its end. If ``read`` raises, the
        bytes read so far are kept, and another call continues from there.
        """
        data = self.data
        while self.stored is None and (
            missing := _core.measure(self._stream_length, data)
        ):
            if _core.head_size(self._stream_length):  # The head is complete.
                self._expect_buffers()
                break
            if not self._read_head(read, len(data) + missing):
                return data
        while self._regions:
            region = self._regions[0]
            region.fill(read, read_into)
            if region.is_buffer:
                assert self.stored is not None
                self.stored.append(region.object)
            del self._regions[0]
        return data

    def _read_head(self, read: Read, goal: int) -> bool:
        """Reads up to ``goal`` bytes of the head. False if the stream ends before."""
        data = self.data
        while len(data) < goal:
            # The sender chose the length, so memory grows only with received bytes.
            wanted = min(goal - len(data), max(len(data), 1 << 16))
            chunk = read(wanted)
            if not chunk:
                if chunk is None:
                    raise blocking_error("read from", len(data))
                if not data:
                    raise EOFError("no payload: the file is at its end")
                return False
            _append(data, chunk, wanted)
        return True

    def _expect_buffers(self) -> None:
        """Lists the regions after the head. Refuses a head that ``loads`` refuses."""
        head = self.data
        end = len(head)
        for kind, offset, length in _core.stored_rows(head, self._load_options):
            if offset != end:
                self._regions.append(_Region(None, bytes(offset - end), end))
            self._regions.append(_Region(kind, length, offset))
            end = offset + length
        self._regions.append(_Region(None, len(head).to_bytes(8, "big"), end))
        self.stored = []


class _Region:
    """Consecutive bytes of a payload that are read directly into their memory."""

    __slots__ = ("_expected", "_kind", "_length", "_offset", "_view", "object")

    def __init__(self, kind: int | None, content: int | bytes, offset: int) -> None:
        #: The kind of a stored buffer; None for the bytes between, which are known.
        self._kind = kind
        self._expected = content if isinstance(content, bytes) else b""
        self._length = len(content) if isinstance(content, bytes) else content
        self._offset = offset
        self._view: memoryview | None = None  # The bytes still to be read.
        self.object: Buffer = b""

    @property
    def is_buffer(self) -> bool:
        return self._kind is not None

    def fill(self, read: Read, read_into: ReadInto | None) -> None:
        """Reads the whole region. Raises DecodeError if the stream ends before."""
        if self._view is None:
            # Allocated only now, since the sender chose the length. The system provides
            # pages only as they are written.
            self.object, self._view = _new_memory(self._kind, self._length)
        while left := len(self._view):
            if read_into:
                # Released, so that a file that keeps the view cannot use freed memory.
                with self._view[:] as rest:
                    count = read_into(rest)
                if count is not None and not 0 <= count <= left:
                    raise OSError(errno.EIO, f"readinto() read {count} of {left} bytes")
            else:
                chunk = read(min(left, 1 << 20))
                count = None if chunk is None else _copy_chunk(chunk, self._view)
            if count is None:
                raise blocking_error("read from", self._offset + self._length - left)
            if count == 0:
                detail = (
                    f"the input ends {left} bytes before the end of {self._label()}"
                )
                raise _refusal("truncated", self._offset + self._length - left, detail)
            self._view = self._view[count:]
        self._view.release()
        if self._kind is None and self.object != self._expected:
            raise _refusal("malformed", self._offset, f"expected {self._label()}")

    def _label(self) -> str:
        if self.is_buffer:
            return "a stored buffer"
        return "the head's size" if any(self._expected) else "zeros before a buffer"


def _new_memory(kind: int | None, length: int) -> tuple[Buffer, memoryview]:
    """An object whose memory is to be filled, and a writable view of it."""
    if kind == _SOURCE and "torch" in sys.modules:
        from waybill._kinds.torch_storages import new_memory

        return new_memory(length)
    return _core.new_buffer(_BYTEARRAY if kind is None else kind, length)


def _copy_chunk(chunk: Buffer, view: memoryview) -> int:
    """Copies the result of ``read`` to the beginning of a view; returns its length."""
    count = len(_require_bytes(chunk))
    if count > len(view):
        raise OSError(errno.EIO, f"read({len(view)}) returned {count} bytes")
    view[:count] = chunk
    return count


def _append(data: bytearray, chunk: Buffer, wanted: int) -> None:
    before = len(data)
    data += _require_bytes(chunk)
    if len(data) - before > wanted:
        # The excess belongs to the next payload and cannot be returned to the file.
        raise OSError(errno.EIO, f"read({wanted}) returned {len(data) - before} bytes")


def _require_bytes(chunk: Buffer) -> bytes | bytearray | memoryview:
    if not isinstance(chunk, (bytes, bytearray, memoryview)):
        raise TypeError(f"read() must return bytes, not {type(chunk).__name__}")
    return chunk


def _refusal(code: str, offset: int, detail: str) -> Exception:
    from waybill._api.errors import refusal

    return refusal(code, detail, offset)


def blocking_error(verb: str, done: int) -> BlockingIOError:
    """The error of a file that is not ready; ``verb``: "read from" or "written to"."""
    return BlockingIOError(errno.EAGAIN, f"the file cannot be {verb} now", done)
