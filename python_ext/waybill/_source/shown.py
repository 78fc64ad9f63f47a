"""Lets tracebacks, ``inspect.getsource`` and debuggers show source whose file is not on
this machine.

The text of units goes into linecache under the names of their files, each at its own
lines, blank lines between. A file that is there, or an entry that others made, is left
alone. linecache drops what it believes to be out of date by the time of the file; what
has no time is kept.

Tested by tests/python/source/test_shown.py.
"""

from __future__ import annotations

import linecache
import os

from waybill._source.files import ShownLines
from waybill._source.units import ANNOTATE, CLASS_ANNOTATE, LAMBDA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from waybill._source.units import Unit

    #: As linecache keeps it: size, time, lines, name.
    Entry: TypeAlias = tuple[int, None, ShownLines, str]

MAX_FILES = 256
MAX_BYTES = 16 << 20
MAX_LINES = 100_000
_BYTES_OF_A_LINE = 64
_UNKNOWN = "...\n"

#: Entries that were made here, the latest last.
_shown: dict[str, Entry] = {}
#: How many bytes each has, about.
_sizes: dict[str, int] = {}


def show_unit(file: str, first_line: int, unit: Unit) -> bool:
    """Shows the text of a unit whose code begins at a line."""
    if unit.kind == ANNOTATE:  # The header alone is the function's own.
        return show(file, first_line, unit.text.removesuffix("pass"), over=False)
    if unit.kind == CLASS_ANNOTATE:
        below = 0 if unit.column else 1
        return show(file, first_line + below, unit.text, over=False)
    indent = " " * unit.column if unit.kind == LAMBDA else ""
    return bool(unit.text) and show(file, first_line + unit.lines, indent + unit.text)


def show(file: str, first_line: int, text: str, over: bool = True) -> bool:
    """Shows a text as the lines of a file from one on; False if it does not.

    Several texts of one file are shown together; where they overlap the last one wins,
    or the first one if this is not to be ``over`` others.
    """
    if not _may_show(file):
        return False
    added = [f"{line}\n" for line in text.removesuffix("\n").split("\n")]
    last = first_line + len(added) - 1
    if first_line < 1 or last > MAX_LINES or len(text) > MAX_BYTES // 2:
        return False
    entry = _shown.pop(file, None)
    if entry is None or linecache.cache.get(file) is not entry:
        entry = 0, None, ShownLines(), file
        _sizes[file] = 0
    lines = entry[2]
    if lines[first_line - 1 : last] == added:
        _shown[file] = entry
        return True
    if not over:
        there = lines[first_line - 1 : last]
        for at, line in enumerate(there):
            if line.strip() and line != _UNKNOWN:
                added[at] = line
    missing = last - len(lines)
    lines.extend(["\n"] * missing)
    lines[first_line - 1 : last] = added
    # What is not known ends the block, as inspect sees it.
    if last == len(lines):
        lines.append(_UNKNOWN)
    elif lines[last] == "\n":
        lines[last] = _UNKNOWN
    # What is replaced is counted on: less is kept then, and never more.
    _sizes[file] += len(text) + max(missing, 0) * _BYTES_OF_A_LINE
    _shown[file] = linecache.cache[file] = entry
    _forget_oldest()
    return True


def forget_all() -> None:
    """Takes back what was shown."""
    for file in list(_shown):
        _forget(file)


def _may_show(file: str) -> bool:
    # What the interpreter names so is many texts.
    if file in ("", "<string>", "<stdin>", "<unknown>"):
        return False
    there = linecache.cache.get(file)
    is_of_others = there is not None and there is not _shown.get(file)
    return not is_of_others and not os.path.exists(file)


def _forget_oldest() -> None:
    used = sum(list(_sizes.values()))
    while len(_shown) > 1 and (len(_shown) > MAX_FILES or used > MAX_BYTES):
        try:
            oldest = next(iter(_shown))
        except (RuntimeError, StopIteration):  # Another thread is at it.
            continue
        used -= _sizes.get(oldest, 0)
        _forget(oldest)
    if used > MAX_BYTES:
        forget_all()


def _forget(file: str) -> None:
    entry = _shown.pop(file, None)
    _sizes.pop(file, None)
    if entry is not None and linecache.cache.get(file) is entry:
        linecache.cache.pop(file, None)
