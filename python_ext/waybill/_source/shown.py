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

MAX_FILES = 256
MAX_BYTES = 16 << 20
MAX_LINES = 200_000

#: Lines by number, and the entry that was made of them, by name of the file; the one
#: that was used last comes last.
_shown: dict[str, tuple[dict[int, str], tuple[int, None, list[str], str]]] = {}


def show(file: str, first_line: int, text: str) -> bool:
    """Shows a text as the lines of a file from one on; False if it does not.

    Several texts of one file are shown together; where they overlap the last one wins.
    """
    if not _is_ours_to_show(file):
        return False
    added = text.split("\n")
    if not added[-1]:
        del added[-1]
    if first_line < 1 or first_line + len(added) > MAX_LINES or len(text) > MAX_BYTES:
        return False
    kept = _shown.get(file)
    lines = {} if kept is None else dict(kept[0])
    new = dict(enumerate((f"{line}\n" for line in added), first_line))
    if kept is not None and new.items() <= lines.items() and _is_there(file, kept[1]):
        return True
    lines.update(new)
    whole = [lines.get(number, "\n") for number in range(1, max(lines) + 1)]
    entry = (sum(map(len, whole)), None, whole, file)
    _shown.pop(file, None)
    _shown[file] = lines, entry
    linecache.cache[file] = entry
    _forget_oldest()
    return True


def forget_all() -> None:
    """Takes back what was shown."""
    for file in list(_shown):
        _forget(file)


def _is_ours_to_show(file: str) -> bool:
    entry = linecache.cache.get(file)
    if entry is not None:
        kept = _shown.get(file)
        return kept is not None and kept[1] is entry and not os.path.exists(file)
    # What the interpreter names so is of many texts.
    if not file or file in ("<string>", "<stdin>", "<unknown>"):
        return False
    return not os.path.exists(file)


def _is_there(file: str, entry: object) -> bool:
    return linecache.cache.get(file) is entry


def _forget_oldest() -> None:
    used = sum(entry[0] + 64 * len(entry[2]) for _, entry in list(_shown.values()))
    while len(_shown) > 1 and (len(_shown) > MAX_FILES or used > MAX_BYTES):
        oldest = next(iter(_shown))
        entry = _shown[oldest][1]
        used -= entry[0] + 64 * len(entry[2])
        _forget(oldest)


def _forget(file: str) -> None:
    kept = _shown.pop(file, None)
    if kept is not None and _is_there(file, kept[1]):
        linecache.cache.pop(file, None)
