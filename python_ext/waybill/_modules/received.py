"""Modules by value of one payload: their state is merged, and imports find them.

_state/merge.py defines the order of the walk. Tested by
tests/python/modules/test_by_value.py, test_parts_of_modules.py and
tests/python/classes/test_module_state.py.
"""

from __future__ import annotations

import types

from waybill._modules import by_value as local_modules
from waybill._state.baselines import TABLE, ClassChange
from waybill._state.rules import KEEP, SET, decide
from waybill._state.snapshots import (
    ABSENT,
    Kind,
    MarkCache,
    Snapshot,
    is_dunder,
    snapshots_of_module,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from waybill._state.rules import Undo


class _ReceivedModule:
    """A module of the payload, whole or in part."""

    def __init__(self, module: types.ModuleType) -> None:
        self.module = module
        self.is_part = True
        self.snapshots: dict[str, Snapshot] = {}
        #: Names of functions that this process has replaced and the sender has changed.
        self.edited: set[str] = set()

    def take_snapshots(self, mark_cache: MarkCache) -> None:
        self.snapshots = snapshots_of_module(self.module, mark_cache)
        before, last = TABLE.modules.get(self.module.__name__, (None, {}))
        own = vars(before) if before is not None else {}
        for name in last:
            base, snapshot = last[name], self.snapshots.get(name)
            if snapshot is None or snapshot.kind is not Kind.METHOD:
                continue
            if own.get(name) is not base.value and not base.is_same(snapshot):
                self.edited.add(name)

    def is_identified(self) -> bool:
        """Whether its name identifies it, unlike that of a module made by a program."""
        return self.is_part or "__file__" in vars(self.module)


class ReceivedModules:
    """The modules by value of a payload; `Merge` owns one."""

    def __init__(self) -> None:
        self._received: dict[int, _ReceivedModule] = {}
        self._served: list[local_modules.Service] = []
        self._named: list[_ReceivedModule] = []

    def add(self, module: types.ModuleType, is_part: bool) -> None:
        """Adds a module, or a further part of it."""
        if module.__name__ == "__main__":
            return  # Each script has a module of that name.
        received = self._received.get(id(module))
        if received is None:
            received = self._received[id(module)] = _ReceivedModule(module)
        received.is_part = received.is_part and is_part

    def serve(self, modules: dict[str, types.ModuleType]) -> None:
        """Lets imports that run while the payload is built find modules by name."""
        for name in modules:
            if name != "__main__":  # Imports find the receiver's.
                self._served.append(local_modules.serve(name, modules[name]))

    def abandon(self) -> None:
        """Undoes ``serve``."""
        while self._served:
            local_modules.take_back(self._served.pop())

    def take_snapshots(self) -> None:
        """Takes snapshots of the modules. May run code of the program, as marks do."""
        # One cache for all: most modules of a package are globals of many others.
        mark_cache: MarkCache = {}
        names = [received.module.__name__ for received in self._received.values()]
        for received in self._received.values():
            if received.is_identified() and names.count(received.module.__name__) == 1:
                received.take_snapshots(mark_cache)
                self._named.append(received)

    def adopt_changes(self, side: str | None, undo: Undo) -> list[ClassChange]:
        """Copies changes of this process from each module's predecessor into it.

        Called under the lock of the table.
        """
        changes: list[ClassChange] = []
        for received in self._named:
            changes += _adopt_changes(received, side, undo)
        return changes

    def record_baseline(self) -> list[object]:
        """Makes the received state the baseline, and lets imports find the modules.
        Returns objects to release after the lock."""
        dropped: list[object] = []
        for received in self._named:
            snapshots = received.snapshots
            if received.is_part:
                before = TABLE.modules.get(received.module.__name__, (None, {}))[1]
                snapshots = {**before, **snapshots}
            dropped += TABLE.put_module(received.module, snapshots)
        for service in self._served:
            local_modules.settle(service)
        self._served = []
        return dropped


def _adopt_changes(
    received: _ReceivedModule, side: str | None, undo: Undo
) -> list[ClassChange]:
    module, state = received.module, received.snapshots
    before, snapshots = TABLE.modules.get(module.__name__, (None, {}))
    changes: list[ClassChange] = []
    if before is None or before is module:
        return changes
    old, new = vars(before), vars(module)
    for name in state:
        snapshot, own, base = state[name], old.get(name, ABSENT), snapshots.get(name)
        change = decide(snapshot, own, base, side, name in received.edited, False)
        if change is SET:
            if snapshot.kind is not Kind.METHOD:
                changes.append(ClassChange(module, name, "set"))
        elif change is KEEP:
            _keep(new, name, own)
        else:
            change.run(own, undo)
            _keep(new, name, own)
            changes.append(ClassChange(module, name, "patched"))
    for name in list(old):
        if name in state or is_dunder(name):
            continue
        # A name that a part lacks was not deleted by the sender.
        if received.is_part:
            _keep(new, name, old[name])
        elif name in snapshots:
            changes.append(ClassChange(module, name, "deleted"))
        elif side != "sender":
            _keep(new, name, old[name])
    return changes


def _keep(namespace: dict[str, Any], name: str, own: Any) -> None:
    if own is ABSENT:
        namespace.pop(name, None)
    else:
        namespace[name] = own
