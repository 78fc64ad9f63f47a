"""What whole modules and packages need: every function in them, one by one.

Two ways, which answer different questions. *Imported*: the module is imported, and each
of its functions and methods is asked what `waybill.dumps` would list, with the modules
that are in this process. *Compiled*: source files are compiled and nothing is imported.
Then only import statements can be told, since whether ``numpy.linalg`` is a module or a
name in one shows when numpy is there.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import time
import types
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import waybill
from waybill._commands import describe, stdout_is_ours
from waybill._commands.functions import alone, functions_of, is_function
from waybill._commands.progress import Progress
from waybill._commands.sources import Source
from waybill._source.by_code import codes_in

IMPORTED, COMPILED = "imported", "compiled"


class Failure(NamedTuple):
    """What could not be looked into, and why."""

    module: str
    error: str


def absolute(name: str, package: str) -> str:
    """What a relative import means; its own text where it leads above the top."""
    try:
        return importlib.util.resolve_name(name, package)
    except ImportError:
        return name


class Survey:
    """What was found so far."""

    def __init__(self, target: str, how: str) -> None:
        self.target = target
        self.how = how
        self.modules = 0
        self.functions = 0
        #: None where only import statements can be told.
        self.chains: int | None = 0 if how == IMPORTED else None
        self.failures: list[Failure] = []
        self.seconds = 0.0
        #: The first record of each module and time, and in how many functions it is.
        self.needs: dict[tuple[str, str], tuple[waybill.ImportRecord, int]] = {}

    @property
    def submodules(self) -> list[str]:
        """Dotted names among what is needed; those of import statements too."""
        return sorted(
            {name for name, _ in self.needs if "." in name and name[0] != "."}
        )

    def add(self, record: waybill.ImportRecord, source: Source) -> None:
        record = record._replace(module=absolute(record.module, source.package))
        key = record.module, record.time
        first, count = self.needs.get(key, (record, 0))
        self.needs[key] = first, count + 1
        if self.chains is not None:
            self.chains += record.time == "load"

    def add_function(self, function: types.FunctionType, source: Source) -> None:
        """Asks one function; what it raises is a failure."""
        self.functions += is_function(function.__code__)
        try:
            records = waybill.imports(function, by_value=True)
        except Exception as error:
            name = getattr(function, "__qualname__", "?")
            self.failures.append(Failure(str(name), describe(error)))
            return
        for record in records:
            # What `os.path` in a module's own body is depends on what this process has
            # imported, which says nothing of source that is only compiled.
            if self.how == IMPORTED or record.time != "load":
                self.add(record, source)


def survey_imported(survey: Survey, source: Source) -> None:
    # A module can do anything when it is imported; SystemExit is no end of the survey.
    try:
        with warnings.catch_warnings(), stdout_is_ours():
            warnings.simplefilter("ignore")
            module = importlib.import_module(source.name)
            demand_source(module, source)
    except KeyboardInterrupt:  # The user's.
        raise
    except BaseException as error:  # As pytest's Skipped.
        survey.failures.append(Failure(source.name, describe(error)))
        return
    survey.modules += 1
    if not isinstance(module, types.ModuleType):
        return  # A module that put something else in its place.
    for function in functions_of(module):
        survey.add_function(function, source)


def demand_source(module: object, source: Source) -> None:
    """Raises if this is another module of that name, imported before or found first."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or not os.path.isfile(source.path):
        return
    # One folder may hold a module as source and compiled.
    found, wanted = os.path.dirname(file), os.path.dirname(source.path)
    if os.path.isdir(found) and not os.path.samefile(found, wanted):
        raise ImportError(f"imports of this name give {file}")


def survey_compiled(survey: Survey, source: Source) -> None:
    try:
        with open(source.path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(file.read(), source.path, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        survey.failures.append(Failure(source.name, describe(error)))
        return
    survey.modules += 1
    # Each by itself: with no globals to look names up in, that loses nothing.
    names = {"__name__": source.name, "__package__": source.package}
    for nested in codes_in(code):
        survey.add_function(alone(nested, names), source)


def run_survey(target: str, how: str, sources: list[Source]) -> Survey:
    """Looks into all of them; what fails is counted, and nothing ends it early."""
    survey = Survey(target, how)
    one: Callable[[Survey, Source], Any]
    one = survey_imported if how == IMPORTED else survey_compiled
    start = time.monotonic()
    with Progress(len(sources)) as progress:
        for source in sources:
            progress.step(source.name)
            one(survey, source)
    survey.seconds = time.monotonic() - start
    return survey
