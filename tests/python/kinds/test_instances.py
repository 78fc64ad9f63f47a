"""Instances of ordinary classes are written without asking object.__reduce_ex__.

With a reducer_override every object is asked, so it is what the bytes are compared
with: one that never has an answer changes nothing else.
"""

import abc
import collections
import copyreg
import dataclasses
import enum
import functools
import threading

import pytest
import waybill
from refusals import path_of_refused
from sources import define


def asked(value):
    """The bytes when every object is asked."""
    return encoded(value, reducer_override=no_answer)


def no_answer(obj):
    return NotImplemented


def tabled(value, table):
    """The bytes under the dispatch table of a Pickler."""
    return encoded(value, dispatch_table=table)


def encoded(value, **hooks):
    return waybill._core.encode(value, hooks)


def unasked(value, name):
    """The bytes when no object is asked; hooks have classes written where they are."""
    is_defined = name in (
        "subclasses of containers",
        "by value",
        "class that holds one",
    )
    return tabled(value, copyreg.dispatch_table) if is_defined else waybill.dumps(value)


class Plain:
    def __init__(self, **attributes):
        vars(self).update(attributes)


class Derived(Plain, abc.ABC):
    pass


class Unused:
    pass


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


class SlottedBelow(Slotted):
    def __init__(self, a, b):
        self.a, self.b = a, b


class WithState(Plain):
    def __getstate__(self):
        return {"said": sorted(vars(self))}


class WithArguments(Plain):
    def __new__(cls, *args):
        return super().__new__(cls)

    def __getnewargs__(self):
        return (1, 2)


class WithReduce(Plain):
    def __reduce__(self):
        return Plain, ()


class WithClass(Plain):
    @property
    def __class__(self):
        return Plain


class WithGetattr(Plain):
    def __getattr__(self, name):
        raise AttributeError(name)


class Frozen(Plain):
    def __setattr__(self, name, value):
        raise TypeError("frozen")


@dataclasses.dataclass
class Data:
    x: int
    y: list


class Failure(Exception):
    pass


class Colour(enum.Enum):
    RED = 1


def with_shadow(name, answer):
    obj = Plain(a=1)
    vars(obj)[name] = lambda *args: answer
    return obj


def with_a_dict_of_its_own():
    obj = Plain()
    obj.__dict__ = collections.OrderedDict(a=1)
    return obj


def with_shared_dict():
    one, other = Plain(), Plain()
    one.__dict__ = other.__dict__ = {"a": [1]}
    return [one, other, one.__dict__]


def tree(depth):
    return Plain(left=tree(depth - 1), right=tree(depth - 1)) if depth else Plain()


class WithSlotNames(Plain):
    __slotnames__ = ["x"]
    x = 5


class Meta(type):
    @property
    def __reduce__(cls):
        return lambda self: (Plain, ())


class OfMeta(Plain, metaclass=Meta):
    pass


CYCLE = Plain(name="cycle")
CYCLE.me = [CYCLE, vars(CYCLE)]
BY_VALUE = define("class A:\n def __init__(self, x): self.x = x, A")
OWN_CLASS = define("class A: pass\nA.one = A(); A.one.kind = A").A

VALUES = {
    "plain": lambda: [Plain(a=1, b=[2]), Plain(), Plain(c=Plain(d="e"))],
    "derived": lambda: [Derived(a=1), Derived(a=2), Plain(a=3)],
    "in turn": lambda: [kind(a=i) for i in range(4) for kind in (Plain, Derived)],
    "slots": lambda: [Slotted(1), Slotted(2), SlottedBelow(1, 2), SlottedBelow(3, 4)],
    "state": lambda: [WithState(a=1), WithState(b=2)],
    "arguments": lambda: [WithArguments(), WithArguments()],
    "reduce": lambda: [WithReduce(a=1), WithReduce(a=1)],
    "getattr": lambda: [WithGetattr(a=1), WithGetattr(a=1)],
    "slot names": lambda: [WithSlotNames(a=1), WithSlotNames(a=2)],
    "slot names after the class": lambda: [WithSlotNames, WithSlotNames(a=2)],
    "metaclass with a say": lambda: [OfMeta(a=1), OfMeta(a=2)],
    "frozen": lambda: [Frozen(a=1), Frozen(a=2)],
    "data": lambda: [Data(1, [2]), Data(3, [])],
    "errors": lambda: [Failure(1), Failure(2)],
    "enum": lambda: [Colour.RED, Colour.RED, Plain(colour=Colour.RED)],
    "shadowed reducer": lambda: [Plain(), with_shadow("__reduce_ex__", (Data, (1, 2)))],
    "shadowed state": lambda: [Plain(), with_shadow("__getstate__", None)],
    "own dict": lambda: [Plain(), with_a_dict_of_its_own()],
    "shared dict": lambda: [Plain(), *with_shared_dict()],
    "held dict": lambda: (lambda one: [Plain(), vars(one), one])(Plain(a=1)),
    "keys that are no names": lambda: [Plain(), Plain(**{"a b": 1, "": 2})],
    "subclasses of containers": lambda: [type("L", (list,), {})([1]) for _ in "ab"],
    "cycle": lambda: [Plain(), CYCLE],
    "tree": lambda: tree(5),
    "by value": lambda: [BY_VALUE.A(1), BY_VALUE.A(2)],
    "class that holds one": lambda: [OWN_CLASS(), OWN_CLASS.one, OWN_CLASS()],
    "partial": lambda: [functools.partial(print, Plain(a=i)) for i in range(2)],
    "sets": lambda: [Plain(), Plain(a={Colour.RED, 1, (2,)})],
}


