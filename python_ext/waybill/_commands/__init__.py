"""The commands that need Python: one file each, listed in waybill/__main__.py.

docs/cli.md describes them. ``waybill discover`` and ``waybill run`` become these.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import traceback
from collections.abc import Iterator
from typing import NoReturn

# The exit codes of docs/cli.md that Python has a say in.
FINE, USAGE, UNREADABLE, REFUSED, BAD_SIGNATURE, RAISED_IN_PYTHON = range(6)


class Parser(argparse.ArgumentParser):
    """Ends with the exit code that docs/cli.md gives to a misunderstanding."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{self.prog}: {message}\n")


def complain(message: str) -> None:
    print(f"waybill: {message}", file=sys.stderr)


def describe(error: BaseException) -> str:
    """The type and message of an error, in one line."""
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:  # Of a class that somebody else wrote.
        text = "<no message: its __str__ raised>"
    return f"{name}: {' '.join(text.split())}" if text else name


def format_traceback(error: BaseException) -> str:
    """As Python prints it, without the frames of the command itself."""
    own = os.path.dirname(__file__)
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith(own):
        frames = frames.tb_next
    try:
        return "".join(traceback.format_exception(type(error), error, frames))
    except Exception:  # Where attributes of the error raise.
        return f"{type(error).__name__}\n"


def bold(line: str) -> str:
    """For terminals that want colours (no-color.org)."""
    wants = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return f"\033[1m{line}\033[0m" if wants else line


@contextlib.contextmanager
def stdout_is_ours() -> Iterator[None]:
    """What foreign code prints goes to stderr: stdout holds the answer alone."""
    with contextlib.redirect_stdout(sys.stderr):
        yield
