"""Modules by value of one payload: what they change, and how imports find them.

_state/merge.py defines the order of the walk. Tested by
tests/python/modules/test_by_value.py, test_parts_of_modules.py and
tests/python/classes/test_module_state.py.
"""

from __future__ import annotations

import types

from waybill._modules import by_value as local_modules
from waybill._state import snapshots
from waybill._state.baselines import TABLE, ClassChange
from waybill._state.rules import LEFT, SET, decide
from waybill._state.snapshots import ABSENT, Kind, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from waybill._state.rules import Undo


class _Arrived:
    """A module of the payload, of which it may have a part only."""

    def __init__(self, module: types.ModuleType) -> None:
        self.module = module
        self.is_part = True
        self.words: dict[str, Word] = {}

    def has_name(self) -> bool:
        """Whether its name tells it apart: modules made by hand have none such."""
        return self.is_part or "__file__" in vars(self.module)


class ArrivedModules:
    """The modules by value of a payload; `Merge` has one."""

    def __init__(self) -> None:
        self._arrived: dict[int, _Arrived] = {}
        self._served: list[local_modules.Service] = []
        self._named: list[_Arrived] = []

    def add(self, module: types.ModuleType, is_part: bool) -> None:
        """A module, or a further part of it; all of it is more than a part."""
        if module.__name__ == "__main__":
            return  # A script's own: any number of scripts have a module of that name.
        arrived = self._arrived.get(id(module))
        if arrived is None:
            arrived = self._arrived[id(module)] = _Arrived(module)
        arrived.is_part = arrived.is_part and is_part

    def serve(self, modules: dict[str, types.ModuleType]) -> None:
        """Imports that run while the payload is built find these by name."""
        for name in modules:
            if name != "__main__":  # Imports find the receiver's.
                self._served.append(local_modules.serve(name, modules[name]))

    def abandon(self) -> None:
        """Takes back what ``serve`` did."""
        while self._served:
            local_modules.take_back(self._served.pop())

    def take_words(self) -> None:
        """Notes what the payload says. It may run code of the program, as marks do."""
        # Most modules of a package are globals of many others.
        marked: snapshots.Marked = {}
        names = [arrived.module.__name__ for arrived in self._arrived.values()]
        for arrived in self._arrived.values():
            if arrived.has_name() and names.count(arrived.module.__name__) == 1:
                arrived.words = snapshots.of_module(arrived.module, marked)
                self._named.append(arrived)

    def change(self, side: str | None, undo: Undo) -> list[ClassChange]:
        """Moves into each what this process changed in the one before it.

        Called under the lock of the table.
        """
        changes: list[ClassChange] = []
        for arrived in self._named:
            changes += _change(arrived, side, undo)
        return changes

    def take_note(self) -> list[object]:
        """Makes what the payload said the baseline, and these the modules that imports
        find; answers what is to be dropped."""
        dropped: list[object] = []
        for arrived in self._named:
            words = arrived.words
            if arrived.is_part:
                before = TABLE.modules.get(arrived.module.__name__, (None, {}))[1]
                words = {**before, **words}
            dropped += TABLE.put_module(arrived.module, words)
        for service in self._served:
            local_modules.settle(service)
        self._served = []
        return dropped


def _change(arrived: _Arrived, side: str | None, undo: Undo) -> list[ClassChange]:
    module, said = arrived.module, arrived.words
    before, words = TABLE.modules.get(module.__name__, (None, {}))
    changes: list[ClassChange] = []
    if before is None or before is module:
        return changes
    old, new = vars(before), vars(module)
    for name in said:
        word, own, base = said[name], old.get(name, ABSENT), words.get(name)
        is_other = (
            base is not None
            and word.kind is Kind.METHOD
            and own is not base.value
            and not base.is_same(word)
        )
        change = decide(word, own, base, side, is_other, True)
        if change is SET:
            if word.kind is not Kind.METHOD:
                changes.append(ClassChange(module, name, "set"))
        elif change is LEFT:
            _keep(new, name, own)
        else:
            change.run(own, undo)
            _keep(new, name, own)
            changes.append(ClassChange(module, name, "patched"))
    for name in list(old):
        if name in said or snapshots.is_dunder(name):
            continue
        # What a part has not, the sender has not taken away.
        if arrived.is_part:
            _keep(new, name, old[name])
        elif name in words:
            changes.append(ClassChange(module, name, "deleted"))
        elif side != "sender":
            _keep(new, name, old[name])
    return changes


def _keep(namespace: dict[str, Any], name: str, own: Any) -> None:
    if own is ABSENT:
        namespace.pop(name, None)
    else:
        namespace[name] = own
