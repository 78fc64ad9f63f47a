"""What whole modules and packages need: every function in them, one by one.

Two ways, which answer different questions. *Imported*: the module is imported, and each
of its functions and methods is asked what `waybill.dumps` would list, with the modules
that are in this process. *Compiled*: source files are compiled and nothing is imported.
Then only import statements can be told, since whether ``numpy.linalg`` is a module or a
name in one shows when numpy is there.
"""

from __future__ import annotations

import fnmatch
import importlib
import importlib.machinery
import importlib.util
import os
import time
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import waybill
from waybill._commands import describe, stdout_is_ours
from waybill._commands.progress import Progress

IMPORTED, COMPILED = "imported", "compiled"


class Source(NamedTuple):
    """A module that is to be surveyed."""

    name: str
    path: str


class Failure(NamedTuple):
    """What could not be looked into, and why."""

    module: str
    error: str


class Survey:
    """What was found so far."""

    def __init__(self, target: str, how: str) -> None:
        self.target = target
        self.how = how
        self.modules = 0
        self.functions = 0
        self.chains = 0
        self.failures: list[Failure] = []
        self.seconds = 0.0
        #: The first record of each module and time, and in how many functions it is.
        self.needs: dict[tuple[str, str], tuple[waybill.ImportRecord, int]] = {}

    @property
    def submodules(self) -> list[str]:
        """Dotted names among what is needed; those of import statements too."""
        return sorted({name for name, _ in self.needs if "." in name.strip(".")})

    def add(self, record: waybill.ImportRecord) -> None:
        key = record.module, record.time
        first, count = self.needs.get(key, (record, 0))
        self.needs[key] = first, count + 1
        self.chains += record.time == "load"

    def add_function(self, function: object) -> None:
        """Asks one function; what it raises is a failure."""
        self.functions += 1
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
                self.add(record)


def functions_of(module: types.ModuleType) -> Iterator[types.FunctionType]:
    """Functions and methods that the module defines, each once; nothing is run."""
    name = module.__name__
    seen: set[int] = set()
    todo: list[object] = list(vars(module).values())
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, types.FunctionType):
            if value.__module__ == name:
                yield value
        elif isinstance(value, (staticmethod, classmethod)):
            todo.append(value.__func__)
        elif isinstance(value, property):
            todo += [value.fget, value.fset, value.fdel]
        elif isinstance(value, type):
            # By the type's own slot: a metaclass may run code for both.
            members = type.__dict__["__dict__"].__get__(value)
            if members.get("__module__") == name:
                todo += members.values()


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and all that are nested in it."""
    todo = [code]
    while todo:
        code = todo.pop()
        yield code
        todo += [c for c in code.co_consts if isinstance(c, types.CodeType)]


def alone(code: types.CodeType, names: dict[str, Any]) -> types.FunctionType:
    """A function of this code without what is nested in it; never to be called."""
    constants = (None if isinstance(c, types.CodeType) else c for c in code.co_consts)
    code = code.replace(co_consts=tuple(constants))
    cells = tuple(types.CellType() for _ in code.co_freevars)
    return types.FunctionType(code, names, closure=cells)


def survey_imported(survey: Survey, source: Source) -> None:
    # A module can do anything when it is imported; SystemExit is no end of the survey.
    try:
        with warnings.catch_warnings(), stdout_is_ours():
            warnings.simplefilter("ignore")
            module = importlib.import_module(source.name)
    except KeyboardInterrupt:  # The user's.
        raise
    except BaseException as error:  # As pytest's Skipped.
        survey.failures.append(Failure(source.name, describe(error)))
        return
    survey.modules += 1
    if not isinstance(module, types.ModuleType):
        return  # A module that put something else in its place.
    for function in functions_of(module):
        survey.add_function(function)


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
    names = {"__name__": source.name, "__package__": source.name.rpartition(".")[0]}
    for nested in codes_of(code):
        survey.add_function(alone(nested, names))
    survey.functions -= 1  # The module's own code is none.


def is_skipped(name: str, patterns: list[str]) -> bool:
    """`__main__` starts programs; the rest is the caller's choice."""
    parts = name.split(".")
    if parts[-1] == "__main__":
        return True
    return any(
        fnmatch.fnmatchcase(name, pattern) or pattern in parts for pattern in patterns
    )


def sources_below(folder: str, prefix: str) -> Iterator[Source]:
    """The modules of Python source in and below a folder, in order of names."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(
            f for f in folders if f.isidentifier() and f != "__pycache__"
        )
        below = os.path.relpath(place, folder)
        parts = [] if below == os.curdir else below.split(os.sep)
        package = ".".join([*([prefix] if prefix else []), *parts])
        for file in sorted(files):
            stem, ending = os.path.splitext(file)
            is_module = ending == ".py" and stem.isidentifier()
            if not is_module or not os.path.isfile(os.path.join(place, file)):
                continue
            name = package if stem == "__init__" else f"{package}.{stem}".strip(".")
            if name:
                yield Source(name, os.path.join(place, file))


def sources_of_package(name: str) -> list[Source]:
    """The modules of an installed package; ModuleNotFoundError if there is none.

    Finding ``a.b`` imports ``a``; a name without dots imports nothing.
    """
    with stdout_is_ours():
        spec = importlib.util.find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    if spec.submodule_search_locations is None:
        return [Source(name, spec.origin or "")]
    return [
        source
        for folder in spec.submodule_search_locations
        for source in sources_below(folder, name)
    ]


def sources_of_path(path: str) -> list[Source]:
    """A file, or the files below a folder; a package's folder gives its name."""
    path = os.path.abspath(path)
    stem, ending = os.path.splitext(os.path.basename(path))
    if not os.path.isdir(path):
        is_other = os.path.exists(path) and not os.path.isfile(path)  # As a pipe.
        return [Source(stem, path)] if ending == ".py" and not is_other else []
    is_package = os.path.exists(os.path.join(path, "__init__.py"))
    return list(sources_below(path, stem if is_package else ""))


def run_survey(
    target: str,
    how: str,
    sources: list[Source],
    skip: list[str],
) -> Survey:
    """Looks into all of them; what fails is counted, and nothing ends it early."""
    survey = Survey(target, how)
    one: Callable[[Survey, Source], Any]
    one = survey_imported if how == IMPORTED else survey_compiled
    chosen = [source for source in sources if not is_skipped(source.name, skip)]
    start = time.monotonic()
    with Progress(len(chosen)) as progress:
        for source in chosen:
            progress.step(source.name)
            one(survey, source)
    survey.seconds = time.monotonic() - start
    return survey
