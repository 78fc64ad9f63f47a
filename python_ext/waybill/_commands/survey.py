"""Surveys the imports of all functions in modules and packages.

There are two ways, with different results. *Imported*: the module is imported, and each
of its functions and methods is examined like `waybill.dumps` does, with the modules of
this process. *Compiled*: source files are compiled and nothing is imported. This finds
only import statements: without numpy, it is unknown whether ``numpy.linalg`` is a
module.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import time
import types
import warnings
from typing import NamedTuple

import waybill
from waybill._commands import describe, redirect_other_output
from waybill._commands.functions import functions_of, is_function, without_nested
from waybill._commands.progress import Progress
from waybill._commands.sources import Source
from waybill._source.by_code import codes_in

IMPORTED, COMPILED = "imported", "compiled"


class Failure(NamedTuple):
    """A module or function that could not be examined, and why."""

    module: str
    error: str


def resolve_name(name: str, package: str) -> str:
    """The full name of a relative import; unchanged if it leads above the top."""
    try:
        return importlib.util.resolve_name(name, package)
    except ImportError:
        return name


class Survey:
    """The results of a survey so far."""

    def __init__(self, target: str, how: str) -> None:
        self.target = target
        self.how = how
        self.modules = 0
        self.functions = 0
        #: Attribute chains that need a submodule; None if the code is only compiled.
        self.chains: int | None = 0 if how == IMPORTED else None
        self.failures: list[Failure] = []
        self.seconds = 0.0
        #: By module and time: the first record, and the number of functions.
        self.needs: dict[tuple[str, str], tuple[waybill.ImportRecord, int]] = {}

    @property
    def submodules(self) -> list[str]:
        """Dotted names of needed modules, also those of import statements."""
        names = {name for name, _ in self.needs}
        return sorted(name for name in names if "." in name and name[0] != ".")

    def add(self, record: waybill.ImportRecord, source: Source) -> None:
        record = record._replace(module=resolve_name(record.module, source.package))
        key = record.module, record.time
        first, count = self.needs.get(key, (record, 0))
        self.needs[key] = first, count + 1
        if self.chains is not None:
            self.chains += record.time == "load"

    def add_function(self, function: types.FunctionType, source: Source) -> None:
        """Adds the imports of one function; an exception is added as a failure."""
        self.functions += is_function(function.__code__)
        try:
            records = waybill.imports(function, by_value=True)
        except Exception as error:
            name = getattr(function, "__qualname__", "?")
            self.failures.append(Failure(str(name), describe(error)))
            return
        for record in records:
            # What a module needs at load, such as `os.path`, is found among the modules
            # of this process, which tell nothing of source that is only compiled.
            if self.how == IMPORTED or record.time != "load":
                self.add(record, source)


def survey_imported(survey: Survey, source: Source) -> None:
    # An import can do anything; SystemExit does not end the survey.
    try:
        with warnings.catch_warnings(), redirect_other_output():
            warnings.simplefilter("ignore")
            module = importlib.import_module(source.name)
            demand_source(module, source)
    except KeyboardInterrupt:  # By the user.
        raise
    except BaseException as error:  # Such as pytest's Skipped.
        survey.failures.append(Failure(source.name, describe(error)))
        return
    survey.modules += 1
    if not isinstance(module, types.ModuleType):
        return  # The module put another object in its place.
    for function in functions_of(module):
        survey.add_function(function, source)


def demand_source(module: object, source: Source) -> None:
    """Raises ImportError if the module was loaded from another file."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or not os.path.isfile(source.path):
        return
    # A folder may have a module both as source and compiled.
    found, wanted = os.path.dirname(file), os.path.dirname(source.path)
    if os.path.isdir(found) and not os.path.samefile(found, wanted):
        raise ImportError(f"the name {source.name} imports another file, {file}")


def survey_compiled(survey: Survey, source: Source) -> None:
    try:
        with open(source.path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(file.read(), source.path, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        survey.failures.append(Failure(source.name, describe(error)))
        return
    survey.modules += 1
    # Each code object alone: without globals, the code around it would add nothing.
    names = {"__name__": source.name, "__package__": source.package}
    for nested in codes_in(code):
        survey.add_function(without_nested(nested, names), source)


def run_survey(target: str, how: str, sources: list[Source]) -> Survey:
    """Examines all modules; a failure is recorded and does not end the survey."""
    survey = Survey(target, how)
    examine = survey_imported if how == IMPORTED else survey_compiled
    start = time.monotonic()
    with Progress(len(sources)) as progress:
        for source in sources:
            progress.step(source.name)
            examine(survey, source)
    survey.seconds = time.monotonic() - start
    return survey
