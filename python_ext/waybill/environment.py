"""What a payload needs and this process does not have, found out without importing.

Tested by tests/python/imports/test_missing.py.
"""

from __future__ import annotations

import sys

from waybill._face import ImportRecord, inspect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import NamedTuple

    from typing_extensions import Buffer
else:
    from waybill._records import NamedTuple

__all__ = ["MissingImport", "missing", "versions"]


class MissingImport(NamedTuple):
    """A module that a payload needs, and why it cannot be had here as it is there."""

    #: Full dotted name; "python" if the payload holds code for another Python.
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
    called included, and none is imported. ``versions``, what ``versions(data)`` gave
    where the payload was made, adds what is installed here in another version. Modules
    that others make while they are imported, as ``os`` makes ``os.path``, count as
    there; what packages make is there once they are imported. Raises DecodeError for
    what is no payload. Takes milliseconds.
    """
    report = inspect(data)
    search = _Search()
    found = []
    told = report["python"]
    ours = sys.version_info[:2]
    if report["code"] and (told["major"], told["minor"]) != ours:
        sent = f"{told['major']}.{told['minor']}"
        reason = f"the code is for Python {sent}, and this is {ours[0]}.{ours[1]}"
        found.append(MissingImport("python", reason))
    for record in _records(report):
        lacking = search.what_is_missing(record.module)
        if lacking:
            reason = f"no module named {lacking!r}"
            found.append(_missing_import(record, reason))
    for module, version in (versions or {}).items():
        installed = _version_of(module)
        if installed is not None and installed != version:
            reason = f"version {version} there, {installed} here"
            found.append(MissingImport(module, reason))
    return tuple(found)


def versions(data: Buffer) -> dict[str, str]:
    """The version of each installed package that a payload needs, by the name that is
    imported; for ``missing`` in another process. Packages that come with Python or were
    not installed are not in it."""
    modules = {record.module.partition(".")[0] for record in _records(inspect(data))}
    known = {module: _version_of(module) for module in sorted(modules)}
    return {module: version for module, version in known.items() if version is not None}


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


def _missing_import(record: ImportRecord, reason: str) -> MissingImport:
    return MissingImport(record.module, reason, *record[1:])


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
            if places := _namespace(name, path or ()):
                return "", places
        except Exception:
            pass  # Importing it raises the same.
        return name, None


def _namespace(name: str, path: Sequence[str]) -> list[str]:
    """The folders of a namespace package."""
    from pkgutil import get_importer

    finders = [finder for finder in map(get_importer, path) if finder]
    specs = [finder.find_spec(name) for finder in finders]
    portions = [spec for spec in specs if spec and spec.loader is None]
    return [
        place for spec in portions for place in spec.submodule_search_locations or ()
    ]


def _version_of(module: str) -> str | None:
    """The version of the distribution that a top-level module belongs to, if any."""
    from importlib import metadata

    if module in sys.stdlib_module_names:
        return None  # There are distributions named like some: backports.
    # Most have the name of their module; to ask all for their files takes long.
    for distribution in module, *_owners(module):
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return None


def _owners(module: str) -> Sequence[str]:
    from importlib import metadata

    path = tuple(sys.path)
    if path not in _distributions:
        _distributions.clear()
        _distributions[path] = metadata.packages_distributions()
    return _distributions[path].get(module, ())


#: The distributions of each top-level module, for the last sys.path that was asked.
_distributions: dict[tuple[str, ...], Mapping[str, Sequence[str]]] = {}
