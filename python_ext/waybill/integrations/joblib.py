"""joblib and loky: functions, arguments and results go by waybill.

    import waybill.integrations.joblib
    waybill.integrations.joblib.install()

before workers are started; they follow. For loky by itself, and for the loky and
multiprocessing backends of joblib; what joblib does with large arrays stays as it is.
docs/integrations/joblib.md has the details. Tested by tests/engines/test_joblib.py.
"""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, BinaryIO

from waybill.integrations._patches import Patches
from waybill.integrations.multiprocessing import ChildrenPickler, note_forks

_PICKLER = "waybill.integrations.pickle"
#: Where each loky keeps its pickler: that within joblib, the one that stands by itself.
_LOKY = "joblib.externals.loky.backend.reduction", "loky.backend.reduction"

_patches = Patches()
#: What each loky pickled with before.
_before: dict[str, str] = {}


def install() -> None:
    """From now on, joblib and loky pack with waybill: those that are imported already;
    joblib if none is, or loky if there is no joblib.

    Raises ModuleNotFoundError if neither is installed.
    """
    note_forks()
    # Both are not imported for this: each takes the other's workers away.
    if not any(name in sys.modules for name in _LOKY):
        try:
            import_module("joblib")
        except ModuleNotFoundError:
            import_module("loky")
    for name in _LOKY:
        if name in sys.modules and name not in _before:
            _before[name] = sys.modules[name].get_loky_pickler_name()
            sys.modules[name].set_loky_pickler(_PICKLER)
    if "joblib" in sys.modules and not _patches:
        _patches.set(import_module("joblib.pool"), "CustomizablePickler", PoolPickler)


def uninstall() -> None:
    """Puts back what was there. Workers follow with their next task."""
    while _before:
        name, pickler = _before.popitem()
        sys.modules[name].set_loky_pickler(pickler)
    _patches.undo()


class PoolPickler(ChildrenPickler):
    """In the place of ``joblib.pool.CustomizablePickler``, of the multiprocessing
    backend."""

    def __init__(
        self,
        writer: BinaryIO,
        reducers: Mapping[type, Callable[[Any], Any]] | None = None,
        protocol: int | None = None,
    ) -> None:
        super().__init__(writer, protocol)
        self.dispatch_table = {**copyreg.dispatch_table, **(reducers or {})}

    def dump(self, obj: object) -> None:
        super().dump(_Followed(obj))


class _Followed:
    """What makes a worker that gets it answer by waybill; arrives as the object."""

    def __init__(self, obj: object) -> None:
        self._object = obj

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object]]:
        return _followed, (self._object,)


def _followed(obj: object) -> object:
    from multiprocessing import parent_process

    if parent_process() is not None:
        install()  # Forked ones have it from their parent, others do not.
    return obj
