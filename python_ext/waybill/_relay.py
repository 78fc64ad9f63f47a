"""What a process sends of a class that it has received itself.

Who does not have the class gets it as it is here. Who has it is told what its home said
last, so that changes of the home pass through, and those of this process do not.
Tested by tests/python/classes/test_class_relay.py.
"""

from __future__ import annotations

from waybill._baselines import TABLE
from waybill._facts import COMPILER_MADE, fact, is_same_fact
from waybill._identity import TRACKER
from waybill._words import LOST, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def word_of(cls: type, attributes: dict[str, Any]) -> Any:
    """What the home of a received class said last, where the class is another now.

    ``attributes`` is what class_parts tells of it. The answer is the last value of the
    node of the class, as docs/wire_format.md has it: None if there is no difference.
    """
    identity = TRACKER.id_of(cls)
    baseline = TABLE.of(identity, cls)
    if baseline is None or baseline.words is None:
        return None if TRACKER.is_as_first_sent(identity, cls) else False
    words = baseline.words
    found: dict[str, Any] = {}
    for name in attributes:
        word = words.get(name)
        if word is not None and (word is LOST or not word.is_now(attributes[name])):
            found[name] = word.told()
        elif word is None and name not in COMPILER_MADE:
            found[name] = []
    for name in words:
        if name not in attributes and name not in COMPILER_MADE:
            found[name] = words[name].told()
    for name in baseline.facts:
        value = baseline.facts[name]
        value = value.value if isinstance(value, Word) else value
        if not is_same_fact(fact(cls, name), value):
            found[name] = [list(value) if isinstance(value, tuple) else value]
    members = vars(cls).get("_member_map_", ())
    if baseline.members and baseline.members != frozenset(members):
        # Who knows the class has to see that these are not its home's, and leaves them.
        found["_member_map_"] = None
    return found or None