@pytest.mark.parametrize("name", VALUES)
def test_bytes_are_those_of_an_object_that_is_asked(name):
    value = VALUES[name]()

    assert unasked(value, name) == asked(value)


@pytest.mark.parametrize("kind", [dict, collections.ChainMap])
@pytest.mark.parametrize("name", VALUES)
def test_dispatch_tables_without_their_types_change_nothing(name, kind):
    value = VALUES[name]()
    # What the standard library registers as it is imported is in both.
    table = kind({**copyreg.dispatch_table, Unused: None})

    assert tabled(value, table) == unasked(value, name)


@pytest.mark.parametrize(
    "table",
    [{}, collections.ChainMap(), copyreg.dispatch_table],
    ids=["a dict", "a chain of maps", "that of copyreg"],
)
def test_reducer_that_is_registered_meanwhile_is_asked(table):
    class Registering:
        def __reduce__(self):
            table[Plain] = lambda obj: (Data, (7, []))
            return Data, (1, [])

    value = [Plain(), Plain(), Registering(), Plain()]
    is_own = table is not copyreg.dispatch_table
    try:
        data = tabled(value, table) if is_own else waybill.dumps(value)
        arrived = waybill.loads(data)
    finally:
        del table[Plain]

    assert [type(one) for one in arrived] == [Plain, Plain, Data, Data]


@pytest.mark.parametrize("name", ["plain", "derived", "data", "tree", "slots"])
def test_instances_arrive_as_they_were(name):
    data = waybill.dumps(VALUES[name]())

    assert waybill.dumps(waybill.loads(data)) == data


def test_instances_that_name_another_class_are_of_their_type():
    value = [Plain(), WithClass(), WithClass()]

    assert asked(value) == waybill.dumps(value)
    arrived = waybill.loads(waybill.dumps(value))
    assert [type(one) for one in arrived] == [Plain, WithClass, WithClass]


@pytest.mark.parametrize("caches", [True, False])
def test_function_that_makes_objects_meanwhile_is_asked_for_each(caches, monkeypatch):
    scope = define("""
        class Empty: pass
        class Slotted: __slots__ = ()
        """)
    waybill.configure(caches=caches)
    try:
        values = [scope.Empty(), scope.Empty(), scope.Slotted(), scope.Slotted()]
        for _ in range(3):
            waybill.dumps(values)

        monkeypatch.setattr(copyreg, "__newobj__", lambda cls: [cls.__name__])
        payloads = [waybill.dumps(values) for _ in range(3)]
    finally:
        waybill.configure(caches=True)

    assert len(set(payloads)) == 1
    expected = [["Empty"], ["Empty"], ["Slotted"], ["Slotted"]]
    assert waybill.loads(payloads[0]) == expected


def test_method_that_a_class_gets_meanwhile_is_asked():
    class Changing:
        def __reduce__(self):
            Plain.__getstate__ = lambda self: {"late": True}
            return Data, (1, [])

    try:
        arrived = waybill.loads(waybill.dumps([Plain(), Plain(), Changing(), Plain()]))
    finally:
        del Plain.__getstate__

    assert [vars(one) for one in (*arrived[:2], arrived[3])] == [{}, {}, {"late": True}]


def test_error_names_the_attribute():
    value = [Plain(), Plain(a=Plain(lock=threading.Lock()))]

    assert path_of_refused(value) == "obj[1].a.lock (_thread.lock)"
