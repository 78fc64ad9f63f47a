"""``waybill verify --source`` starts this after its other checks: compares source with
bytecode. Reads the head of the payload, already verified, from stdin."""

from __future__ import annotations

import argparse
import json
import sys

import waybill
from waybill._commands import DIFFERENT, FINE, UNREADABLE, output, report_refusal
from waybill._core import printable_text
from waybill._source.source_check import SourceCheck, check_sources


def declare(parser: argparse.ArgumentParser) -> None:
    # The result of the checks of the waybill command, as text or JSON.
    parser.add_argument("--sound", metavar="TEXT", required=True)
    parser.add_argument("--json", action="store_true")


def as_text(sound: str, checks: list[SourceCheck], wrong: list[SourceCheck]) -> str:
    count = len(checks)
    functions = "1 function" if count == 1 else f"{count} functions"
    if not wrong:
        verb = "does" if count == 1 else "do"
        return f"{sound}\nsource: {functions} {verb} what the text says"
    lines = [sound, f"source: {len(wrong)} of {functions} not proven by the text"]
    lines += [
        printable_text(
            f"  {check.function} ({check.file}:{check.line}): {check.problem}"
        )
        for check in wrong
    ]
    return "\n".join(lines)


def as_json(sound: str, checks: list[SourceCheck], wrong: list[SourceCheck]) -> str:
    report = json.loads(sound)
    report["ok"] = not wrong
    report["source"] = {
        "functions": len(checks),
        "problems": [check._asdict() for check in wrong],
    }
    return json.dumps(report, indent=2)


def run(options: argparse.Namespace) -> int:
    try:
        checks = check_sources(sys.stdin.buffer.read())
    except waybill.DecodeError as error:
        report_refusal(error, options.json)
        return UNREADABLE
    wrong = [check for check in checks if check.problem is not None]
    lay_out = as_json if options.json else as_text
    output.write(lay_out(options.sound, checks, wrong))
    return DIFFERENT if wrong else FINE
