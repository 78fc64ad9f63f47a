"""joblib and loky: functions, arguments and results go by waybill.

    import waybill.integrations.joblib
    waybill.integrations.joblib.install()

before workers are started; they follow. For loky by itself, and for the loky and
multiprocessing backends of joblib; what joblib does with large arrays stays as it is.
docs/integrations/joblib.md has the details. Tested by tests/engines/test_joblib.py.
"""

from __future__ import annotations

import copyreg
import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, BinaryIO

from waybill.integrations._patches import Patches
from waybill.integrations.multiprocessing import ChildrenPickler, note_forks

_VARIABLE, _PICKLER = "LOKY_PICKLER", "waybill.integrations.pickle"
#: Where each loky keeps its pickler: the one that stands by itself, that within joblib.
_LOKY = "loky.backend.reduction", "joblib.externals.loky.backend.reduction"

_patches = Patches()
#: What each loky pickled with before, and LOKY_PICKLER.
_before: dict[str, str] = {}
_environment: list[str | None] = []


def install() -> None:
    """From now on, joblib and loky pickle with waybill.

    Raises ModuleNotFoundError if neither is installed.
    """
    if _environment:
        return
    note_forks()
    try:
        _patches.set(import_module("joblib.pool"), "CustomizablePickler", PoolPickler)
    except ModuleNotFoundError:
        import_module("loky")
    for name in _LOKY:
        # Not imported for this: importing one loky takes workers away from the other.
        if name in sys.modules:
            _before[name] = sys.modules[name].get_loky_pickler_name()
            sys.modules[name].set_loky_pickler(_PICKLER)
    _environment.append(os.environ.get(_VARIABLE))
    if "loky" not in sys.modules and find_spec("loky"):
        # It may be imported later. Not set without need: programs that are started from
        # this one may be of a Python that has joblib, but not waybill.
        os.environ[_VARIABLE] = _PICKLER


def uninstall() -> None:
    """Puts back what was there. Workers follow with their next task."""
    if not _environment:
        return
    for name in _LOKY:
        if name in sys.modules:
            sys.modules[name].set_loky_pickler(_before.pop(name, "cloudpickle"))
    _patches.undo()
    before = _environment.pop()
    if before is None:
        os.environ.pop(_VARIABLE, None)
    else:
        os.environ[_VARIABLE] = before


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
