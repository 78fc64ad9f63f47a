"""What `waybill verify --source` becomes, once it has checked all else: compares source
with bytecode. Reads the head of the payload, which was checked, from stdin."""

from __future__ import annotations

import argparse
import json
import sys

import waybill
from waybill._commands import (
    DIFFERENT,
    FINE,
    UNREADABLE,
    answer,
    printable,
    tell_refusal,
)
from waybill._source.source_check import SourceCheck, check_sources

SUMMARY = "compare the source in a payload with its bytecode"


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sound",
        metavar="TEXT",
        required=True,
        help="what was told of the payload by then, as text or as JSON",
    )
    parser.add_argument("--json", action="store_true", help="write one JSON object")


def as_text(sound: str, compared: list[SourceCheck], wrong: list[SourceCheck]) -> str:
    count = len(compared)
    functions = "1 function" if count == 1 else f"{count} functions"
    if not wrong:
        verb = "does" if count == 1 else "do"
        return f"{sound}\nsource: {functions} {verb} what the text says"
    lines = [sound, f"source: {len(wrong)} of {functions} not proven by the text"]
    lines += [
        printable(f"  {one.function} ({one.file}:{one.line}): {one.problem}")
        for one in wrong
    ]
    return "\n".join(lines)


def as_json(sound: str, compared: list[SourceCheck], wrong: list[SourceCheck]) -> str:
    told = json.loads(sound)
    told["ok"] = not wrong
    told["source"] = {
        "functions": len(compared),
        "problems": [one._asdict() for one in wrong],
    }
    return json.dumps(told, indent=2)


def run(options: argparse.Namespace) -> int:
    try:
        compared = check_sources(sys.stdin.buffer.read())
    except waybill.DecodeError as error:
        tell_refusal(error, options.json)
        return UNREADABLE
    wrong = [one for one in compared if one.problem is not None]
    lay_out = as_json if options.json else as_text
    answer.write(lay_out(options.sound, compared, wrong))
    return DIFFERENT if wrong else FINE
