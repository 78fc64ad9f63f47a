"""joblib and loky: functions, arguments and results are sent by waybill.

    import waybill.integrations.joblib
    waybill.integrations.joblib.install()

before workers are started; they follow. For loky by itself, and for the loky and
multiprocessing backends of joblib; joblib's handling of large arrays is unchanged.
docs/integrations/joblib.md has the details. Tested by tests/engines/test_joblib.py.
"""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, BinaryIO

from waybill.integrations import _following, _pools, loky
from waybill.integrations._patches import Patches
from waybill.integrations.multiprocessing import record_forks
from waybill.integrations.pickle import FirstCall

#: The module of each loky that holds its pickler.
_LOKY = tuple(f"{package}.backend.reduction" for package in loky.PACKAGES)

_patches = Patches()
#: The original pickler of each loky.
_before: dict[str, str] = {}


def install(**options: Any) -> None:
    """Makes joblib and loky send by waybill: those that are imported already; if none
    is, joblib, or loky if joblib is not installed.

    Options are those of ``waybill.configure``, for workers too. Raises
    ModuleNotFoundError if neither is installed.
    """
    _following.set_options(options)
    record_forks()
    # Do not import both: each takes away the other's workers.
    if not any(name in sys.modules for name in _LOKY):
        try:
            import_module("joblib")
        except ModuleNotFoundError:
            import_module("loky")
    for name in _LOKY:
        if name in sys.modules and name not in _before:
            _before[name] = sys.modules[name].get_loky_pickler_name()
            import_module(name.replace("backend.reduction", "process_executor"))
            sys.modules[name].set_loky_pickler(loky.__name__)
    loky.register_messages()
    if "joblib" in sys.modules and not _patches:
        pools: Any = import_module("joblib.pool")
        _patches.set(pools, "CustomizablePickler", PoolPickler)
        _patches.wrap(pools.PicklingPool, "_setup_queues", _wrap_setup_queues)
        _pools.report_lost_tasks(_patches)


def uninstall() -> None:
    """Undoes ``install``. Workers follow with their next task."""
    while _before:
        name, pickler = _before.popitem()
        sys.modules[name].set_loky_pickler(pickler)
    _patches.undo()


def _wrap_setup_queues(set_up_queues: Callable[[Any], None]) -> Callable[[Any], None]:
    """``PicklingPool._setup_queues`` for pools that report tasks of lost workers."""

    def set_up(pool: Any) -> None:
        set_up_queues(pool)
        _pools.record_tasks(pool, pool._inqueue._send)
        pool._inqueue = _pools.Tasks(pool._inqueue)

    return set_up


class PoolPickler(_pools.TuplePickler):
    """Replaces ``joblib.pool.CustomizablePickler`` of the multiprocessing backend."""

    def __init__(
        self,
        writer: BinaryIO,
        reducers: Mapping[type, Callable[[Any], Any]] | None = None,
        protocol: int | None = None,
    ) -> None:
        super().__init__(writer, protocol)
        self.dispatch_table = {**copyreg.dispatch_table, **(reducers or {})}

    def first_call(self) -> FirstCall:
        return _send_by_waybill, (_following.packed_options(), self._record)


def _send_by_waybill(first: tuple[bytes, _pools.Record | None]) -> None:
    """Makes a worker send its results by waybill."""
    from multiprocessing import parent_process

    options, record = first
    if record is not None:
        _pools.write_record(record)
    if parent_process() is not None:
        _following.follow(options)
        install()  # Forked workers have it from their parent, others do not.
