"""The rules by which a payload changes the attributes of a class or a module by value.
Tested by tests/python/classes/test_class_state.py and its neighbours."""

from __future__ import annotations

from waybill._state.snapshots import ABSENT, LOST, Kind, Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    #: Calls that undo changes, in the order of the changes.
    Undo = list[tuple[Callable[..., object], tuple[Any, ...]]]

KEEP, SET = object(), object()


def decide(
    snapshot: Snapshot,
    own: Any,
    base: Snapshot | None,
    side: str | None,
    has_other_code: bool,
    is_substitute: bool,
) -> Any:
    """What to do with an attribute: KEEP (nothing), SET (replace it) or a Patch.

    ``snapshot`` is the attribute in the payload, ``base`` the one in the payload
    before, ``own`` the value in this process. ``has_other_code``: it is a method whose
    code the sender has changed. ``is_substitute``: ``own`` stands in for an object that
    cannot be sent, in a class without a baseline. Follows the table in
    docs/class_state.md: its last row first, then methods, then values.
    received_classes.py handles deletions, enumerations and bases.
    """
    if side in ("sender", "reset"):
        return SET
    if snapshot.kind is Kind.METHOD:
        if base is None:
            return SET if side is None or own is ABSENT else KEEP
        return SET if own is base.value or (has_other_code and side is None) else KEEP
    if side == "worker":
        return SET if base is None and own is ABSENT else KEEP
    can_be_patched = snapshot.kind is Kind.KEYED and type(own) is snapshot.type
    # Another class keeps the object that the sender has in both.
    if can_be_patched and snapshot.is_resolved and own is not snapshot.value:
        can_be_patched = False
    if base is None:
        if can_be_patched:
            return snapshot.patch_of(None, own) or KEEP
        return KEEP if is_substitute else SET
    if base is not LOST and base.is_same(snapshot):
        return KEEP
    if can_be_patched and base.is_of_kind(snapshot):
        return snapshot.patch_of(base, own) or KEEP
    return SET
