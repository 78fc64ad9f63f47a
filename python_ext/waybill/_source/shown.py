"""Lets tracebacks, ``inspect.getsource`` and debuggers show source that came along.

linecache gets lines for the files of such code, which are put together when they are
first asked for: those of the file, if it is on this machine, and over them the text of
each unit whose code lives, at its own lines. So a file shows what it has where that is
what came, and what came where it is not. Entries that others made are left alone.

Tested by tests/python/source/test_shown.py.
"""

from __future__ import annotations

import linecache
import os
import stat
from collections.abc import Sequence

from waybill._source.by_code import CAME, note_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

MAX_FILES = 256
MAX_LINES = 100_000
_UNKNOWN = "...\n"

#: What the interpreter names so is many texts.
_NAMES_OF_MANY = frozenset({"", "<string>", "<stdin>", "<unknown>"})

#: Entries that were made here, by file, the latest last: as linecache keeps them, size,
#: time, lines, name. Without a time none is out of date.
_shown: dict[str, tuple[int, None, ShownLines, str]] = {}
_cache: Any = linecache.cache


class ShownLines(Sequence[str]):
    """Lines of a file, made when they are asked for and the file or the code that came
    from it is not what it was."""

    __slots__ = ("_file", "_lines", "_stamp")

    def __init__(self, file: str) -> None:
        self._file = file
        self.forget()

    def forget(self) -> None:
        self._lines: list[str] | None = None
        self._stamp: Any = None

    def _made(self) -> list[str]:
        lines, stamp = self._lines, _stamp_of(self._file)
        if lines is None or stamp != self._stamp:
            lines = _lines_of(self._file, is_there=stamp is not None)
            self._lines, self._stamp = lines, stamp
        return lines

    def __len__(self) -> int:
        return len(self._made())

    def __getitem__(self, at: Any) -> Any:
        return self._made()[at]


def keep_source(unit: tuple[Any, ...], code: CodeType, first_line: int) -> None:
    """Remembers what a code object came from, and lets its file show that. The code of
    the unit begins at a line. The extension asks it for code that runs here."""
    note_source(unit, code, first_line)
    file = code.co_filename
    if file in _NAMES_OF_MANY:
        return
    entry = _shown.pop(file, None)
    there = _cache.get(file)
    if entry is None or there is not entry:
        if there is not None and _is_of_others(there):
            return
        entry = 0, None, ShownLines(file), file
    entry[2].forget()
    _shown[file] = _cache[file] = entry
    while len(_shown) > MAX_FILES:
        try:
            _forget(next(iter(_shown)))
        except (RuntimeError, StopIteration):  # Another thread is at it.
            continue


def _is_of_others(entry: Any) -> bool:
    # One with a time is of a file, which is looked into anew.
    return len(entry) == 1 or entry[1] is None


def _forget(file: str) -> None:
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


def _lines_of(file: str, is_there: bool) -> list[str]:
    came: dict[int, str] = {}
    for first, text, fills in sorted(_texts_of(file), key=lambda found: found[2]):
        for number, line in enumerate(text.removesuffix("\n").split("\n"), first):
            if number not in came or (fills and not came[number].strip()):
                came[number] = f"{line}\n"
    lines = _read(file) if is_there else []
    lines += ["\n"] * (max(came, default=0) - len(lines))
    for number, line in came.items():
        text = line.strip()
        # A lambda is part of a line.
        if not text or not lines[number - 1].startswith(text, line.index(text)):
            lines[number - 1] = line
    if not is_there:
        # What is not known ends the block, as inspect sees it.
        for number in came:
            if number + 1 not in came:
                lines[number : number + 1] = [_UNKNOWN]
    return lines


def _texts_of(file: str) -> list[tuple[int, str, bool]]:
    """(first line, text, whether it is shown where nothing else is: annotations alone)
    of each unit whose code came from a file, the latest first."""
    from waybill._source.units import ANNOTATE, CLASS_ANNOTATE, LAMBDA, Unit

    found = []
    for entry in reversed(list(CAME.values())):
        code = entry[0]()
        if code is None or code.co_filename != file:
            continue
        unit, line = Unit(*entry[1]), entry[2]
        text = unit.text
        if unit.kind == ANNOTATE:  # The header alone is the function's own.
            text = text.removesuffix("pass")
        elif unit.kind == CLASS_ANNOTATE:
            line += 0 if unit.column else 1
        else:
            line += unit.lines
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
