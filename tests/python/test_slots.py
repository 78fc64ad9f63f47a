"""A class by value has the slots that it was made with, whatever its __slots__ says."""

import fresh_process
import pytest
import waybill
from sources import define

SOURCES = {
    "a tuple set later": (
        "class C:\n def __init__(self): self.x = 1\nC.__slots__ = ('x', 'y')",
        "vars(value()) == {'x': 1} and value.__slots__ == ('x', 'y')"
        " and not hasattr(value, 'x')",
    ),
    "a str set later": (
        "class C:\n def __init__(self): self.x = 1\nC.__slots__ = 'x'",
        "vars(value()) == {'x': 1} and value.__slots__ == 'x'",
    ),
    "a function set later": (
        "class C: pass\nC.__slots__ = lambda self: 5",
        "vars(value()) == {} and value().__slots__() == 5",
    ),
    "a number set later": (
        "class C: pass\nC.__slots__ = 5",
        "vars(value()) == {} and value.__slots__ == 5",
    ),
    "set later, with slots in a base": (
        "class B: __slots__ = ('b',)\nclass C(B): pass\nC.__slots__ = ()",
        "vars(value()) == {} and hasattr(value, 'b')",
    ),
    "more names later": (
        "class C: __slots__ = ('a',)\nC.__slots__ = ('a', 'b')",
        "value.__slots__ == ('a', 'b') and not hasattr(value, 'b')"
        " and hasattr(value, 'a') and not hasattr(value(), '__dict__')",
    ),
    "fewer names later": (
        "class C: __slots__ = ('a', '__b')\nC.__slots__ = ['a']",
        "value.__slots__ == ['a'] and hasattr(value, '_C__b')"
        " and not hasattr(value(), '__dict__')",
    ),
    "deleted": (
        "class C: __slots__ = ('a', '__dict__')\ndel C.__slots__",
        "hasattr(value, 'a') and vars(value()) == {}"
        " and not hasattr(value(), '__weakref__')",
    ),
    "an iterator that was used up": (
        "class C: __slots__ = iter(['a', 'b'])",
        "hasattr(value, 'a') and hasattr(value, 'b') and list(value.__slots__) == []",
    ),
    "a slot that is another value now": (
        "class C: __slots__ = ('a',)\nC.a = 5",
        "value.a == 5 and not hasattr(value(), '__dict__')",
    ),
    "a slot under two names": (
        "class C: __slots__ = ('a',)\nC.b = C.a",
        "value.b is value.a",
    ),
    "names with places": (
        "class C: __slots__ = {'a': 'd', '__weakref__': None, '__dict__': None}",
        "__import__('weakref').ref(it := value())() is it and vars(it) == {}"
        " and value.__slots__['a'] == 'd'",
    ),
    "of a subclass of tuple": (
        "class C(tuple): __slots__ = ()",
        "not hasattr(value(), '__dict__')",
    ),
    "set later for a subclass of tuple": (
        "class C(tuple): pass\nC.__slots__ = ()",
        "vars(value()) == {} and value.__slots__ == ()",
    ),
    "a dict of a second base": (
        "class A: __slots__ = ('a',)\nclass B: pass\nclass C(A, B): __slots__ = ('c',)",
        "vars(value()) == {} and value.__slots__ == ('c',) and hasattr(value, 'c')",
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_class_has_the_slots_that_it_was_made_with(name):
    source, holds = SOURCES[name]
    sent = define(source).C
    assert eval(holds, {"value": sent})

    assert fresh_process.send(sent, holds)


# A deleted __slots__ is there again, and a new iterator is not used up.
@pytest.mark.parametrize(
    "name", sorted(SOURCES.keys() - {"deleted", "an iterator that was used up"})
)
def test_bytes_of_slots_are_the_same_after_a_round_trip(name):
    payload = waybill.dumps(define(SOURCES[name][0]).C)
    program = "answer = waybill.dumps(waybill.loads(data))"

    assert fresh_process.execute(program, payload) == payload


def test_an_instance_of_a_class_whose_slots_were_set_later_arrives():
    source = """
class C:
    def __init__(self): self.x, self.z = 1, [2]
C.__slots__ = ("x", "y")
value = [C(), C()]
"""

    there = fresh_process.send(define(source).value, "[vars(v) for v in value]")

    assert there == [{"x": 1, "z": [2]}] * 2
