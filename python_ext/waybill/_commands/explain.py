"""``python -m waybill explain MODULE:QUALNAME``: the parts of an object's payload, and
those of its parts that cannot be sent."""

from __future__ import annotations

import argparse
import os
from typing import Any

import waybill
from waybill import _commands as cli
from waybill._commands import output
from waybill._commands.progress import Progress
from waybill._core import printable_text

TOP = 10


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("--html", metavar="FILE")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--top", metavar="N", type=int, default=TOP)
    parser.add_argument("--no-colours", action="store_true")


def find_usage_error(options: argparse.Namespace) -> str | None:
    """The error in the options; None if there is none."""
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
        return (
            f"{options.target!r} exists only during a call; name the enclosing function"
        )
    return None


def run(options: argparse.Namespace) -> int:
    api: Any = waybill
    if options.no_colours:
        os.environ["NO_COLOR"] = "1"  # Also for imported modules.
    cli.add_current_folder()
    try:  # Importing a module can do anything, and so can methods of its objects.
        with cli.redirect_other_output(), Progress(2) as progress:
            found = cli.find_object(options.target)
            progress.step(f"objects of {options.target}")

            def show_count(objects: int, _: int) -> None:
                progress.show(f"{objects} objects of {options.target}")

            explanation = api.explain(found, progress=show_count)
            progress.step("imports")
            explanation.imports  # Searches for missing modules.
        if options.json:
            text = explanation.to_json()
        elif options.top != TOP:
            text = explanation.to_text(top=options.top)
        else:
            text = str(explanation)  # In colours if stdout itself is a terminal.
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        cli.report_failure("raised", cli.describe(error), options.json)
        return cli.RAISED_IN_PYTHON
    if options.html is not None:
        try:
            explanation.to_html(options.html)
        except OSError as error:
            detail = f"{printable_text(options.html)}: {error.strerror}"
            cli.report_failure("unreadable", detail, options.json)
            return cli.UNREADABLE
    output.write(text.rstrip("\n"))
    return cli.FINE
