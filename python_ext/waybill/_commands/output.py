"""The output of a command, kept apart from the output of the code that it runs.

``open_streams`` is called before that code runs, ``write`` and ``flush`` afterwards.
They raise OSError if stdout is closed or full, or if its reader is gone.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO

_stream: TextIO | None = None


def open_streams(alone: bool) -> None:
    """Takes over stdout for the output of the command.

    ``alone``: stdout gets this output and nothing else. All other writes to it go to
    stderr until the process ends, also those of subprocesses, threads and functions
    called at exit.
    """
    global _stream
    _fill_gaps()
    number = os.dup(1)
    if alone:
        os.dup2(2, 1)
        sys.stdout = sys.stderr
    # Characters that the encoding of stdout lacks are escaped.
    encoding = sys.stdout.encoding
    _stream = os.fdopen(number, "w", encoding=encoding, errors="backslashreplace")


def _fill_gaps() -> None:
    """Opens standard streams that are closed; else the next file would become one.

    Writing to a stdout that was closed fails, since the output would be lost. Messages
    for a stderr that was closed are discarded.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            flags = os.O_WRONLY if number == 2 else os.O_RDONLY
            gap = os.open(os.devnull, flags)  # Gets the lowest free number.
            stream = os.fdopen(gap, "w" if number else "r", closefd=False)
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def write(text: str) -> None:
    """Writes lines of the result, after all earlier output."""
    flush()
    assert _stream is not None, "open_streams() must be called first"
    _stream.write(f"{text}\n")
    _stream.flush()


def write_error(text: str) -> None:
    """Writes to stderr. If that is closed or full, the text is discarded."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        # Python would fail at exit on text that is left in the buffer.
        nowhere = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
        if sys.stdout is sys.stderr:
            sys.stdout = nowhere
        sys.stderr = nowhere


def is_terminal() -> bool:
    return _stream is not None and _stream.isatty()


def flush() -> None:
    """Flushes output of other code."""
    with contextlib.suppress(AttributeError, ValueError):  # Replaced, or closed.
        sys.stdout.flush()


def discard_rest() -> None:
    """Discards buffered output, so that no error is shown at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    if _stream is not None:
        os.dup2(nowhere, _stream.fileno())
