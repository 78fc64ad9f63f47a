"""Where a command answers, whatever the code that it runs does to stdout.

``open_streams`` comes before that code runs, ``write`` and ``flush`` afterwards. What
these raise is OSError: stdout is closed or full, or nobody reads it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO

_stream: TextIO | None = None


def open_streams(alone: bool) -> None:
    """Takes hold of stdout.

    ``alone``: stdout holds the answer and nothing else. What anybody writes to it goes
    to stderr until the process ends, also from programs that are started, threads and
    functions called at exit.
    """
    global _stream
    _fill_gaps()
    number = os.dup(1)
    if alone:
        os.dup2(2, 1)
        sys.stdout = sys.stderr
    # Names in other alphabets, where stdout has no words for them.
    encoding = sys.stdout.encoding
    _stream = os.fdopen(number, "w", encoding=encoding, errors="backslashreplace")


def _fill_gaps() -> None:
    """Standard streams that are closed; else what is opened next would become one.

    Writing to stdout fails then, as it should: what was asked for is lost. Who closes
    stderr wants no complaints.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            flags = os.O_WRONLY if number == 2 else os.O_RDONLY
            gap = os.open(os.devnull, flags)  # The lowest number there is.
            made = os.fdopen(gap, "w" if number else "r", closefd=False)
            setattr(sys, name, made)
            setattr(sys, f"__{name}__", made)


def write(text: str) -> None:
    """A line or more of the answer, behind what was printed before."""
    flush()
    assert _stream is not None, "open_streams() comes first"
    _stream.write(f"{text}\n")
    _stream.flush()


def remark(text: str) -> None:
    """On stderr. Who closes that or has no room there wants no remarks."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        # Else Python fails at exit, on what is left in the buffer.
        nowhere = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
        if sys.stdout is sys.stderr:
            sys.stdout = nowhere
        sys.stderr = nowhere


def is_terminal() -> bool:
    return _stream is not None and _stream.isatty()


def flush() -> None:
    """What foreign code has printed goes out."""
    with contextlib.suppress(AttributeError, ValueError):  # Gone, or closed.
        sys.stdout.flush()


def give_up() -> None:
    """What is left in buffers goes nowhere, without a word at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    if _stream is not None:
        os.dup2(nowhere, _stream.fileno())
