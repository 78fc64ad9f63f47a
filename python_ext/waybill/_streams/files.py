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
from waybill._api.configuration import OPTIONS, chosen
from waybill._api.functions import chunks_with, decode_options, head_of
from waybill._api.load_options import load_options_of
from waybill._streams.incoming import IncomingPayload, blocks
from waybill._streams.progress import Reporter, Watched, pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, BinaryIO

    from typing_extensions import Buffer

    from waybill._streams.progress import Progress


def dump(
    obj: object, file: BinaryIO, protocol: int | None = None, **options: Any
) -> None:
    """Writes ``dumps(obj, **options)`` to a file opened in binary mode.

    All of it, also to a file without a buffer, which may take less than it is given.
    To files of Python's own, large buffers are written from where they lie: they must
    not change meanwhile. The file's own errors come through; some of the payload may be
    written then. A BlockingIOError tells how much, by ``characters_written``.
    """
    write = file.write
    if takes_at_once(write):
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
    file is at its end. From a path, the file is one payload and nothing else, or a
    DecodeError tells where it is not. Options are those of ``loads`` but ``copy``.
    Large buffers are read to where they will lie.

    With ``mmap``, which needs a path, arrays map the file: nothing of them is read
    before it is used, and processes that load the same file share its pages. With True
    they are read-only; with ``"copy"`` they can be written to, and what is written
    stays in this process. ``check`` tells when the digests of mapped buffers are
    compared: ``"never"``, or ``"now"``, which reads all of the file. All others are
    always compared. Arrays that are compressed are decompressed to memory. As long as
    an array that maps the file lives, the file must not be cut or overwritten: replace
    it, as ``save`` does.

    ``progress`` is for files that are read from a path: a callable that gets the bytes
    that are read, and all, every 16 MiB; or True, which writes a line to a terminal if
    it takes more than a second. What the callable raises ends the reading.
    """
    given = (options.get(name) for name in ("policy", "keys", "limits"))
    arriving = IncomingPayload(load_options_of(*given))
    if mmap and isinstance(file, (str, os.PathLike)):
        return _map(file, mmap, check or "never", options)
    if mmap or check is not None:
        raise TypeError("mmap needs a path, and check needs mmap")
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb", buffering=0) as opened:
            if not progress:
                return loaded(arriving, opened.read, opened.readinto, options, True)
            with Reporter(progress, os.fstat(opened.fileno()).st_size) as reporter:
                told = Watched(opened, reporter)
                return loaded(arriving, told.read, told.readinto, options, True)
    if progress:
        raise TypeError("progress needs a path")
    return loaded(arriving, file.read, getattr(file, "readinto", None), options)


def loaded(
    arriving: IncomingPayload,
    read: Callable[[int], Buffer | None],
    read_into: Callable[[memoryview], int | None] | None,
    options: dict[str, Any],
    is_alone: bool = False,
) -> Any:
    """Loads one payload from a file; see ``read_single_payload`` for ``is_alone``."""
    if is_alone and chosen("code", options.get("code")):
        # What is opaque is sent on with all of its payload.
        whole = io.BytesIO()
        while chunk := read(_CHUNK):
            whole.write(chunk)
        return _core.loads(whole.getvalue(), **options)
    if is_alone:
        data = read_single_payload(read, arriving, read_into)
    else:
        data = arriving.read(read, read_into)
    return decoded(data, arriving.stored, **options)


#: Bytes that are asked for at once of a file that is read as a whole.
_CHUNK = 1 << 20


def decoded(data: Buffer, stored: list[Buffer] | None, **options: Any) -> Any:
    """``loads`` of a payload whose stored buffers were read apart from its head."""
    if stored is None:
        return _core.loads(data, **options)
    return _core.decode_head(data, stored, None, True, decode_options(**options))


def _map(
    path: str | os.PathLike[str], mode: bool | str, check: str, options: dict[str, Any]
) -> Any:
    if mode not in (True, "copy"):
        raise ValueError("mmap must be True, False or 'copy'")
    if check not in ("now", "never"):
        raise ValueError("check must be 'now' or 'never'")
    with open(path, "rb", buffering=0) as file:
        memory = mapped(file, mode is not True)
    decoding = decode_options(memory, **options)
    return _core.decode_head(head_of(memory), None, memory, check == "now", decoding)


def mapped(file: io.FileIO, is_copy: bool) -> memoryview:
    """The bytes of a file. A copy can be written to, which leaves the file as it is."""
    import mmap

    if os.fstat(file.fileno()).st_size == 0:
        return memoryview(b"")  # The extension has an error for that.
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

    What was there stays until all of the new is on the disk, then the new takes its
    place in one step. With ``durable=False`` nobody waits for the disk: the step is the
    same, and a machine that loses power may lose what was written.

    ``progress``, as of ``load``, is about what is written.

    The file tells what it was made with, as ``dumps(obj, environment=True)`` does,
    unless ``environment`` is False.

    Keeps permissions, and follows symbolic links: what they point to is replaced. Does
    not keep owner and extended attributes; other hard links keep the old content.
    Raises OSError for what is no regular file.
    """
    if environment is None and "environment" not in OPTIONS:
        environment = True
    chunks = chunks_with(obj, protocol, environment=environment, **options)
    target = os.path.realpath(os.fsdecode(path))
    mode = _mode_of(target)
    folder = os.path.dirname(target)
    # Its length is its own, since that of the target may be all that a name can have.
    new = os.path.join(folder, f".waybill-{os.urandom(8).hex()}.tmp")
    try:
        with _create(new, mode) as file:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
            if progress:
                total = sum(len(memoryview(chunk)) for chunk in chunks)
                with Reporter(progress, total) as reporter:
                    write_chunks(file.write, pieces(chunks), reporter.add)
            else:
                write_chunks(file.write, chunks)
            if durable:
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
    if durable:
        _sync_folder(folder)


