"""Payloads that arrive piece by piece: from a file, a pipe or a socket.

Tested by tests/python/streams/test_streams.py and test_stored_streams.py.
"""

from __future__ import annotations

import errno
import sys

from waybill import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

    from waybill._api.load_options import LoadOptions


#: Kinds of buffers, as docs/wire_format.md numbers them.
_BYTEARRAY, _SOURCE = 1, 4


class IncomingPayload:
    """One payload of a stream, as far as the stream has given it."""

    __slots__ = ("_load_options", "_places", "_stream_length", "data", "stored")

    def __init__(self, load_options: LoadOptions | None) -> None:
        #: The head; all of a payload without stored buffers.
        self.data = bytearray()
        #: The objects of the stored buffers; None as long as there are none.
        self.stored: list[Buffer] | None = None
        self._places: list[_Place] = []  # Of bytes behind the head, still to be read.
        self._load_options = load_options
        self._stream_length = _core.stream_length(load_options)

    def read(
        self,
        read: Callable[[int], Buffer | None],
        read_into: Callable[[memoryview], int | None] | None = None,
    ) -> bytearray:
        """Reads exactly this payload, with a file's ``read``; answers with the head.

        Buffers are read to where they will lie, with the file's ``readinto`` if it is
        given. Of what ``loads`` refuses whatever follows only so many bytes are read
        that it does. Raises EOFError if there are none. If ``read`` raises, what it
        gave is kept, and a call goes on from there.
        """
        data = self.data
        while self.stored is None and (
            missing := _core.measure(self._stream_length, data)
        ):
            if _core.head_size(self._stream_length):  # All of it is here.
                self._expect_buffers()
                break
            if not self._read_head(read, len(data) + missing):
                return data
        while self._places:
            place = self._places[0]
            place.fill(read, read_into)
            if place.is_buffer:
                assert self.stored is not None
                self.stored.append(place.object)
            del self._places[0]
        return data

    def _read_head(self, read: Callable[[int], Buffer | None], goal: int) -> bool:
        """Whether the stream did not end."""
        data = self.data
        while len(data) < goal:
            # What is missing is a claim of the sender's: believed in growing steps.
            asked = min(goal - len(data), max(len(data), 1 << 16))
            chunk = read(asked)
            if not chunk:
                if chunk is None:
                    raise blocks("read from", len(data))
                if not data:
                    raise EOFError("no payload: the file is at its end")
                return False
            _append(data, chunk, asked)
        return True

    def _expect_buffers(self) -> None:
        """Notes what comes behind the head. Raises what ``loads`` has against it."""
        head = self.data
        end = len(head)
        rows = _core.stored_rows(head, self._load_options)
        for kind, offset, length in rows:
            if offset != end:
                self._places.append(_Place(None, bytes(offset - end), end))
            self._places.append(_Place(kind, length, offset))
            end = offset + length
        self._places.append(_Place(None, len(head).to_bytes(8, "big"), end))
        self.stored = []


class _Place:
    """Bytes of a payload that are read to where they will lie."""

    __slots__ = ("_expected", "_kind", "_length", "_offset", "_view", "object")

    def __init__(self, kind: int | None, content: int | bytes, offset: int) -> None:
        #: Of a stored buffer; None for what stands between them, which is known before.
        self._kind = kind
        self._expected = content if isinstance(content, bytes) else b""
        self._length = len(content) if isinstance(content, bytes) else content
        self._offset = offset
        self._view: memoryview | None = None  # Of what is still to be filled.
        self.object: Buffer = b""

    @property
    def is_buffer(self) -> bool:
        return self._kind is not None

    def fill(
        self,
        read: Callable[[int], Buffer | None],
        read_into: Callable[[memoryview], int | None] | None,
    ) -> None:
        """Reads until all is there. DecodeError if the stream ends before that."""
        if self._view is None:
            # Made when its turn comes: the length is a claim of the sender's. Memory
            # that nothing was written to costs nothing.
            self.object, self._view = _new_memory(self._kind, self._length)
        while left := len(self._view):
            if read_into:
                # A file that keeps the view must not find memory that is gone.
                with self._view[:] as rest:
                    count = read_into(rest)
                if count is not None and not 0 <= count <= left:
                    raise OSError(errno.EIO, f"readinto() took {count} of {left} bytes")
            else:
                chunk = read(min(left, 1 << 20))
                count = None if chunk is None else _put(chunk, self._view)
            if count is None:
                raise blocks("read from", self._offset + self._length - left)
            if count == 0:
                raise _refused(
                    "truncated",
                    self._offset + self._length - left,
                    f"the input ends {left} bytes before the end of {self._what()}",
                )
            self._view = self._view[count:]
        self._view.release()
        if self._kind is None and self.object != self._expected:
            raise _refused("malformed", self._offset, f"here should be {self._what()}")

    def _what(self) -> str:
        if self.is_buffer:
            return "a stored buffer"
        return "the head's size" if any(self._expected) else "zeros before a buffer"


def _new_memory(kind: int | None, length: int) -> tuple[Buffer, memoryview]:
    """Memory to be filled, and a view of it that can be written to."""
    if kind == _SOURCE and "torch" in sys.modules:
        from waybill._kinds.torch_storages import new_memory

        return new_memory(length)
    return _core.new_buffer(_BYTEARRAY if kind is None else kind, length)


def _put(chunk: Buffer, view: memoryview) -> int:
    """Copies what a file gave to the beginning of a view; its length."""
    count = len(_demand_bytes(chunk))
    if count > len(view):
        raise OSError(errno.EIO, f"read({len(view)}) gave {count} bytes")
    view[:count] = chunk
    return count


def _append(data: bytearray, chunk: Buffer, asked: int) -> None:
    before = len(data)
    data += _demand_bytes(chunk)
    if len(data) - before > asked:
        # They belong to what comes next, and cannot be given back.
        raise OSError(errno.EIO, f"read({asked}) gave {len(data) - before} bytes")


def _demand_bytes(chunk: Buffer) -> bytes | bytearray | memoryview:
    if not isinstance(chunk, (bytes, bytearray, memoryview)):
        raise TypeError(f"read() must give bytes, not {type(chunk).__name__}")
    return chunk


def _refused(code: str, offset: int, detail: str) -> Exception:
    from waybill._api.errors import refusal

    return refusal(code, detail, offset)


def blocks(verb: str, done: int) -> BlockingIOError:
    return BlockingIOError(errno.EAGAIN, f"the file cannot be {verb} now", done)
