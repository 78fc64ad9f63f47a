"""Makes tracebacks, ``inspect.getsource`` and debuggers show received source.

Files of received code get linecache entries whose lines are made on first use: the
lines of the file, if it exists on this machine, with the text of each live unit laid
over them at its own lines. An entry shows the file where that agrees with the unit,
elsewhere the unit. Entries of other code in linecache are left alone. Tested by
tests/python/source/test_shown.py.
"""

from __future__ import annotations

import linecache
import os
import stat
from collections.abc import Sequence

from waybill._source.by_code import RECEIVED, record_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

MAX_FILES = 256
MAX_LINES = 100_000
_UNKNOWN = "...\n"

#: File names that the interpreter uses for many different texts.
_NAMES_OF_MANY = frozenset({"", "<string>", "<stdin>", "<unknown>"})

#: Entries made here, by file, the latest last. They have linecache's form: size, time,
#: lines, name. linecache never checks an entry whose time is None.
_shown: dict[str, tuple[int, None, ShownLines, str]] = {}
_cache: Any = linecache.cache


class ShownLines(Sequence[str]):
    """Lines of a file, made again when it or the code received for it changes."""

    __slots__ = ("_file", "_lines", "_stamp")

    def __init__(self, file: str) -> None:
        self._file = file
        self.invalidate()

    def invalidate(self) -> None:
        self._lines: list[str] | None = None
        self._stamp: Any = None

    def _current_lines(self) -> list[str]:
        lines, stamp = self._lines, _stamp_of(self._file)
        if lines is None or stamp != self._stamp:
            lines = _lines_of(self._file, file_exists=stamp is not None)
            self._lines, self._stamp = lines, stamp
        return lines

    def __len__(self) -> int:
        return len(self._current_lines())

    def __getitem__(self, index: Any) -> Any:
        return self._current_lines()[index]


def keep_source(unit: tuple[Any, ...], code: CodeType, first_line: int) -> None:
    """Records the unit of a received code object, and makes its file show the source.
    The extension calls it for code that runs here."""
    record_source(unit, code, first_line)
    file = code.co_filename
    if file in _NAMES_OF_MANY:
        return
    entry = _shown.pop(file, None)
    existing = _cache.get(file)
    if entry is None or existing is not entry:
        # An entry with a time belongs to a file, which ShownLines reads as well.
        if existing is not None and (len(existing) == 1 or existing[1] is None):
            return
        entry = 0, None, ShownLines(file), file
    entry[2].invalidate()
    _shown[file] = _cache[file] = entry
    while len(_shown) > MAX_FILES:
        try:
            _drop_entry(next(iter(_shown)))
        except (RuntimeError, StopIteration):  # Another thread changed the table.
            continue


def _drop_entry(file: str) -> None:
    entry = _shown.pop(file, None)
    if entry is not None and _cache.get(file) is entry:
        _cache.pop(file, None)


def _stamp_of(file: str) -> tuple[int, ...] | None:
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _lines_of(file: str, file_exists: bool) -> list[str]:
    received: dict[int, str] = {}
    for first, text, fills_gaps in sorted(_texts_of(file), key=lambda found: found[2]):
        for number, line in enumerate(text.removesuffix("\n").split("\n"), first):
            if number not in received or (fills_gaps and not received[number].strip()):
                received[number] = f"{line}\n"
    lines = _read(file) if file_exists else []
    lines += ["\n"] * (max(received, default=0) - len(lines))
    for number, line in received.items():
        text = line.strip()
        # A lambda is only a part of its line.
        if not text or not lines[number - 1].startswith(text, line.index(text)):
            lines[number - 1] = line
    if not file_exists:
        # An unknown line ends the block for inspect.
        for number in received:
            if number + 1 not in received:
                lines[number : number + 1] = [_UNKNOWN]
    return lines


def _texts_of(file: str) -> list[tuple[int, str, bool]]:
    """(first line, text, whether it only fills gaps, as annotations do) of each live
    unit received for a file, the latest first."""
    from waybill._source.units import ANNOTATE, CLASS_ANNOTATE, LAMBDA, Unit

    found = []
    for entry in reversed(list(RECEIVED.values())):
        code = entry[0]()
        if code is None or code.co_filename != file:
            continue
        unit, line = Unit(*entry[1]), entry[2]
        text = unit.text
        if unit.kind == ANNOTATE:  # Only the header is in the file.
            text = text.removesuffix("pass")
        elif unit.kind == CLASS_ANNOTATE:
            line += 0 if unit.column else 1
        else:
            line += unit.decorator_lines
            text = " " * unit.column + text if unit.kind == LAMBDA else text
        if text and line >= 1 and line + text.count("\n") <= MAX_LINES:
            found.append((line, text, unit.kind in (ANNOTATE, CLASS_ANNOTATE)))
    return found


def _read(file: str) -> list[str]:
    import tokenize

    try:
        with tokenize.open(file) as source:
            lines = source.readlines()
    except (OSError, SyntaxError, UnicodeDecodeError):
        return []
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return lines
