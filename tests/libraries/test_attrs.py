"""Classes of attrs that are defined in __main__ travel, with their instances."""

import fresh_process
import pytest
from claims_in_text import read_claims
from main_script import send

pytest.importorskip("attrs")


def test_a_slotted_class_keeps_its_validators():
    script = """
import attrs
from attrs import define, field, validators
@define
class Point:
    x: int = field(validator=validators.instance_of(int))
    y: int = field(default=2, converter=int)
    @y.validator
    def _small(self, attribute, value):
        if value > 9: raise ValueError("too big")
value = Point, Point(1, "3"), attrs.evolve
"""
    expected = (1, 3, "Point(x=5, y=2)")
    assert send(script, "(value[1].x, value[1].y, repr(value[0](5)))") == expected
    for call in ("value[0]('x')", "value[0](1, 10)"):
        with pytest.raises(Exception, match="(must be|too big)"):
            send(script, call)


def test_a_frozen_class_stays_frozen_and_hashable():
    script = """
from attrs import frozen
@frozen(order=True)
class Key:
    name: str
    rank: int = 0
value = Key, Key("a"), {Key("a"): 1}
"""

    expected = (1, True)
    assert send(script, "value[2][value[0]('a')], value[1] < value[0]('b')") == expected
    with pytest.raises(Exception, match="FrozenInstanceError"):
        send(script, "setattr(value[1], 'name', 'b')")


CLASSES = """
fields are known to attrs
    import attr, attrs
    @attr.s(auto_attribs=True)
    class Old:
        a: int
        b: list = attr.Factory(list)
        c: int = attr.ib(default=3, metadata={"unit": "m"}, kw_only=True)
    value = Old, Old(1)
    >>> (
    ...     [f.name for f in __import__("attrs").fields(value[0])],
    ...     __import__("attrs").asdict(value[1]),
    ...     value[0].__attrs_attrs__.c.metadata["unit"],
    ...     value[0](1).b is not value[0](1).b,
    ... )
    ["a", "b", "c"], {"a": 1, "b": [], "c": 3}, "m", True

super works in a slotted class
    from attrs import define
    @define
    class Base:
        a: int
        def total(self): return self.a
    @define
    class Derived(Base):
        b: int
        def total(self): return super().total() + self.b
        def own_class(self): return __class__
    value = Derived(1, 2)
    >>> value.total(), value.own_class() is type(value)
    3, True

a cached property in a slotted class works
    import functools
    from attrs import define
    @define
    class Circle:
        r: int
        @functools.cached_property
        def area(self): return 3 * self.r ** 2
    value = Circle(2)
    value.area
    >>> value.area, type(value)(3).area
    12, 27

what runs before and after init travels
    from attrs import Factory, define, field
    @define
    class Sized:
        items: list
        size: int = field(init=False)
        first: object = field(default=Factory(lambda self: self.items[0], takes_self=True))
        def __attrs_post_init__(self): self.size = len(self.items)
    value = Sized
    >>> value([4, 5]).size, value([4, 5]).first
    2, 4

a weakly referenced and an exception class travel
    import attrs
    @attrs.define
    class Broken(Exception):
        code: int
    @attrs.define(weakref_slot=True, eq=False)
    class Node:
        up: object = None
        kids: list = attrs.Factory(list)
    root = Node()
    root.kids.append(Node(root))
    value = Broken(3), root
    >>> value[0].code, value[1].kids[0].up is value[1]
    3, True
"""


@pytest.mark.parametrize("script, expression, expected", read_claims(CLASSES))
def test_a_class_works(script, expression, expected):
    assert send(script, expression) == expected


@pytest.mark.parametrize(
    "decorator",
    [
        "attr.s(hash=True, auto_attribs=True)",
        "attr.frozen",
        "attr.define(unsafe_hash=True, cache_hash=True)",
        "attr.define(order=True, getstate_setstate=True, unsafe_hash=True)",
    ],
)
def test_a_class_defined_again_in_a_notebook_has_the_key_of_a_first_one(decorator):
    # attrs gives the text of the second class a file name with a number.
    cell = f"""
import attr, waybill
@{decorator}
class Cell:
    x: int
    y: str = "a"
print(waybill.fingerprint(Cell), waybill.fingerprint(Cell(1)))
"""
    other = cell.replace("y: str", "z: str")

    first = fresh_process.run_script(cell)
    again = fresh_process.run_script(other + cell + other + cell)

    assert again.splitlines()[1::2] == first.splitlines() * 2
