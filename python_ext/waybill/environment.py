"""Finds what a payload needs and this process lacks, without importing it. Tested by
tests/python/imports/test_missing.py."""

from __future__ import annotations

import sys

from waybill import _core
from waybill._api import lazy
from waybill._api.functions import ImportRecord, inspect
from waybill._api.named_tuples import NamedTuple
from waybill._environment.renames import Renames, moved_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from typing import Any

    from typing_extensions import Buffer

    from waybill._environment.hints import Environment

__all__ = ["MissingImport", "Renames", "missing", "versions"]


class MissingImport(NamedTuple):
    """A module that a payload needs, and that is missing or of another version here."""

    #: Full dotted name; "python" for code of another version of Python without source.
    module: str
    #: One sentence.
    reason: str
    #: The place that needs it, as in ImportRecord; empty for the whole payload.
    time: str = ""
    chain: str = ""
    function: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        needed = f", for {self.chain} in {self.function}" if self.function else ""
        place = f" ({self.file}:{self.line})" if self.file else ""
        return f"{self.module}: {self.reason}{needed}{place}"


def missing(
    data: Buffer, versions: Mapping[str, str] | None = None
) -> tuple[MissingImport, ...]:
    """What would keep a payload from being loaded or called here; empty if nothing.

    Searches for all imports of the manifest, also for those that run only when a
    function is called, and imports none. Distributions installed in another version are
    reported if the payload has its environment (``save``, ``environment=True``), or for
    ``versions``, the result of ``versions(data)`` at the sender. Modules that another
    module makes while it is imported, such as ``os.path``, count as present; those that
    a package makes count once the package is imported. Raises DecodeError for a
    malformed payload. Takes milliseconds.
    """
    report = inspect(data)
    search = _Search()
    found = []
    mismatch = _core.python_mismatch(data)
    if mismatch is not None:
        found.append(MissingImport("python", mismatch))
    environment = _environment_in(report)
    for record in _records(report):
        absent = search.missing_part(record.module)
        if absent and not _has_moved(record, search):
            hints = lazy.load("_environment.hints")
            hint = hints.of_module(record.module, environment)
            reason = f"no module named {absent!r}" + (f"; {hint}" if hint else "")
            found.append(MissingImport(record.module, reason, *record[1:]))
    found.extend(_other_versions(report, versions))
    return tuple(found)


def _environment_in(report: Mapping[str, Any]) -> Environment | None:
    """The environment of a payload, in the form that hints.py takes."""
    entry = report.get("environment")
    if entry is None:
        return None
    rows = [
        (row["name"], row["version"], row["modules"]) for row in entry["distributions"]
    ]
    return entry["python"], entry["implementation"], entry["platform"], rows


def _has_moved(record: ImportRecord, search: _Search) -> bool:
    """Whether ``loads`` finds a module by its new name; imports in bodies do not."""
    moved = moved_module(record.module) if record.time == "load" else None
    return moved is not None and not search.missing_part(moved)


def _other_versions(
    report: Mapping[str, Any], versions: Mapping[str, str] | None
) -> Iterator[MissingImport]:
    """Distributions that are installed here in another version than at the sender."""
    if versions is not None:
        own = _versions_of(versions)
        rows = [(name, name, there, own.get(name)) for name, there in versions.items()]
    else:
        rows = []
        for row in report.get("environment", {}).get("distributions", ()):
            name = row["name"]
            module = (row["modules"] or [name])[0]
            here = lazy.load("_environment.distributions").version_of(name)
            rows.append((module, name, row["version"], here))
    for module, name, there, here in rows:
        if here is not None and here != there:
            yield MissingImport(module, f"made with {name} {there}, here is {here}")


def versions(data: Buffer) -> dict[str, str]:
    """The version of each installed package that a payload needs, by top-level module;
    for ``missing`` in another process. Leaves out packages that come with Python or
    were not installed."""
    return _versions_of(record.module for record in _records(inspect(data)))


def _versions_of(modules: Iterable[str]) -> dict[str, str]:
    """The versions of the distributions of these modules, by top-level module."""
    owners = lazy.load("_environment.distributions").distributions_of(sorted(modules))
    found: dict[str, str] = {}
    for module, (owner, *_) in owners.items():
        found.setdefault(module.partition(".")[0], owner.version)
    return found


def _find_missing(names: Iterable[str], versions: Mapping[str, str] | None) -> set[str]:
    """The modules among ``names`` that do not exist here; with ``versions``, those that
    neither its process nor the standard library has."""
    if versions is None:
        search = _Search()
        return {name for name in names if search.missing_part(name)}
    there = {*versions, *sys.stdlib_module_names, "waybill"}
    return {name for name in names if name.partition(".")[0] not in there}


def _records(
    report: Mapping[str, Sequence[Mapping[str, object]]],
) -> list[ImportRecord]:
    """The records of a manifest without relative imports: they come with the
    package."""
    listed = [*report["imports"], *report.get("own_imports", ())]
    records = [ImportRecord(**entry) for entry in listed]  # type: ignore[arg-type]
    return [record for record in records if not record.module.startswith(".")]


class _Search:
    """Finds modules like the import system, but runs none of them."""

    def __init__(self) -> None:
        #: By module: (the missing part of its name or "", where its submodules are).
        #: The second is None if it is not a package, or if that is unknown.
        self._results: dict[str, tuple[str, Sequence[str] | None]] = {}

    def missing_part(self, name: str) -> str:
        """The outermost part of a dotted name that does not exist; "" if all exist."""
        return self._find(name)[0]

    def _find(self, name: str) -> tuple[str, Sequence[str] | None]:
        if name not in self._results:
            self._results[name] = self._search(name)
        return self._results[name]

    def _search(self, name: str) -> tuple[str, Sequence[str] | None]:
        if name in sys.modules:
            module = sys.modules[name]
            if module is None:
                return name, None
            return "", getattr(module, "__path__", None)
        parent, _, own_name = name.rpartition(".")
        path: Sequence[str] | None = None
        if parent:
            absent, path = self._find(parent)
            # Only its own attributes: getattr() may import.
            attributes = getattr(sys.modules.get(parent), "__dict__", ())
            # A module that is not a package has to make its submodules itself.
            if absent or path is None or own_name in attributes:
                return absent, None
        try:
            for finder in sys.meta_path:
                find_spec = getattr(finder, "find_spec", None)
                spec = find_spec(name, path, None) if find_spec else None
                if spec is not None:
                    return "", spec.submodule_search_locations
        except (KeyError, ModuleNotFoundError):  # The second from Python 3.15 on.
            # A namespace package in another one that was not imported.
            spec = _spec_in(path or (), name)
            if spec is not None and spec.loader is None:
                return "", spec.submodule_search_locations
        except Exception:
            pass  # The import raises the same.
        return name, None


def _spec_in(folders: Iterable[str], name: str) -> ModuleSpec | None:
    """Finds a module in folders. Unlike PathFinder, it finds a namespace package whose
    parent is not imported."""
    from importlib.machinery import ModuleSpec
    from pkgutil import get_importer

    namespace = ModuleSpec(name, None, is_package=True)
    portions: list[str] = []
    for folder in folders:
        finder = get_importer(folder)
        spec = finder.find_spec(name) if finder is not None else None
        if spec is not None and spec.loader is not None:
            return spec
        if spec is not None:
            portions += spec.submodule_search_locations or []
    namespace.submodule_search_locations = portions
    return namespace if portions else None
