"""What a payload needs and this process does not have, found out without importing.

Tested by tests/python/imports/test_missing.py.
"""

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
    """A module that a payload needs, and why it cannot be had here as it is there."""

    #: Full dotted name; "python" if the payload holds code for another Python, without
    #: source.
    module: str
    #: One sentence.
    reason: str
    #: What needs it, as in ImportRecord; empty where the whole payload does.
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

    All imports of its manifest are looked for, those that only run when a function is
    called included, and none is imported. What is installed here in another version is
    told where the payload says what it was made with (``save``, ``environment=True``),
    or for ``versions``: what ``versions(data)`` gave where it was made. Modules that
    others make while they are imported, as ``os`` makes ``os.path``, count as there;
    what packages make is there once they are imported. Raises DecodeError for what is
    no payload. Takes milliseconds.
    """
    report = inspect(data)
    search = _Search()
    found = []
    mismatch = _core.python_mismatch(data)
    if mismatch is not None:
        found.append(MissingImport("python", mismatch))
    environment = _environment_in(report)
    for record in _records(report):
        lacking = search.what_is_missing(record.module)
        if lacking and not _has_moved(record, search):
            hints = lazy.load("_environment.hints")
            told = hints.of_module(record.module, environment)
            reason = f"no module named {lacking!r}" + (f"; {told}" if told else "")
            found.append(MissingImport(record.module, reason, *record[1:]))
    found.extend(_other_versions(report, versions))
    return tuple(found)


def _environment_in(report: Mapping[str, Any]) -> Environment | None:
    """What a payload was made with, as _hints.py takes it."""
    told = report.get("environment")
    if told is None:
        return None
    rows = [
        (row["name"], row["version"], row["modules"]) for row in told["distributions"]
    ]
    return told["python"], told["implementation"], told["platform"], rows


def _has_moved(record: ImportRecord, search: _Search) -> bool:
    """Whether ``loads`` finds a module elsewhere: what bodies import, it does not."""
    moved = moved_module(record.module) if record.time == "load" else None
    return moved is not None and not search.what_is_missing(moved)


def _other_versions(
    report: Mapping[str, Any], versions: Mapping[str, str] | None
) -> Iterator[MissingImport]:
    """What is installed here in another version than where the payload was made."""
    if versions is not None:
        own = _versions_of(versions)
        told = [(name, name, there, own.get(name)) for name, there in versions.items()]
    else:
        told = []
        for row in report.get("environment", {}).get("distributions", ()):
            name = row["name"]
            module = (row["modules"] or [name])[0]
            here = lazy.load("_environment.distributions").version_of(name)
            told.append((module, name, row["version"], here))
    for module, name, there, here in told:
        if here is not None and here != there:
            yield MissingImport(module, f"made with {name} {there}, here is {here}")


def versions(data: Buffer) -> dict[str, str]:
    """The version of each installed package that a payload needs, by the name that is
    imported; for ``missing`` in another process. Packages that come with Python or were
    not installed are not in it."""
    return _versions_of(record.module for record in _records(inspect(data)))


def _versions_of(modules: Iterable[str]) -> dict[str, str]:
    """By top-level module the versions of the distributions that modules belong to."""
    owners = lazy.load("_environment.distributions").distributions_of(sorted(modules))
    found: dict[str, str] = {}
    for module, (owner, *_) in owners.items():
        found.setdefault(module.partition(".")[0], owner.version)
    return found


def _lacking(names: Iterable[str], versions: Mapping[str, str] | None) -> set[str]:
    """Those of these modules that are not here; or, with what ``versions`` gave in
    another process, not there: neither among those nor in the standard library."""
    there = {*(versions or ()), *sys.stdlib_module_names, "waybill"}
    search = _Search()
    found = set()
    for name in names:
        if versions is None:
            is_there = not search.what_is_missing(name)
        else:
            is_there = name.partition(".")[0] in there
        if not is_there:
            found.add(name)
    return found


def _records(
    report: Mapping[str, Sequence[Mapping[str, object]]],
) -> list[ImportRecord]:
    """The manifest, but for relative imports: these are where their package is."""
    listed = [*report["imports"], *report.get("own_imports", ())]
    records = [ImportRecord(**entry) for entry in listed]  # type: ignore[arg-type]
    return [record for record in records if not record.module.startswith(".")]


class _Search:
    """Finds modules as importing does, without running any of them."""

    def __init__(self) -> None:
        #: The name that is missing, "" if none is; and where submodules lie, None if
        #: it is no package or nobody knows.
        self._known: dict[str, tuple[str, Sequence[str] | None]] = {}

    def what_is_missing(self, name: str) -> str:
        """The first of a dotted name's parts that is not there, in full; or ""."""
        return self._find(name)[0]

    def _find(self, name: str) -> tuple[str, Sequence[str] | None]:
        if name not in self._known:
            self._known[name] = self._look_for(name)
        return self._known[name]

    def _look_for(self, name: str) -> tuple[str, Sequence[str] | None]:
        if name in sys.modules:
            module = sys.modules[name]
            if module is None:
                return name, None
            return "", getattr(module, "__path__", None)
        parent, _, own_name = name.rpartition(".")
        path: Sequence[str] | None = None
        if parent:
            lacking, path = self._find(parent)
            # What it has by itself: getattr() may import.
            attributes = getattr(sys.modules.get(parent), "__dict__", ())
            # A module that is no package has to make its submodules itself.
            if lacking or path is None or own_name in attributes:
                return lacking, None
        try:
            for finder in sys.meta_path:
                find_spec = getattr(finder, "find_spec", None)
                spec = find_spec(name, path, None) if find_spec else None
                if spec is not None:
                    return "", spec.submodule_search_locations
        except (KeyError, ModuleNotFoundError):  # The second from Python 3.15 on.
            # A namespace package in another, which was not imported.
            spec = _spec_in(path or (), name)
            if spec is not None and spec.loader is None:
                return "", spec.submodule_search_locations
        except Exception:
            pass  # Importing it raises the same.
        return name, None


def _spec_in(folders: Iterable[str], name: str) -> ModuleSpec | None:
    """As PathFinder has it, which for a namespace asks for the module above."""
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
