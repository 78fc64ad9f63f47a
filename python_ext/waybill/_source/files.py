"""Files of source: each is parsed once, and again when it changes.

An entry is valid while inode, size and time of modification stay. A file that was
changed just before it was read could change again without any of these, so it is read
again until its time of modification is old enough. Source without a file may be in
linecache, as cells of notebooks are.

There are no locks: two threads that need a file at once may both parse it. Tested by
tests/python/source/test_source_files.py.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from array import array

from waybill._source.index import Index
from waybill._source.quiet import parse_quietly
from waybill._source.shown import ShownLines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType
    from typing import Any

MAX_FILES, MAX_BYTES = 4096, 128 << 20

#: Nanoseconds after its time of modification during which a file is read again: clocks
#: of file systems have steps of up to two seconds.
_SETTLING_TIME = 2_000_000_000


class Source:
    """The text of a file, and its index."""

    __slots__ = (
        "error",
        "index",
        "is_settled",
        "name",
        "raw_hash",
        "stamp",
        "starts",
        "text",
    )

    def __init__(self, name: str, stamp: Any) -> None:
        self.name = name
        self.stamp = stamp
        #: Why there is no index; "" if there is one.
        self.error = ""
        self.text = ""
        #: Offset of each line in the text, and of its end.
        self.starts = array("L", [0])
        self.index: Index | None = None
        self.raw_hash = 0
        self.is_settled = True

    def read(self, text: str) -> None:
        """Parses the text. Raises RecursionError and MemoryError, which depend on the
        caller's stack as much as on the text: a later attempt may succeed."""
        text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        starts = array("L", [0])
        lambda_lines = []
        offset = 0
        for number, line in enumerate(text.split("\n"), 1):
            offset += len(line) + 1
            starts.append(offset)
            if "lambda" in line:
                lambda_lines.append(number)
        try:
            tree = parse_quietly(text)
            self.index = Index(tree, lambda_lines, "super" in text)
        except (SyntaxError, ValueError):
            self.error = f"its file {self.name} does not parse"
            return
        self.text = text
        self.starts = starts

    def lines(self, first: int, last: int) -> str:
        """The text from one line to another, without the last line's end."""
        return self.text[self.starts[first - 1] : self.starts[last] - 1]

    def slice(self, line: int, column: int, end_line: int, end_column: int) -> str:
        """The text from one place to another; columns are in bytes."""
        lines = self.lines(line, end_line)
        if lines.isascii():
            return lines[column : lines.rfind("\n") + 1 + end_column]
        data = lines.encode()
        return data[column : data.rfind(b"\n") + 1 + end_column].decode()

    def size(self) -> int:
        return len(self.text) + 8 * len(self.starts) + 1024


_sources: dict[str, Source] = {}


def find_source(code: CodeType) -> Source | str:
    """The source of the file that a code object names; else the reason for none."""
    name = code.co_filename
    if name.startswith("<frozen "):
        name = _file_of_frozen(name)
        if not name:
            return "it is frozen into the interpreter"
    elif name.startswith("<"):
        return _find_without_file(code)
    archive = None
    try:
        found = os.stat(name)
    except NotADirectoryError:
        archive = _archive_of(name)
        if archive is None:
            return _find_without_file(code)
        found = os.stat(archive)
    except (OSError, ValueError):
        return _find_without_file(code)
    if not stat.S_ISREG(found.st_mode):
        return f"its file {name} is not a regular file"
    stamp = found.st_mtime_ns, found.st_size, found.st_ino, found.st_dev
    source = _sources.get(name)
    if source is not None and source.stamp == stamp and source.is_settled:
        return source.error or source
    return _read(name, stamp, source, archive)


def _archive_of(name: str) -> str | None:
    """The archive in a path: a file where the path has a folder. None without one."""
    around = os.path.dirname(name)
    while around and not os.path.exists(around):
        around = os.path.dirname(around)
    return around if os.path.isfile(around) else None


def _file_of_frozen(name: str) -> str:
    """The file of a frozen module of the standard library; "" if it names none."""
    module = sys.modules.get(name[len("<frozen ") : -1])
    file = None if module is None else vars(module).get("__file__")
    return file if isinstance(file, str) else ""


