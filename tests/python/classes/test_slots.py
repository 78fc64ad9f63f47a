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


# Where __slots__ names the slots no more, pickle refuses; the slots are still there.
UNNAMED = {
    "a function, of none": (
        "class C:\n def __init__(self): self.x = 1\n"
        "C.__slots__ = lambda self: 5\nvalue = C()",
        "vars(value) == {'x': 1} and value.__slots__() == 5",
    ),
    "a function, of some": (
        "class C:\n"
        " __slots__ = ('a', '__b', 'unset', '__dict__')\n"
        " def __init__(self): self.a, self.__b, self.x = 1, [2], 3\n"
        "C.__slots__ = lambda self: 5\nvalue = C()",
        "(value.a, value._C__b, vars(value), hasattr(value, 'unset'))"
        " == (1, [2], {'x': 3}, False)",
    ),
    "a function, in a base": (
        "class B: __slots__ = ('a',)\nB.__slots__ = len\n"
        "class C(B):\n __slots__ = ('c',)\n def __init__(self): self.a, self.c = 1, 2\n"
        "value = C()",
        "(value.a, value.c) == (1, 2) and not hasattr(value, '__dict__')",
    ),
    "deleted": (
        "class C:\n __slots__ = ('a',)\n def __init__(self): self.a = [self]\n"
        "del C.__slots__\nvalue = C()",
        "value.a[0] is value",
    ),
    "an iterator that was used up": (
        "class C:\n __slots__ = iter(['a'])\n def __init__(self): self.a = 1\n"
        "value = C()",
        "value.a == 1",
    ),
    "a function, of a list": (
        "class C(list): __slots__ = ('a',)\nC.__slots__ = len\n"
        "value = C([1, 2])\nvalue.append(value)\nvalue.a = 3",
        "value[:2] == [1, 2] and value[2] is value and value.a == 3",
    ),
    "a function, of a dict": (
        "class C(dict): pass\nC.__slots__ = len\n"
        "value = C(k=1)\nvalue['self'] = value\nvalue.a = 3",
        "value['k'] == 1 and value['self'] is value and value.a == 3",
    ),
    "a function, where a class says how it is made": (
        "class C(tuple):\n def __new__(cls, a, b): return tuple.__new__(cls, (a, b))\n"
        " def __getnewargs__(self): return tuple(self)\n"
        "C.__slots__ = len\nvalue = C(1, 2)\nvalue.c = 3",
        "value == (1, 2) and value.c == 3",
    ),
}


@pytest.mark.parametrize("name", UNNAMED)
def test_an_instance_arrives_whatever_slots_says(name):
    source, holds = UNNAMED[name]
    sent = define(source).value
    assert eval(holds, {"value": sent})

    check = f"(lambda value, twin: {holds} and value is twin)(*value)"
    assert fresh_process.send([sent, sent], check)


REFUSED = {
    "an attribute that cannot travel": (
        "import _thread\nclass C: pass\nC.__slots__ = len\n"
        "value = C()\nvalue.x = _thread.allocate_lock()",
        "lock' object",
    ),
    "a type in C that keeps what Python cannot see": (
        "import _socket\nclass C(_socket.socket): pass\nC.__slots__ = len\nvalue = C()",
        "'function' object is not iterable|'builtin_function_or_method'",
    ),
    "arguments that nobody can have": (
        "class C:\n def __getnewargs__(self): raise TypeError('not of ours')\n"
        "value = C()",
        "not of ours",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_taken_apart_says_what_it_said(name):
    source, words = REFUSED[name]

    with pytest.raises((waybill.PicklingError, TypeError), match=words):
        waybill.dumps(define(source).value)
