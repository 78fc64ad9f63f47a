"""The installed distributions that modules belong to, with their versions.

Cached results are valid while the folders of sys.path and the file of metadata stay as
they are, so that a distribution may be installed, replaced or removed while the process
runs. Loaded on first use, since importlib.metadata takes long to import. Tested by
tests/python/imports/test_distributions.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from typing import Any

from waybill._api.named_tuples import NamedTuple

#: The maximal number of modules in the cache, which is cleared when it is full.
MAX_CACHED = 4096
#: Limits of the format (include/waybill/manifest.h).
_MAX_DISTRIBUTIONS, _MAX_TEXT = 4096, 1024

_Stamp = tuple[int, int, int]


class Distribution(NamedTuple):
    """A distribution, with the name and version of its metadata."""

    name: str
    version: str


class _CachedDistribution:
    """A distribution with the state of its metadata file when that was last read."""

    def __init__(self, found: metadata.Distribution) -> None:
        self._found = found
        # None for metadata outside of folders and archives.
        place = getattr(found, "_path", None)
        self._file = _metadata_file(place) if place is not None else None
        self._stamp = _stamp_of(self._file)
        self._contents = _read_metadata(found)

    def contents(self) -> Distribution | None:
        """Its name and version, read again if the file changed; None without either."""
        if self._stamp is None or self._stamp != _stamp_of(self._file):
            self._stamp = _stamp_of(self._file)
            self._contents = _read_metadata(self._found)
        return self._contents


def _metadata_file(place: Any) -> str | None:
    for name in "METADATA", "PKG-INFO", "":
        path = os.path.join(str(place), name) if name else str(place)
        if os.path.isfile(path):
            return path
    return None  # In an archive, whose stamp is that of its entry in sys.path.


def _stamp_of(path: str | None) -> _Stamp | None:
    if path is None:
        return None
    try:
        about = os.stat(path)
    except (OSError, TypeError, ValueError):  # The last two if it is not a path.
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino


def _read_metadata(found: metadata.Distribution) -> Distribution | None:
    try:
        fields: Any = found.metadata
        name, version = fields.get("Name"), fields.get("Version")
    except MemoryError:
        raise
    except Exception:  # The distribution was removed, or is malformed.
        return None
    if not isinstance(name, str) or not isinstance(version, str):
        return None
    return Distribution(name, version)


class _Cache:
    """Distributions of modules, valid for one state of the search path."""

    def __init__(self, search_state: tuple[object, ...]) -> None:
        self.search_state = search_state
        #: By the full name of a module.
        self.by_module: dict[str, tuple[_CachedDistribution, ...]] = {}
        #: Names of distributions by top-level module; None until first needed.
        self.owners: Mapping[str, Sequence[str]] | None = None

    def find(self, module: str) -> tuple[_CachedDistribution, ...]:
        cached = self.by_module.get(module)
        if cached is None:
            if len(self.by_module) >= MAX_CACHED:
                self.by_module.clear()
            cached = tuple(map(_CachedDistribution, self._search(module)))
            self.by_module[module] = cached
        return cached

    def _search(self, module: str) -> Sequence[metadata.Distribution]:
        top = module.partition(".")[0]
        # A distribution may have the name of a module of Python, but does not provide
        # it.
        if top in sys.stdlib_module_names or top in ("waybill", "__main__"):
            return ()
        # Most distributions have the name of their module; reading all takes long.
        namesake = _distribution(top)
        if namesake is not None and _has_module(namesake, top):
            return (namesake,)
        owners = [each for each in map(_distribution, self._owners(top)) if each]
        if len(owners) > 1:
            owners = [each for each in owners if _has_module(each, module)] or owners
        if not owners and namesake is not None:
            return (namesake,)  # Editable installs need not list their files.
        return owners

    def _owners(self, top: str) -> Sequence[str]:
        if self.owners is None:
            self.owners = metadata.packages_distributions()
        return sorted(set(self.owners.get(top, ())))


_cache = _Cache(())


def _current_cache() -> _Cache:
    global _cache
    cache = _cache
    places = tuple((place, _stamp_of(place or ".")) for place in sys.path)
    search_state = (places, *sys.meta_path)
    if cache.search_state != search_state:
        cache = _cache = _Cache(search_state)
    return cache


def distributions_of(modules: Iterable[str]) -> dict[str, tuple[Distribution, ...]]:
    """The distributions that each module belongs to, by its full name.

    A module of Python, of waybill or without an installation has none and is left out;
    a module of a namespace package may have several. Imports none of the modules.
    """
    cache = _current_cache()
    found = {}
    for module in modules:
        read = (cached.contents() for cached in cache.find(module))
        if owners := tuple(filter(None, read)):
            found[module] = owners
    return found


def version_of(name: str) -> str | None:
    """The version of the distribution of this name; None if it is not installed."""
    found = _distribution(name)
    contents = found and _read_metadata(found)
    return contents.version if contents else None


def _distribution(name: str) -> metadata.Distribution | None:
    try:
        return metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        return None


def _has_module(found: metadata.Distribution, module: str) -> bool:
    """Whether a distribution lists files of a module."""
    listed = found.read_text("RECORD") or found.read_text("SOURCES.txt") or ""
    path = module.replace(".", "/")
    beginnings = f"\n{path}/", f"\n{path}.", f"\nsrc/{path}/", f"\nsrc/{path}."
    if any(beginning in f"\n{listed}" for beginning in beginnings):
        return True
    if "." in module:
        return False
    return module in (found.read_text("top_level.txt") or "").split()


def environment_of(
    modules: Iterable[str],
) -> tuple[str, str, str, list[tuple[str, str, list[str]]]]:
    """The environment record of a manifest: (version of Python, its implementation, the
    platform, distributions of these modules). Each distribution is (name, version, its
    top-level modules among these). The extension calls it."""
    import sysconfig

    rows: dict[Distribution, set[str]] = {}
    for module, owners in distributions_of(modules).items():
        for owner in owners:
            if all(map(_is_valid_text, owner)):
                rows.setdefault(owner, set()).add(module.partition(".")[0])
    # Of a name with several spellings or versions, use the first that is found.
    named: dict[str, tuple[str, str, list[str]]] = {}
    for (name, version), tops in rows.items():
        named.setdefault(name, (name, version, sorted(filter(_is_valid_text, tops))))
    listed = [named[name] for name in sorted(named)][:_MAX_DISTRIBUTIONS]
    python = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info.releaselevel != "final":
        python = sys.version.partition(" ")[0]
    return python, sys.implementation.name, sysconfig.get_platform(), listed


def _is_valid_text(text: str) -> bool:
    """Whether the format accepts a text."""
    try:
        return 0 < len(text.encode()) <= _MAX_TEXT
    except UnicodeEncodeError:
        return False