def _read(
    name: str, stamp: tuple[int, ...], cached: Source | None, archive: str | None
) -> Source | str:
    from importlib.util import decode_source

    now = time.time_ns()
    try:
        data = _read_bytes(name, archive)
    except OSError as error:
        return f"its file {name} cannot be read: {error}"
    raw_hash = hash(data)
    is_settled = now - stamp[0] > _SETTLING_TIME
    if cached is not None and cached.stamp == stamp and cached.raw_hash == raw_hash:
        cached.is_settled = is_settled
        return cached.error or cached
    source = Source(name, stamp)
    source.raw_hash, source.is_settled = raw_hash, is_settled
    try:
        source.read(decode_source(data))
    except (SyntaxError, UnicodeError, LookupError):
        source.error = f"its file {name} cannot be decoded"
    _cache(source)
    return source.error or source


def _read_bytes(name: str, archive: str | None) -> bytes:
    if archive is not None:
        # zipimport would use the directory that it cached, which may be out of date.
        import zipfile

        inside = os.path.relpath(name, archive).replace(os.sep, "/")
        try:
            with zipfile.ZipFile(archive) as opened:
                return opened.read(inside)
        except (zipfile.BadZipFile, KeyError) as error:
            raise OSError(str(error)) from error
    with open(name, "rb") as file:
        return file.read()


def _cache(source: Source) -> None:
    _sources.pop(source.name, None)
    _sources[source.name] = source
    used = sum(entry.size() for entry in list(_sources.values()))
    while len(_sources) > 1 and (len(_sources) > MAX_FILES or used > MAX_BYTES):
        try:
            oldest = next(iter(_sources))
        except (RuntimeError, StopIteration):  # Another thread changed the table.
            continue
        dropped = _sources.pop(oldest, None)
        used -= 0 if dropped is None else dropped.size()


# ---- Source without a file


def _find_without_file(code: CodeType) -> Source | str:
    """Source from linecache, or from ``-c`` on the command line."""
    name = code.co_filename
    entry = _entry_of_linecache(code)
    if entry is not None:
        return _read_text(name, entry, entry[2])
    text = _text_of_command(name)
    return _reason_without_file(name) if text is None else _read_text(name, text, text)


def _read_text(name: str, stamp: Any, text: Iterable[str]) -> Source | str:
    source = _sources.get(name)
    if source is None or source.stamp is not stamp:
        source = Source(name, stamp)
        source.read("".join(text))
        _cache(source)
    return source.error or source


def _entry_of_linecache(code: CodeType) -> Any:
    """linecache's (size, time, lines, name): one object while the source stays."""
    linecache: Any = sys.modules.get("linecache")
    if linecache is None:
        return None
    name = code.co_filename
    if hasattr(linecache, "_make_key"):  # 3.14: typed at a prompt, by code object.
        entry = linecache._interactive_cache.get(linecache._make_key(code))
        if entry is not None:
            return entry
    entry = linecache.cache.get(name)
    if entry is not None and len(entry) == 1:  # Lazy: getlines() reads it.
        linecache.getlines(name)
        entry = linecache.cache.get(name)
    if entry is None or len(entry) != 4 or type(entry[2]) is ShownLines:
        return None
    return entry


def _text_of_command(name: str) -> str | None:
    """The argument of ``-c``, which linecache does not have before 3.13."""
    # Programs that embed Python may have neither.
    arguments = getattr(sys, "orig_argv", ())
    own = getattr(sys, "argv", [])
    if name != "<string>" or own[:1] != ["-c"] or "-c" not in arguments:
        return None
    at = arguments.index("-c") + 1
    return arguments[at] if at < len(arguments) else None


def _reason_without_file(name: str) -> str:
    if name.startswith("<frozen "):
        return "it is frozen into the interpreter"
    if name == "<stdin>":
        return "it was typed at a prompt, which keeps no source"
    if name.startswith("<"):
        return f"it was made by exec or eval and has no file, only the name {name}"
    return f"its file {name} is not on this machine"
