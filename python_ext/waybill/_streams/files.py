"""Payloads in files: streams with short reads and writes, and files that are replaced
as a whole. Tested by tests/python/streams/test_streams.py, test_save.py and
test_kill.py.
"""

from __future__ import annotations

import errno
import io
import os
import stat

from waybill import _core
from waybill._api.configuration import OPTIONS, option_value
from waybill._api.functions import chunks_with, head_of, resolve_decode_options, size_of
from waybill._api.load_options import load_options_of
from waybill._streams.incoming import IncomingPayload, blocking_error
from waybill._streams.progress import Reporter, ReportingReader, split_chunks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, BinaryIO

    from typing_extensions import Buffer

    from waybill._streams.incoming import Read, ReadInto
    from waybill._streams.progress import Progress

    Write = Callable[[Any], int | None]


def dump(
    obj: object, file: BinaryIO, protocol: int | None = None, **options: Any
) -> None:
    """Writes ``dumps(obj, **options)`` to a file opened in binary mode.

    The whole payload is written, even if an unbuffered file accepts less in one call.
    Large buffers are written to files of the ``io`` module without a copy: they must
    not change meanwhile. Errors of the file are raised unchanged; then a part of the
    payload may be in it. ``characters_written`` of a BlockingIOError says how much.
    """
    write = file.write
    if writes_synchronously(write):
        write_chunks(write, chunks_with(obj, protocol, **options))
    else:
        write_all(write, _core.dumps(obj, protocol, **options))


