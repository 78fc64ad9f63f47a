"""``python -m waybill``: the commands that need Python.

``waybill discover`` and ``waybill run``, the commands, become these; docs/cli.md
describes both.
"""

from __future__ import annotations

import sys

from waybill import __version__
from waybill._commands import Parser, discover, run

COMMANDS = {"discover": discover, "run": run}


def parser() -> Parser:
    result = Parser(
        prog="python -m waybill",
        description="Says what Python functions need, and runs payloads.",
    )
    result.add_argument("--version", action="version", version=f"waybill {__version__}")
    commands = result.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        module.declare(commands.add_parser(name, help=module.SUMMARY))
    return result


def main(arguments: list[str] | None = None) -> int:
    options_parser = parser()
    options = options_parser.parse_args(arguments)
    if options.command == "discover":
        wrong = discover.misunderstanding(options)
        if wrong is not None:
            options_parser.error(wrong)
    code: int = COMMANDS[options.command].run(options)
    return code


if __name__ == "__main__":
    sys.exit(main())
