"""The commands that need Python, one module for each; waybill/__main__.py lists them.

``waybill discover``, ``explain``, ``run`` and ``verify --source`` start them.
docs/cli.md describes them.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import operator
import os
import sys
import traceback
from typing import NoReturn

import waybill
from waybill._commands import output
from waybill._core import printable_text

# The exit codes of docs/cli.md that these commands use.
FINE, USAGE, UNREADABLE, REFUSED, BAD_SIGNATURE, RAISED_IN_PYTHON, DIFFERENT = range(7)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors have the form and exit code of docs/cli.md."""

    def error(self, message: str) -> NoReturn:
        report_failure("usage", f"{message}; try --help", "--json" in sys.argv)
        sys.exit(USAGE)


def print_error(message: str) -> None:
    """Writes one line to stderr."""
    output.write_error(f"waybill: {printable_text(message)}\n")


def print_failure(**fields: object) -> None:
    """Prints a failure as JSON, in the form that all commands use."""
    import json

    output.write(json.dumps({"ok": False, "error": fields}, indent=2))


def report_failure(code: str, detail: str, as_json_too: bool) -> None:
    """Reports a failure in one line on stderr, and as JSON if asked for."""
    print_error(detail)
    if as_json_too:
        print_failure(code=code, detail=detail)


def report_refusal(error: waybill.DecodeError, as_json_too: bool) -> None:
    """Reports a refused payload like `report_failure`, with code and byte offset."""
    fields: dict[str, object] = {"code": error.code}
    start = error.code
    if error.code != "bad_key":  # A key has no place in the payload.
        fields["offset"] = error.offset
        start += f" at byte {error.offset}"
    fields["detail"] = str(error).removeprefix(f"{start}: ")
    print_error(str(error))
    if as_json_too:
        print_failure(**fields)


def message_of(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # A class of the program may raise anything.
        return "<no message: its __str__ raised>"


def describe(error: BaseException) -> str:
    """The type and message of an error, in one line, escaped."""
    name = printable_text(type(error).__name__)
    text = message_of(error)
    return f"{name}: {printable_text(' '.join(text.split()))}" if text else name


def format_traceback(error: BaseException) -> str:
    """The traceback as Python prints it, without the frames of the command."""
    own = os.path.dirname(__file__)
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith(own):
        frames = frames.tb_next
    try:
        return "".join(traceback.format_exception(type(error), error, frames))
    except Exception:  # Attributes of the error may raise.
        return f"{type(error).__name__}\n"


def add_current_folder() -> None:
    """Appends the current folder to the search path of modules.

    The ``waybill`` command starts Python without it, so that no file there replaces a
    module of waybill or Python. Called only before code is imported or called at the
    user's request; does nothing if PYTHONSAFEPATH is set.
    """
    if os.environ.get("PYTHONSAFEPATH"):
        return
    with contextlib.suppress(OSError):  # The folder was removed.
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())


def find_object(target: str) -> object:
    """The object that MODULE:QUALNAME names; imports the module."""
    module, _, path = target.partition(":")
    return operator.attrgetter(path)(importlib.import_module(module))


def bold(line: str) -> str:
    """A line in bold if stdout is a terminal that wants colours (no-color.org)."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    is_bold = output.is_terminal() and not is_plain
    return f"\033[1m{line}\033[0m" if is_bold else line


def redirect_other_output() -> contextlib.AbstractContextManager[object]:
    """Sends output of other code to stderr: stdout is for the result."""
    return contextlib.redirect_stdout(sys.stderr)
