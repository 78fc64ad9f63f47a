"""``python -m waybill``: the commands that need Python.

The ``waybill`` command runs it for ``discover``, ``run``, ``explain`` of an object and
``verify`` with a comparison of source; docs/cli.md describes them.
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


def make_parser() -> Parser:
    result = Parser(
        prog="python -m waybill",
        description="Says what Python functions need, and runs payloads.",
        allow_abbrev=False,  # main() searches sys.argv for the full name --json.
    )
    result.add_argument("--version", action="version", version=f"waybill {__version__}")
    commands = result.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        command = commands.add_parser(name, help=module.SUMMARY, allow_abbrev=False)
        module.declare(command)
    return result


def run_command() -> int:
    parser = make_parser()
    try:
        options = parser.parse_args()
    finally:
        answer.flush()  # The output of --help and --version.
    if options.command in ("discover", "explain"):
        wrong = COMMANDS[options.command].misunderstanding(options)
        if wrong is not None:
            parser.error(wrong)
    sys.argv = [""]  # The arguments are not for the code that is to run.
    code: int = COMMANDS[options.command].run(options)
    answer.flush()
    return code


def end_by(number: int) -> NoReturn:
    """Ends the process by a signal, as shells expect of a program without a handler."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    raise AssertionError(f"signal {number} is blocked")


def main() -> int:
    answer.open_streams(alone="--json" in sys.argv)
    try:
        return run_command()
    except KeyboardInterrupt:
        end_by(signal.SIGINT)
    except BrokenPipeError:  # As with `| head`.
        end_by(signal.SIGPIPE)
    except OSError as error:  # Only of writing the answer: others are caught before.
        answer.give_up()
        complain(f"stdout: {error.strerror}")
        return UNREADABLE


if __name__ == "__main__":
    sys.exit(main())
