"""Payloads in files: streams that take and give less than asked, and files that change
as a whole.

Tested by tests/python/streams/test_streams.py, test_save.py and test_kill.py.
"""

from __future__ import annotations

import errno
import io
import os
import stat

from waybill import _core
from waybill._gate import load_options_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

    from typing_extensions import Buffer

    from waybill._gate import LoadOptions


def dump(
    obj: object, file: BinaryIO, protocol: int | None = None, **options: Any
) -> None:
    """Writes ``dumps(obj, **options)`` to a file opened in binary mode.

    All of it, also to a file without a buffer, which may take less than it is given.
    The file's own errors come through; some of the payload may be written then. A
    BlockingIOError tells how much, by ``characters_written``.
    """
    write = file.write
    write_all(write, _core.dumps(obj, protocol, **options))


def load(file: BinaryIO | str | os.PathLike[str], **options: Any) -> Any:
    """Reads one object from a file opened in binary mode: a disk file, pipe or socket.

    Reads exactly one payload, so several may follow each other. Raises EOFError if the
    file is at its end. From a path, the file is one payload and nothing else, or a
    DecodeError tells where it is not. Options are those of ``loads``.
    """
    given = (options.get(name) for name in ("policy", "keys", "limits"))
    arriving = Arriving(load_options_of(*given))
    if isinstance(file, (str, os.PathLike)):
        return _core.loads(_whole_file(file, arriving), **options)
    return _core.loads(arriving.read(file.read), **options)


def save(
    obj: object,
    path: str | os.PathLike[str],
    protocol: int | None = None,
    **options: Any,
) -> None:
    """Writes ``dumps(obj, **options)`` to the file of that name: all of it or nothing.

    What was there stays until all of the new is on the disk, then the new takes its
    place in one step. Keeps permissions, and follows symbolic links: what they point to
    is replaced. Does not keep owner and extended attributes; other hard links keep the
    old content. Raises OSError for what is no regular file.
    """
    data = _core.dumps(obj, protocol, **options)
    target = os.path.realpath(os.fsdecode(path))
    mode = _mode_of(target)
    folder = os.path.dirname(target)
    # Its length is its own, since that of the target may be all that a name can have.
    new = os.path.join(folder, f".waybill-{os.urandom(8).hex()}.tmp")
    try:
        with _create(new, mode) as file:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
            write_all(file.write, data)
            os.fsync(file.fileno())
        os.replace(new, target)
    except FileExistsError:
        raise  # It is somebody else's.
    except BaseException:
        try:
            os.unlink(new)
        except OSError:
            pass
        raise
    _sync_folder(folder)


def write_all(write: Callable[[Any], int | None], data: bytes) -> None:
    """Calls a file's ``write`` until it has taken all of ``data``.

    What is no file may return what it likes but a number that is too small.
    """
    done = write(data)
    size = len(data)
    if done == size:
        return
    if done is None and not _is_raw(write):
        return
    rest = memoryview(data)
    written = 0
    while True:
        if done is None:
            raise _blocks("written to", written)
        if not isinstance(done, int) or written + done >= size:
            return
        if done <= 0:
            raise OSError(errno.EIO, f"write() took {done} of {size - written} bytes")
        written += done
        try:
            done = write(rest[written:])
        except BlockingIOError as error:
            error.characters_written = written + getattr(error, "characters_written", 0)
            raise


class Arriving:
    """One payload of a stream, as far as the stream has given it."""

    __slots__ = ("_stream_length", "data")

    def __init__(self, load_options: LoadOptions | None) -> None:
        self.data = bytearray()
        self._stream_length = _core.stream_length(load_options)

    def read(self, read: Callable[[int], Buffer | None]) -> bytearray:
        """The bytes of exactly this payload, with a file's ``read``.

        Of what ``loads`` refuses whatever follows only so many that it does. Raises
        EOFError if there are none. If ``read`` raises, what it gave is kept, and a call
        goes on from there.
        """
        data = self.data
        while missing := _core.measure(self._stream_length, data):
            goal = len(data) + missing
            while len(data) < goal:
                # What is missing is a claim of the sender's: believed in growing steps.
                asked = min(goal - len(data), max(len(data), 1 << 16))
                chunk = read(asked)
                if not chunk:
                    if chunk is None:
                        raise _blocks("read from", len(data))
                    if not data:
                        raise EOFError("no payload: the file is at its end")
                    return data
                _append(data, chunk, asked)
        return data


def _append(data: bytearray, chunk: Buffer, asked: int) -> None:
    if not isinstance(chunk, (bytes, bytearray, memoryview)):
        raise TypeError(f"read() must give bytes, not {type(chunk).__name__}")
    before = len(data)
    data += chunk
    if len(data) - before > asked:
        # They belong to what comes next, and cannot be given back.
        raise OSError(errno.EIO, f"read({asked}) gave {len(data) - before} bytes")


def _is_raw(write: object) -> bool:
    """Whether None from it means that nothing was written."""
    return isinstance(getattr(write, "__self__", None), io.RawIOBase)


def _blocks(verb: str, done: int) -> BlockingIOError:
    return BlockingIOError(errno.EAGAIN, f"the file cannot be {verb} now", done)


def only_payload(read: Callable[[int], Buffer | None], arriving: Arriving) -> bytearray:
    """What a file's ``read`` gives of a payload that should be alone in it."""
    try:
        data = arriving.read(read)
    except EOFError:
        return bytearray()  # Which `loads` has an error for.
    return data + (read(1) or b"")  # And for what follows.


def _whole_file(path: str | os.PathLike[str], arriving: Arriving) -> bytearray:
    with open(path, "rb") as file:
        return only_payload(file.read, arriving)


def _mode_of(target: str) -> int | None:
    """The permissions of a file that is there."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a regular file; use dump()", target)
    return stat.S_IMODE(mode) & 0o777


def _create(path: str, mode: int | None) -> io.FileIO:
    """A new file. Nobody may read more of it than of the one that it will replace."""
    if mode is None:
        return io.FileIO(path, "xb")
    import functools

    return io.FileIO(path, "xb", opener=functools.partial(os.open, mode=0o600))


def _sync_folder(folder: str) -> None:
    """Makes sure that the new name is on the disk, where the system can do that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return  # One may write to it, but not read it; or it is Windows.
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)
