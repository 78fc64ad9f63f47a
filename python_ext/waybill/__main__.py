"""``python -m waybill``: the commands that need Python.

``waybill discover``, ``waybill run``, ``waybill explain`` for an object and ``waybill
verify --source`` start these; docs/cli.md describes them.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

from waybill import __version__
from waybill import _commands as cli
from waybill._commands import discover, explain, output, run, verify

COMMANDS = {"discover": discover, "explain": explain, "run": run, "verify": verify}


def make_parser() -> cli.Parser:
    result = cli.Parser(
        prog="python -m waybill",
        epilog="`waybill --help` describes the commands.",
        allow_abbrev=False,  # main() looks for --json in full.
    )
    result.add_argument("--version", action="version", version=f"waybill {__version__}")
    commands = result.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        # The waybill command declares the same options in src/cli, with their texts.
        about = f"`waybill {name} --help` describes the options."
        module.declare(commands.add_parser(name, epilog=about, allow_abbrev=False))
    return result


def run_command() -> int:
    parser = make_parser()
    try:
        options = parser.parse_args()
    finally:
        output.flush()  # The text of --help and --version.
    if options.command in ("discover", "explain"):
        wrong = COMMANDS[options.command].find_usage_error(options)
        if wrong is not None:
            parser.error(wrong)
    sys.argv = [""]  # The code that runs must not see these arguments.
    code: int = COMMANDS[options.command].run(options)
    output.flush()
    return code


def end_by(number: int) -> NoReturn:
    """Ends the process by a signal, as shells and pipes expect of it."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    raise AssertionError(f"signal {number} is blocked")


def main() -> int:
    output.open_streams(alone="--json" in sys.argv)
    try:
        return run_command()
    except KeyboardInterrupt:
        end_by(signal.SIGINT)
    except BrokenPipeError:  # For example by `| head`.
        end_by(signal.SIGPIPE)
    except OSError as error:  # The result cannot be written.
        output.discard_rest()
        cli.print_error(f"stdout: {error.strerror}")
        return cli.UNREADABLE


if __name__ == "__main__":
    sys.exit(main())
