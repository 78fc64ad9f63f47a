"""``python -m waybill explain MODULE:QUALNAME``: what an object is made of as a
payload, and what in it cannot travel."""

from __future__ import annotations

import argparse
import os
from typing import Any

import waybill
from waybill._commands import (
    FINE,
    RAISED_IN_PYTHON,
    UNREADABLE,
    answer,
    describe,
    find,
    find_modules_beside,
    printable,
    stdout_is_ours,
    tell_failure,
)
from waybill._commands.progress import Progress

SUMMARY = "tell which objects bring how many bytes, and what cannot travel"

TOP = 10


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", metavar="TARGET", help="MODULE:QUALNAME, e.g. job:task"
    )
    parser.add_argument(
        "--html", metavar="FILE", help="write a page for a browser to this file"
    )
    parser.add_argument("--json", action="store_true", help="write one JSON object")
    parser.add_argument(
        "--top",
        metavar="N",
        type=int,
        default=TOP,
        help=f"parts and imports to show; default {TOP}",
    )
    parser.add_argument(
        "--no-colours", action="store_true", help="no colours, on terminals too"
    )


def misunderstanding(options: argparse.Namespace) -> str | None:
    """What is wrong with the options; None if nothing is."""
    if options.html in ("", "-"):
        return "--html needs the name of a file"
    if options.top < 0:
        return "--top should not be negative"
    module, _, path = options.target.partition(":")
    if not module or module.startswith(".") or not path:
        return (
            f"{options.target!r} is not MODULE:QUALNAME; `waybill explain` itself"
            " takes files"
        )
    if "<locals>" in path:
        return f"{options.target!r} is there while it runs; name the function around it"
    return None


def run(options: argparse.Namespace) -> int:
    api: Any = waybill
    if options.no_colours:
        os.environ["NO_COLOR"] = "1"  # For modules that are imported too.
    find_modules_beside()
    try:  # Importing a module can do anything, and so can what objects say of them.
        with stdout_is_ours(), Progress(2) as progress:
            found = find(options.target)
            progress.step(f"objects of {options.target}")

            def tell(objects: int, _: int) -> None:
                progress.show(f"{objects} objects of {options.target}")

            explanation = api.explain(found, progress=tell)
            progress.step("imports")
            explanation.imports  # Looks for those that are missing.
        if options.json:
            told = explanation.to_json()
        elif options.top != TOP:
            told = explanation.to_text(top=options.top)
        else:
            told = str(explanation)  # In colours if stdout itself is a terminal.
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        tell_failure("raised", describe(error), options.json)
        return RAISED_IN_PYTHON
    if options.html is not None:
        try:
            explanation.to_html(options.html)
        except OSError as error:
            detail = f"{printable(options.html)}: {error.strerror}"
            tell_failure("unreadable", detail, options.json)
            return UNREADABLE
    answer.write(told.rstrip("\n"))
    return FINE
