"""``python -m waybill discover MODULE:QUALNAME``: which modules a function needs.

``waybill discover``, the command, becomes this; docs/cli.md describes both.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import types
from typing import NoReturn

import waybill

# The exit codes of docs/cli.md that Python has a say in.
FINE, USAGE, RAISED_IN_PYTHON = 0, 1, 5

COLUMNS = ("module", "when", "chain", "function", "where")


class Parser(argparse.ArgumentParser):
    """Ends with the exit code that docs/cli.md gives to a misunderstanding."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{self.prog}: {message}\n")


def parser() -> Parser:
    result = Parser(
        prog="python -m waybill", description="Says what Python functions need."
    )
    commands = result.add_subparsers(dest="command", required=True)
    discover = commands.add_parser(
        "discover", help="show which modules a function needs, and why"
    )
    discover.add_argument(
        "target", metavar="MODULE:QUALNAME", help="e.g. json:JSONDecoder.decode"
    )
    discover.add_argument("--json", action="store_true", help="write a JSON array")
    return result


def find(target: str) -> object:
    """The object that MODULE:QUALNAME means; imports the module."""
    module, _, path = target.partition(":")
    found: object = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    # A method taken from its class or instance: the function is what has code.
    return found.__func__ if isinstance(found, types.MethodType) else found


def as_json(records: tuple[waybill.ImportRecord, ...]) -> str:
    """The records as ``waybill inspect --json`` has them: null where unknown."""
    import json

    rows = [{k: v or None for k, v in r._asdict().items()} for r in records]
    return json.dumps(rows, indent=2)


def as_table(records: tuple[waybill.ImportRecord, ...]) -> list[str]:
    """Lines of aligned columns; the last one is as long as it is."""
    rows = [COLUMNS]
    for record in records:
        where = f"{record.file}:{record.line}" if record.file else "-"
        function = record.function or "-"
        rows.append((record.module, record.time, record.chain, function, where))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths[-1] = 0
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def print_records(records: tuple[waybill.ImportRecord, ...], target: str) -> None:
    if not records:
        print(f"{target} needs no imports")
        return
    head, *lines = as_table(records)
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        head = f"\033[1m{head}\033[0m"
    print(head, *lines, sep="\n")


def main(arguments: list[str] | None = None) -> int:
    options_parser = parser()
    options = options_parser.parse_args(arguments)
    module, colon, path = options.target.partition(":")
    if not (module and colon and path) or module.startswith("."):
        options_parser.error(f"{options.target!r} is not of the form MODULE:QUALNAME")
    try:
        records = waybill.imports(find(options.target), by_value=True)
    except (Exception, SystemExit) as error:  # Importing a module can do anything.
        print(f"waybill: {type(error).__name__}: {error}", file=sys.stderr)
        return RAISED_IN_PYTHON
    if options.json:
        print(as_json(records))
    else:
        print_records(records, options.target)
    return FINE


if __name__ == "__main__":
    sys.exit(main())
