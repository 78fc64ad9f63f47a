"""``python -m waybill discover TARGET``: the modules that code needs, and why."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

import waybill
from waybill import _commands as cli
from waybill._commands import output, sources
from waybill._commands import survey as surveys
from waybill._commands.functions import function_behind

RECORD_COLUMNS = ("module", "when", "chain", "function", "where")
NEED_COLUMNS = ("module", "when", "functions", "first place")


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", nargs="?")
    parser.add_argument("--package", metavar="NAME")
    parser.add_argument("--static", action="store_true")
    parser.add_argument("--import", action="store_true", dest="imports")
    parser.add_argument("--skip", metavar="PATTERN", action="append", default=[])
    parser.add_argument("--items", metavar="N", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-colours", action="store_true")


def find_usage_error(options: argparse.Namespace) -> str | None:
    """The error in the options; None if there is none."""
    target = options.target
    if (target is None) == (options.package is None):
        return "either TARGET or --package NAME is needed"
    if options.package == "":
        return "--package needs a name"
    if options.items < 0:
        return "--items should not be negative"
    if options.static and options.imports:
        return "--static and --import exclude each other"
    if target is None or is_path(target):
        return None
    module, colon, path = target.partition(":")
    if not module or module.startswith(".") or (colon and not path):
        return f"{target!r} is neither MODULE:QUALNAME nor a module, folder or file"
    if is_one_function(options) and (options.static or options.imports or options.skip):
        return "--static, --import and --skip are for modules, not for one function"
    if "<locals>" in path:
        return f"{target!r} exists only during a call; name the enclosing function"
    return None


def is_one_function(options: argparse.Namespace) -> bool:
    target: str | None = options.target
    return target is not None and ":" in target and not is_path(target)


def is_path(target: str) -> bool:
    """Whether it is a folder or file: `json` is a module, `./json` a folder."""
    has_path_form = os.sep in target or target in (os.curdir, os.pardir)
    return has_path_form or (target.endswith(".py") and ":" not in target)


def as_dict(record: waybill.ImportRecord) -> dict[str, object]:
    """A record as ``waybill inspect --json`` prints it: null for unknown values."""
    return {key: value or None for key, value in record._asdict().items()}


def place_of(record: waybill.ImportRecord) -> str:
    return f"{record.file}:{record.line}" if record.file else "-"


def as_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of aligned columns, with a bold head; the last column is not padded."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths[-1] = 0
    head, *lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    return [cli.bold(head), *lines]


def print_records(
    records: Sequence[waybill.ImportRecord], target: str, items: int
) -> None:
    if not records:
        output.write(f"{target} needs no imports")
        return
    rows = [RECORD_COLUMNS]
    for r in records[:items]:
        rows.append((r.module, r.time, r.chain, r.function or "-", place_of(r)))
    output.write("\n".join(as_table(rows)))
    print_omission(len(records) - items)


def print_omission(count: int) -> None:
    if count > 0:
        output.write(f"… and {count} more")


def print_survey(survey: surveys.Survey, items: int) -> None:
    needs = sorted(survey.needs.items())
    rows = [NEED_COLUMNS]
    for (module, when), (first, count) in needs[:items]:
        where = f"{first.function or '-'} {place_of(first)}"
        rows.append((module, when, str(count), where))
    output.write("\n".join(as_table(rows)))
    print_omission(len(needs) - items)
    if survey.failures:
        output.write("\n" + cli.bold(f"failures ({len(survey.failures)})"))
        for failure in survey.failures[:items]:
            output.write(f"  {failure.module}: {failure.error:.200}")
        print_omission(len(survey.failures) - items)
    output.write("\n" + cli.bold(f"{survey.target}, {survey.how}"))
    for name, value in counts(survey).items():
        output.write(f"  {name:<12}{'-' if value is None else value:>10}")


def counts(survey: surveys.Survey) -> dict[str, int | float | None]:
    """The counts of a survey; None for one that is unknown without imports."""
    return {
        "modules": survey.modules,
        "functions": survey.functions,
        "chains": survey.chains,
        "submodules": len(survey.submodules),
        "failures": len(survey.failures),
        "seconds": round(survey.seconds, 3),
    }


def survey_as_json(survey: surveys.Survey) -> str:
    return json.dumps(
        {
            "target": survey.target,
            "how": survey.how,
            **counts(survey),
            "submodules": survey.submodules,
            "failures": [failure._asdict() for failure in survey.failures],
            "imports": [
                {**as_dict(first), "functions": count}
                for _, (first, count) in sorted(survey.needs.items())
            ],
        },
        indent=2,
    )


def make_survey(options: argparse.Namespace) -> surveys.Survey:
    target: str = options.package or options.target
    is_folder = options.package is None and is_path(target)
    imports = options.imports or not (options.static or is_folder)
    if is_folder:
        found = sources.of_path(target)
        if imports:
            sys.path.insert(0, sources.home_of(target))
    elif options.package is not None:
        found = sources.of_package(target, imports)
    else:
        found = sources.of_module(target, imports)
    found = sources.without_skipped(found, options.skip)
    how = surveys.IMPORTED if imports else surveys.COMPILED
    return surveys.run_survey(target, how, found)


def describe_no_source(error: sources.NoSourceError, target: str) -> str:
    """The error, with a hint if the name of a folder was taken for a module."""
    if is_path(target) or not os.path.isdir(target):
        return str(error)
    return f"{error}; for the folder, say {os.path.join(os.curdir, target)}"


def run(options: argparse.Namespace) -> int:
    is_function = is_one_function(options)
    if options.no_colours:
        os.environ["NO_COLOR"] = "1"  # Also for imported modules.
    if options.package is not None or not is_path(options.target):
        cli.add_current_folder()
    try:  # Importing a module can do anything.
        if is_function:
            with cli.redirect_other_output():
                found = function_behind(cli.find_object(options.target))
            records = waybill.imports(found, by_value=True)
        else:
            survey = make_survey(options)
    except KeyboardInterrupt:
        raise
    except sources.NoSourceError as error:
        target = options.package or options.target
        detail = describe_no_source(error, target)
        cli.report_failure("unreadable", detail, options.json)
        return cli.UNREADABLE
    except BaseException as error:
        cli.report_failure("raised", cli.describe(error), options.json)
        return cli.RAISED_IN_PYTHON
    if not is_function:
        if options.json:
            output.write(survey_as_json(survey))
        else:
            print_survey(survey, options.items)
        # No module could be examined: the survey failed as a whole.
        has_failed = survey.failures and not survey.modules
        return cli.RAISED_IN_PYTHON if has_failed else cli.FINE
    if options.json:
        output.write(json.dumps([as_dict(record) for record in records], indent=2))
    else:
        print_records(records, options.target, options.items)
    return cli.FINE
