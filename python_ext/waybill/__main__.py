"""``python -m waybill``: the commands that need Python.

``waybill discover``, ``waybill run``, of an object ``waybill explain`` and, to compare
source, ``waybill verify`` become these; docs/cli.md describes them.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

from waybill import __version__
from waybill._commands import (
    UNREADABLE,
    Parser,
    answer,
    complain,
    discover,
    explain,
    run,
    verify,
)

COMMANDS = {"discover": discover, "explain": explain, "run": run, "verify": verify}


def parser() -> Parser:
    result = Parser(
        prog="python -m waybill",
        description="Says what Python functions need, and runs payloads.",
        allow_abbrev=False,  # Whether there is a --json is asked by its name.
    )
    result.add_argument("--version", action="version", version=f"waybill {__version__}")
    commands = result.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        command = commands.add_parser(name, help=module.SUMMARY, allow_abbrev=False)
        module.declare(command)
    return result


def carry_out() -> int:
    options_parser = parser()
    try:
        options = options_parser.parse_args()
    finally:
        answer.flush()  # What --help and --version print.
    if options.command in ("discover", "explain"):
        wrong = COMMANDS[options.command].misunderstanding(options)
        if wrong is not None:
            options_parser.error(wrong)
    sys.argv = [""]  # These words are not for the code that is to run.
    code: int = COMMANDS[options.command].run(options)
    answer.flush()
    return code


def end_by(number: int) -> NoReturn:
    """As programs end that do not mind the signal: shells and pipes ask for that."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    raise AssertionError(f"signal {number} is blocked")


def main() -> int:
    answer.open_streams(alone="--json" in sys.argv)
    try:
        return carry_out()
    except KeyboardInterrupt:
        end_by(signal.SIGINT)
    except BrokenPipeError:  # As of `| head`.
        end_by(signal.SIGPIPE)
    except OSError as error:  # Of our own writing: the rest is caught before.
        answer.give_up()
        complain(f"stdout: {error.strerror}")
        return UNREADABLE


if __name__ == "__main__":
    sys.exit(main())
