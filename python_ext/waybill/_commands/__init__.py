"""The commands that need Python: one file each, listed in waybill/__main__.py.

docs/cli.md describes them. ``waybill discover``, ``explain``, ``run`` and
``verify --source`` become these.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import operator
import os
import sys
import traceback
from collections.abc import Iterator
from typing import NoReturn

import waybill
from waybill._commands import answer

# The exit codes of docs/cli.md that Python has a say in.
FINE, USAGE, UNREADABLE, REFUSED, BAD_SIGNATURE, RAISED_IN_PYTHON, DIFFERENT = range(7)


class Parser(argparse.ArgumentParser):
    """Ends with the exit code that docs/cli.md gives to a misunderstanding."""

    def error(self, message: str) -> NoReturn:
        tell_failure("usage", f"{message}; try --help", "--json" in sys.argv)
        sys.exit(USAGE)


#: What Unicode's Default_Ignorable_Code_Point adds to what str.isprintable() knows.
_UNSEEN = frozenset(
    map(
        chr,
        [
            *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0xFE00, 0xFE10),
            *range(0xE0000, 0xE1000),
        ],
    )
)


def printable(text: str) -> str:
    """Text that strangers wrote, with what would steer a terminal, or is not seen,
    escaped."""
    if text.isprintable() and _UNSEEN.isdisjoint(text):
        return text
    return "".join(
        c
        if c.isprintable() and c not in _UNSEEN
        else c.encode("unicode_escape").decode()
        for c in text
    )


def complain(message: str) -> None:
    answer.remark(f"waybill: {printable(message)}\n")


def print_failure(**told: object) -> None:
    """What went wrong as JSON, in the shape that all commands give it."""
    import json

    answer.write(json.dumps({"ok": False, "error": told}, indent=2))


def tell_failure(code: str, detail: str, as_json_too: bool) -> None:
    """What went wrong, in one line and as JSON."""
    complain(detail)
    if as_json_too:
        print_failure(code=code, detail=detail)


def tell_refusal(error: waybill.DecodeError, as_json_too: bool) -> None:
    """What is wrong with a payload, likewise: with code and byte."""
    told: dict[str, object] = {"code": error.code}
    start = error.code
    if error.code != "bad_key":  # Which stands in no payload.
        told["offset"] = error.offset
        start += f" at byte {error.offset}"
    told["detail"] = str(error).removeprefix(f"{start}: ")
    complain(str(error))
    if as_json_too:
        print_failure(**told)


def message_of(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # Of a class that somebody else wrote.
        return "<no message: its __str__ raised>"


def describe(error: BaseException) -> str:
    """The type and message of an error, in one line, escaped."""
    name = printable(type(error).__name__)
    text = message_of(error)
    return f"{name}: {printable(' '.join(text.split()))}" if text else name


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


def find_modules_beside() -> None:
    """Lets modules of the current folder be found, behind all others.

    The ``waybill`` command starts Python without that folder: what lies there should
    not take the place of a module of waybill's or Python's. For code that the user
    asked to import or call alone; who sets PYTHONSAFEPATH wants none of it.
    """
    if os.environ.get("PYTHONSAFEPATH"):
        return
    with contextlib.suppress(OSError):  # A folder that is gone.
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())


def find(target: str) -> object:
    """The object that MODULE:QUALNAME means; imports the module."""
    module, _, path = target.partition(":")
    return operator.attrgetter(path)(importlib.import_module(module))


def bold(line: str) -> str:
    """For terminals that want colours (no-color.org)."""
    asked = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    wants = answer.is_terminal() and not asked
    return f"\033[1m{line}\033[0m" if wants else line


@contextlib.contextmanager
def stdout_is_ours() -> Iterator[None]:
    """What foreign code prints goes to stderr: stdout is for the answer."""
    with contextlib.redirect_stdout(sys.stderr):
        yield