def write_all(write: Callable[[Any], int | None], data: Buffer) -> None:
    """Calls a file's ``write`` until it has taken all of ``data``.

    What is no file may return what it likes but a number that is too small.
    """
    done = write(data)
    size = len(memoryview(data))
    if done == size:
        return
    if done is None and not _is_raw(write):
        return
    rest = memoryview(data)
    written = 0
    while True:
        if done is None:
            raise blocks("written to", written)
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
    write: Callable[[Any], int | None],
    chunks: Iterable[Buffer],
    tell: Callable[[int], object] | None = None,
) -> None:
    """``write_all`` for all of them, one behind the other. ``tell`` gets the size of
    each that was written."""
    written = 0
    for chunk in chunks:
        try:
            write_all(write, chunk)
        except BlockingIOError as error:
            error.characters_written = written + getattr(error, "characters_written", 0)
            raise
        size = len(memoryview(chunk))
        written += size
        if tell:
            tell(size)


def takes_at_once(write: object) -> bool:
    """Whether a file has used what ``write`` gets when that returns: others may keep a
    view of it, or write it later."""
    return type(getattr(write, "__self__", None)) in _FILES


_FILES = (io.FileIO, io.BufferedWriter, io.BufferedRandom, io.BytesIO)


def _is_raw(write: object) -> bool:
    """Whether None from it means that nothing was written."""
    return isinstance(getattr(write, "__self__", None), io.RawIOBase)


def read_single_payload(
    read: Callable[[int], Buffer | None],
    arriving: IncomingPayload,
    read_into: Callable[[memoryview], int | None] | None = None,
) -> bytearray:
    """What a file's ``read`` gives of a payload that should be alone in it."""
    try:
        data = arriving.read(read, read_into)
    except EOFError:
        return bytearray()  # Which `loads` has an error for.
    return data + (read(1) or b"")  # And for what follows.


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