def load(
    file: BinaryIO | str | os.PathLike[str],
    *,
    mmap: bool | str = False,
    check: str | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Any:
    """Reads one object from a file opened in binary mode: a disk file, pipe or socket.

    Reads exactly one payload, so several may follow each other. Raises EOFError if the
    file is at its end. A file that is given as a path must hold one payload and nothing
    else; a DecodeError has the offset of other data. Options are those of ``loads``
    except ``copy``. Large buffers are read directly into their final memory.

    With ``mmap``, which needs a path, arrays are views of the mapped file: their pages
    are read when they are used, and shared by all processes that load the file. With
    True they are read-only; with ``"copy"`` they are writable, and changes stay in this
    process. ``check`` says when the digests of mapped buffers are compared:
    ``"never"``, or ``"now"``, which reads the whole file. Digests of other buffers are
    always compared. Compressed arrays are decompressed to memory. As long as an array
    that maps the file lives, the file must not be truncated or overwritten: replace
    it, as ``save`` does.

    ``progress``, which needs a path, is a callable that gets the bytes read so far and
    the total, every 16 MiB; or True, which writes a line to a terminal if the load
    takes more than a second. An exception of the callable ends the load.
    """
    given = (options.get(name) for name in ("policy", "keys", "limits"))
    incoming = IncomingPayload(load_options_of(*given))
    if mmap and isinstance(file, (str, os.PathLike)):
        return _map(file, mmap, check or "never", options)
    if mmap or check is not None:
        raise TypeError("mmap needs a path, and check needs mmap")
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb", buffering=0) as opened:
            if not progress:
                return _load_from(incoming, opened.read, opened.readinto, options, True)
            with Reporter(progress, os.fstat(opened.fileno()).st_size) as reporter:
                reader = ReportingReader(opened, reporter)
                return _load_from(incoming, reader.read, reader.readinto, options, True)
    if progress:
        raise TypeError("progress needs a path")
    return _load_from(incoming, file.read, getattr(file, "readinto", None), options)


def _load_from(
    incoming: IncomingPayload,
    read: Read,
    read_into: ReadInto | None,
    options: dict[str, Any],
    is_alone: bool = False,
) -> Any:
    """Loads one payload from a file. ``is_alone``: the file must hold nothing else."""
    if is_alone and option_value("code", options.get("code")):
        # Opaque objects are forwarded with the whole payload.
        whole = io.BytesIO()
        while chunk := read(_CHUNK):
            whole.write(chunk)
        return _core.loads(whole.getvalue(), **options)
    if is_alone:
        data = read_single_payload(read, incoming, read_into)
    else:
        data = incoming.read(read, read_into)
    return loads_stored(data, incoming.stored, **options)


#: Bytes of one read from a file that is read as a whole.
_CHUNK = 1 << 20


def loads_stored(data: Buffer, stored: list[Buffer] | None, **options: Any) -> Any:
    """``loads`` of a payload whose head and stored buffers were read separately."""
    if stored is None:
        return _core.loads(data, **options)
    return _core.decode_head(
        data, stored, None, True, resolve_decode_options(**options)
    )


def _map(
    path: str | os.PathLike[str], mode: bool | str, check: str, options: dict[str, Any]
) -> Any:
    if mode not in (True, "copy"):
        raise ValueError("mmap must be True, False or 'copy'")
    if check not in ("now", "never"):
        raise ValueError("check must be 'now' or 'never'")
    with open(path, "rb", buffering=0) as file:
        memory = map_file(file, mode is not True)
    decoding = resolve_decode_options(memory, **options)
    return _core.decode_head(head_of(memory), None, memory, check == "now", decoding)


def map_file(file: io.FileIO, is_copy: bool) -> memoryview:
    """Maps a file. A copy is writable; its changes are not written to the file."""
    import mmap

    if os.fstat(file.fileno()).st_size == 0:
        # mmap refuses an empty file; the extension raises a DecodeError.
        return memoryview(b"")
    access = mmap.ACCESS_COPY if is_copy else mmap.ACCESS_READ
    return memoryview(mmap.mmap(file.fileno(), 0, access=access))


def save(
    obj: object,
    path: str | os.PathLike[str],
    protocol: int | None = None,
    *,
    durable: bool = True,
    progress: Progress | None = None,
    environment: bool | None = None,
    **options: Any,
) -> None:
    """Writes ``dumps(obj, **options)`` to the file of that name: all of it or nothing.

    The payload is written to a new file, which replaces the old one in one step when
    all of it is on the disk. ``durable=False`` does not wait for the disk: the step is
    the same, but the data may be lost if the machine loses power.

    ``progress`` is that of ``load``, for the bytes written.

    The file describes the environment of its sender, as ``dumps(obj,
    environment=True)`` does, unless ``environment`` is False.

    Keeps permissions, and follows symbolic links: their target is replaced. Does not
    keep owner and extended attributes; other hard links keep the old content. Raises
    OSError for anything but a regular file.
    """
    if environment is None and "environment" not in OPTIONS:
        environment = True
    chunks = chunks_with(obj, protocol, environment=environment, **options)
    target = os.path.realpath(os.fsdecode(path))
    mode = _mode_of(target)
    folder = os.path.dirname(target)
    # Not derived from the target's name, which may have the maximal length already.
    new = os.path.join(folder, f".waybill-{os.urandom(8).hex()}.tmp")
    try:
        with _create(new, mode) as file:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
            if progress:
                with Reporter(progress, size_of(chunks)) as reporter:
                    write_chunks(file.write, split_chunks(chunks), reporter.add)
            else:
                write_chunks(file.write, chunks)
            if durable:
                os.fsync(file.fileno())
        os.replace(new, target)
    except FileExistsError:
        raise  # The file belongs to another process: do not delete it.
    except BaseException:
        try:
            os.unlink(new)
        except OSError:
            pass
        raise
    if durable:
        _sync_folder(folder)


def write_all(write: Write, data: Buffer) -> None:
    """Calls ``write`` until it has accepted all of ``data``.

    Objects that only resemble files may return anything: a result counts as a short
    write only if it is a number that is too small, or None from a raw file.
    """
    done = write(data)
    size = len(memoryview(data))
    if done == size:
        return
    # None of a raw file means that nothing was written.
    if done is None and not isinstance(getattr(write, "__self__", None), io.RawIOBase):
        return
    rest = memoryview(data)
    written = 0
    while True:
        if done is None:
            raise blocking_error("written to", written)
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


def write_chunks(
    write: Write,
    chunks: Iterable[Buffer],
    report: Callable[[int], object] | None = None,
) -> None:
    """Calls ``write_all`` for each chunk, and then ``report`` with its size."""
    written = 0
    for chunk in chunks:
        try:
            write_all(write, chunk)
        except BlockingIOError as error:
            error.characters_written = written + getattr(error, "characters_written", 0)
            raise
        size = len(memoryview(chunk))
        written += size
        if report:
            report(size)


def writes_synchronously(write: object) -> bool:
    """Whether ``write`` of this file is done with its argument when it returns. Other
    files may keep a view of it, or write it later."""
    return type(getattr(write, "__self__", None)) in _FILES


_FILES = (io.FileIO, io.BufferedWriter, io.BufferedRandom, io.BytesIO)


def read_single_payload(
    read: Read, incoming: IncomingPayload, read_into: ReadInto | None
) -> bytearray:
    """Reads the head of a payload; `loads` refuses the result if anything follows."""
    try:
        data = incoming.read(read, read_into)
    except EOFError:
        return bytearray()
    return data + (read(1) or b"")


def _mode_of(target: str) -> int | None:
    """The permissions of a regular file; None if it does not exist."""
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
    """Creates a file. One that will replace another (``mode``) is private at first."""
    if mode is None:
        return io.FileIO(path, "xb")
    import functools

    # Not a lambda: an interrupt in it would leave the new file open.
    return io.FileIO(path, "xb", opener=functools.partial(os.open, mode=0o600))


def _sync_folder(folder: str) -> None:
    """Flushes the new name to the disk, if the system supports that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return  # A folder that is writable but not readable, or Windows.
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)
