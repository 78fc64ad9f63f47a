"""The rules by which a payload changes the state of a class, or of a module by value.

Tested by tests/python/classes/test_class_state.py and its neighbours.
"""

from __future__ import annotations

from waybill._state.snapshots import ABSENT, LOST, Kind, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    #: Calls that take back what was done, in the order in which it was done.
    Undo = list[tuple[Callable[..., object], tuple[Any, ...]]]

LEFT, SET = object(), object()


def decide(
    word: Word,
    own: Any,
    base: Word | None,
    side: str | None,
    is_other: bool,
    has_baseline: bool,
) -> Any:
    """What is done with an attribute: LEFT, SET or a patch.

    ``word`` is what the payload says, ``base`` what the last one said, ``own`` what is
    here; ``is_other``: the sender has changed a method. The rows of the table in
    docs/class_state.md, in turn.
    """
    if side in ("sender", "reset"):
        return SET
    if word.kind is Kind.METHOD:
        if base is None:
            return SET if side is None or own is ABSENT else LEFT
        return SET if own is base.value or (is_other and side is None) else LEFT
    if side == "worker":
        return SET if base is None and own is ABSENT else LEFT
    is_alike = word.kind is Kind.KEYED and type(own) is word.type
    if base is None:
        if is_alike:
            return word.patch_of(None, own) or LEFT
        # What stands for something that cannot travel is set once.
        is_once = not has_baseline and own is not ABSENT and word.stands_for(own)
        return LEFT if is_once else SET
    if base is not LOST and base.is_same(word):
        return LEFT
    if is_alike and base.is_of_kind(word):
        return word.patch_of(base, own) or LEFT
    return SET
