"""Which installed distributions modules belong to, and in which version.

Whoever installs, replaces or removes one while the process lives is answered anew: what
is known holds as long as the folders of sys.path, and the file of metadata, are as they
were. Loaded when first needed, since importlib.metadata takes long to import. Tested by
tests/python/imports/test_distributions.py.
"""

from __future__ import annotations

import os
import sys
from importlib import metadata

from waybill._api.named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

#: Names of modules that are kept; beyond, all are forgotten.
MAX_KNOWN = 4096
#: What the format takes (include/waybill/manifest.h).
_MAX_DISTRIBUTIONS, _MAX_TEXT = 4096, 1024

_Stamp = tuple[int, int, int]


class Distribution(NamedTuple):
    """A distribution, as its metadata tells."""

    name: str
    version: str


class _Known:
    """A distribution with what tells whether it is still the same."""

    def __init__(self, found: metadata.Distribution) -> None:
        self._found = found
        # Where its metadata is; others than those of folders and archives do not tell.
        place = getattr(found, "_path", None)
        self._file = _metadata_file(place) if place is not None else None
        self._stamp = _stamp_of(self._file)
        self._told = _told_by(found)

    def told(self) -> Distribution | None:
        if self._stamp is None or self._stamp != _stamp_of(self._file):
            self._stamp = _stamp_of(self._file)
            self._told = _told_by(self._found)
        return self._told


def _metadata_file(place: Any) -> str | None:
    for name in "METADATA", "PKG-INFO", "":
        path = os.path.join(str(place), name) if name else str(place)
        if os.path.isfile(path):
            return path
    return None  # In an archive, whose own time is that of an entry of sys.path.


def _stamp_of(path: str | None) -> _Stamp | None:
    if path is None:
        return None
    try:
        about = os.stat(path)
    except (OSError, TypeError, ValueError):  # The latter of what is no path.
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino


def _told_by(found: metadata.Distribution) -> Distribution | None:
    try:
        told: Any = found.metadata
        name, version = told.get("Name"), told.get("Version")
    except MemoryError:
        raise
    except Exception:  # It is gone, or no metadata.
        return None
    if not isinstance(name, str) or not isinstance(version, str):
        return None
    return Distribution(name, version)


class _World:
    """What is known as long as the process looks for distributions in the same places,
    and nothing was put there or taken away."""

    def __init__(self, looks: tuple[object, ...]) -> None:
        self.looks = looks
        #: By the full name of a module.
        self.known: dict[str, tuple[_Known, ...]] = {}
        #: Names of distributions by top-level module, once somebody had to ask all.
        self.owners: Mapping[str, Sequence[str]] | None = None

    def of(self, module: str) -> tuple[_Known, ...]:
        known = self.known.get(module)
        if known is None:
            if len(self.known) >= MAX_KNOWN:
                self.known.clear()
            known = self.known[module] = tuple(map(_Known, self._find(module)))
        return known

    def _find(self, module: str) -> Sequence[metadata.Distribution]:
        top = module.partition(".")[0]
        # There are distributions that are named like modules of Python: backports.
        if top in sys.stdlib_module_names or top in ("waybill", "__main__"):
            return ()
        # Most have the name of their module; to ask all for their files takes long.
        namesake = _distribution(top)
        if namesake is not None and _has(namesake, top):
            return (namesake,)
        owners = [each for each in map(_distribution, self._owners(top)) if each]
        if len(owners) > 1:
            owners = [each for each in owners if _has(each, module)] or owners
        if not owners and namesake is not None:
            return (namesake,)  # Editable ones need not name their files.
        return owners

    def _owners(self, top: str) -> Sequence[str]:
        if self.owners is None:
            self.owners = metadata.packages_distributions()
        return sorted(set(self.owners.get(top, ())))


_world = _World(())


def _here() -> _World:
    global _world
    world = _world
    places = tuple((place, _stamp_of(place or ".")) for place in sys.path)
    looks = (places, *sys.meta_path)
    if world.looks != looks:
        world = _world = _World(looks)
    return world


def distributions_of(modules: Iterable[str]) -> dict[str, tuple[Distribution, ...]]:
    """By the full name of each module the distributions that it belongs to: none for
    what comes with Python, with waybill, or was not installed; several for a namespace
    that nobody tells apart. Imports none of them."""
    world = _here()
    found = {}
    for module in modules:
        told = tuple(filter(None, (each.told() for each in world.of(module))))
        if told:
            found[module] = told
    return found


def version_of(name: str) -> str | None:
    """The version of the distribution of this name; None if there is none here."""
    found = _distribution(name)
    told = found and _told_by(found)
    return told.version if told else None


def _distribution(name: str) -> metadata.Distribution | None:
    try:
        return metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        return None


def _has(found: metadata.Distribution, module: str) -> bool:
    """Whether files of a module are listed among those of a distribution."""
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
    """What a manifest tells of a process: version and implementation of Python, the
    platform, and of each distribution that these modules belong to name, version, and
    the top-level modules that it has of these. The extension calls it."""
    rows: dict[Distribution, set[str]] = {}
    for module, owners in distributions_of(modules).items():
        for owner in owners:
            if all(map(_fits, owner)):
                rows.setdefault(owner, set()).add(module.partition(".")[0])
    # One name in two spellings or versions, in two folders: Python takes the first.
    named: dict[str, tuple[str, str, list[str]]] = {}
    for (name, version), tops in rows.items():
        named.setdefault(name, (name, version, sorted(filter(_fits, tops))))
    told = [named[name] for name in sorted(named)][:_MAX_DISTRIBUTIONS]
    python = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info.releaselevel != "final":
        python = sys.version.partition(" ")[0]
    return python, sys.implementation.name, _platform(), told


def _fits(text: str) -> bool:
    """Whether the format takes a text."""
    try:
        return 0 < len(text.encode()) <= _MAX_TEXT
    except UnicodeEncodeError:
        return False


def _platform() -> str:
    import sysconfig

    return sysconfig.get_platform()
