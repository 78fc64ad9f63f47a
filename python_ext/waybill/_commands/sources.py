"""Finds the modules of a survey: those of a name, a package, a folder or a file."""

from __future__ import annotations

import fnmatch
import importlib.util
import os
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from typing import NamedTuple

from waybill._commands import redirect_other_output
from waybill.environment import _spec_in


class Source(NamedTuple):
    """A module to survey."""

    name: str
    path: str

    @property
    def package(self) -> str:
        """The package that relative imports in it are relative to."""
        is_package = os.path.basename(self.path).startswith("__init__.")
        return self.name if is_package else self.name.rpartition(".")[0]


class NoSourceError(Exception):
    """The target has no Python source."""


def of_module(name: str, imports: bool) -> list[Source]:
    """The module itself, without its submodules."""
    origin = spec_of(name, imports).origin
    if origin is None:
        raise NoSourceError(f"{name} is a folder without a module of its own")
    return [Source(name, origin)]


def of_package(name: str, imports: bool) -> list[Source]:
    """The modules of an installed package; ModuleNotFoundError if there is none."""
    spec = spec_of(name, imports)
    if spec.submodule_search_locations is None:
        return [Source(name, spec.origin or "")]
    folders = list(spec.submodule_search_locations)
    found = [source for folder in folders for source in sources_below(folder, name)]
    if not found:
        raise NoSourceError(f"no Python source in {', '.join(folders)}")
    return found


def of_path(path: str) -> list[Source]:
    """A file, or the files below a folder, with the names of their modules."""
    if not os.path.exists(path):
        raise NoSourceError(f"{path}: No such file or directory")
    place = os.path.abspath(path)
    folder, file = (place, "") if os.path.isdir(place) else os.path.split(place)
    inside = os.path.relpath(folder, home_of(place))
    package = "" if inside == os.curdir else inside.replace(os.sep, ".")
    if not file:
        found = list(sources_below(folder, package))
    else:
        name = os.path.isfile(place) and module_name(package, file)
        found = [Source(name, place)] if name else []
    if not found:
        raise NoSourceError(f"no Python source at {path}")
    return found


def home_of(path: str) -> str:
    """The folder to import a folder or file from: the first above its packages."""
    path = os.path.abspath(path)
    home = path if os.path.isdir(path) else os.path.dirname(path)
    while os.path.isfile(os.path.join(home, "__init__.py")):
        above = os.path.dirname(home)
        if above == home:
            break
        home = above
    return home


def module_name(package: str, file: str) -> str:
    """The name of the module in a file of a package; "" if it is not a module."""
    stem, ending = os.path.splitext(file)
    if ending != ".py" or not stem.isidentifier():
        return ""
    return package if stem == "__init__" else f"{package}.{stem}".strip(".")


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
            name = module_name(package, file)
            if name and os.path.isfile(os.path.join(place, file)):
                yield Source(name, os.path.join(place, file))


def spec_of(name: str, imports: bool) -> ModuleSpec:
    """The spec of a module; ``imports`` allows importing the packages above it."""
    top, *below = [name] if imports else name.split(".")
    # PathFinder gives the source of frozen modules, such as os, but uses no hooks.
    spec = None if imports else PathFinder.find_spec(top)
    if spec is None:
        with redirect_other_output():
            spec = importlib.util.find_spec(top)
    for part in below:
        if spec is not None:
            top = f"{top}.{part}"
            spec = _spec_in(spec.submodule_search_locations or [], top)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return spec


def without_skipped(sources: list[Source], patterns: list[str]) -> list[Source]:
    """The modules without those of --skip and `__main__`, which starts a program."""
    chosen = [source for source in sources if not is_skipped(source.name, patterns)]
    if not chosen:
        raise NoSourceError("all modules are `__main__`, or skipped by --skip")
    return chosen


def is_skipped(name: str, patterns: list[str]) -> bool:
    parts = name.split(".")
    if parts[-1] == "__main__":
        return True
    return any(
        fnmatch.fnmatchcase(name, pattern) or pattern in parts for pattern in patterns
    )
