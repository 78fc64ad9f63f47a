"""Instances of ordinary classes get their attributes as they are read.

An Unpickler keeps what it reads, so it takes the way that serves all objects: that is
what the results are compared with.
"""

import copyreg
import dataclasses
import gc
import io
import random
import sys
import weakref

import pytest
import waybill
from sources import define


def load_uncached(data):
    return waybill.Unpickler(io.BytesIO(data)).load()


class Plain:
    def __init__(self, **attributes):
        vars(self).update(attributes)


class Sequence(Plain):
    """Travels with items, which come before its state, as pickle has it."""

    def append(self, item):
        vars(self).setdefault("got", []).append((item, list(vars(self))))

    def __setitem__(self, key, value):
        self.append((key, value))

    def __reduce_ex__(self, protocol):
        return copyreg.__newobj__, (type(self),), vars(self), iter("ab"), None


class Pairs(Sequence):
    def __reduce_ex__(self, protocol):
        return (*super().__reduce_ex__(protocol)[:3], None, iter([("k", 1), ("l", 2)]))


class WithProperty(Plain):
    @property
    def x(self):
        return "of the class"

    @x.setter
    def x(self, value):
        raise AssertionError("the dict is filled")


class Guarded(Plain):
    def __setattr__(self, name, value):
        raise AssertionError("the dict is filled")


class Restoring(Plain):
    def __setstate__(self, state):
        vars(self).update(state, restored=True)


class Made(Plain):
    def __new__(cls):
        made = super().__new__(cls)
        made.made = True
        return made


class WithGetattr(Plain):
    def __getattr__(self, name):
        raise AttributeError(name)


class WithSlots(Plain):
    __slots__ = ("slot",)


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    label: str


class Unhashable(Plain):
    __hash__ = None


MANY = [f"name_{i}" for i in range(40)]
STATES = {
    "nothing": {},
    "one": {"x": 1},
    "leaves": {"x": None, "y": 1.5, "z": -(2**40), "text": "é" * 9, "flag": True},
    "containers": {"x": [1, {"a": (2,)}], "y": {}, "z": set()},
    "a leaf behind": {"x": [], "y": 1},
    "other keys": {1: "a", None: "b", "x": 2, (1, 2): 3},
    "fifteen": dict.fromkeys(MANY[:15], 0),
    "sixteen": dict.fromkeys(MANY[:16], 0),
    "forty": dict.fromkeys(MANY, "value"),
    "long names": {"n" * 40: 1, "é": 2, "名" * 20: 3},
}
CLASSES = [Plain, Sequence, Pairs, WithProperty, Guarded, Restoring, Made, WithGetattr]
CLASSES += [Unhashable]


def make(cls, state):
    made = cls()
    vars(made).update(state)
    return made


def seen(instance):
    return type(instance), list(vars(instance).items())


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("name", STATES)
def test_instances_are_those_of_the_long_way(cls, name):
    data = waybill.dumps([make(cls, STATES[name]) for _ in range(4)])

    received, expected = waybill.loads(data), load_uncached(data)

    assert list(map(seen, received)) == list(map(seen, expected))
    assert len({id(vars(each)) for each in received}) == 4


def test_slots_and_a_dict_are_filled():
    sent = [WithSlots(x=i) for i in range(3)]
    for each in sent:
        each.slot = "s"

    received = waybill.loads(waybill.dumps(sent))

    assert [(each.x, each.slot) for each in received] == [(i, "s") for i in range(3)]


def test_classes_by_value_are_ordinary_too():
    source = "class C:\n def __init__(self, x): self.x = x\n"
    sent = define(source).C
    data = waybill.dumps([sent(i) for i in range(5)])

    received = waybill.loads(data)

    assert [each.x for each in received] == list(range(5))


def test_a_class_that_is_not_complete_is_not_taken_for_ordinary():
    scope = define("""
        class C:
            def __init__(self, x): self.x = x
            def __setstate__(self, state): self.x = state["x"] + 1
        C.instances = [C(1), C(2), C(3)]
        C.setters = C.__setstate__
    """)
    data = waybill.dumps(scope.C)
    del scope
    gc.collect()

    received = waybill.loads(data)

    assert [each.x for each in received.instances] == [2, 3, 4]


def test_a_method_that_a_class_gets_meanwhile_counts():
    def set_state(self, state):
        vars(self).update(state, late=True)

    class Adds:
        def __reduce__(self):
            return setattr, (Plain, "__setstate__", set_state)

    sent = [Plain(x=1), Plain(x=2), Plain(x=3), Adds(), Plain(x=4), Plain(x=5)]
    data = waybill.dumps(sent)
    try:
        received = waybill.loads(data)
    finally:
        del Plain.__setstate__

    late = [getattr(each, "late", False) for each in received if each is not None]
    assert late == [False, False, False, True, True]


def test_instances_that_hold_each_other_arrive_so():
    first, second, third = Plain(a=1), Plain(b=2), Plain()
    first.other, second.other, third.me = second, first, third
    sent = [third, first, second, first]

    received = waybill.loads(waybill.dumps(sent))

    assert received[1].other is received[2] and received[2].other is received[1]
    assert received[0].me is received[0] and received[1] is received[3]


def test_values_that_are_shared_stay_shared():
    text, pair, state = "t" * 70, [1], {"k": 2}
    sent = [
        Plain(a=text, b=pair),
        Plain(a=text, b=pair, c=state),
        Plain(c=state, d=text),
    ]

    received = waybill.loads(waybill.dumps(sent))

    assert received[0].a is received[1].a is received[2].d == text
    assert received[0].b is received[1].b
    assert received[1].c is received[2].c


def test_a_dict_that_is_somebody_elses_too_is_copied():
    sent = [Plain(x=0), Plain(x=1)]
    sent.append(vars(sent[1]))

    received = waybill.loads(waybill.dumps(sent))

    assert vars(received[1]) == received[2] == {"x": 1}
    assert vars(received[1]) is not received[2]


def test_names_of_attributes_are_interned():
    name = "".join(["an_", "attribute"])
    received = waybill.loads(
        waybill.dumps([Plain(**{name: i, "x": 1}) for i in range(9)])
    )

    for each in received:
        assert [key is sys.intern(key) for key in vars(each)] == [True, True]


def test_a_tuple_that_waits_for_itself_does_not_stop_instances():
    holder = []
    cycle = (holder, Plain(x=1))
    holder.extend([cycle, {cycle[1]: Plain(y=2)}, Plain(z=cycle)])

    received = waybill.loads(waybill.dumps([Plain(w=0), cycle]))[1]

    assert received[0][0] is received
    assert next(iter(received[0][1].values())).y == 2
    assert received[0][2].z is received


def test_the_collector_is_as_it_was():
    data = waybill.dumps([Point(1, "a"), Point(2, "b")])

    class Fails:
        def __reduce__(self):
            return int, ("no number",)

    for is_on in (True, False):
        (gc.enable if is_on else gc.disable)()
        try:
            waybill.loads(data)
            assert gc.isenabled() is is_on
            with pytest.raises(ValueError):
                waybill.loads(waybill.dumps([Point(1, "a"), Fails()]))
            assert gc.isenabled() is is_on
        finally:
            gc.enable()


class Collects(Plain):
    were_on = []

    def __setstate__(self, state):
        self.were_on.append(gc.isenabled())


def test_the_collector_may_run_while_others_code_does():
    waybill.loads(waybill.dumps([Collects(x=1), Collects(x=2)]))

    assert Collects.were_on == [True, True]


def test_instances_are_collected_like_any_others():
    cycle = Plain(x=1)
    cycle.me = cycle
    received = waybill.loads(waybill.dumps([cycle, Plain(y=1)]))
    watched = [weakref.ref(each) for each in received]

    del received
    gc.collect()

    assert [reference() for reference in watched] == [None, None]


@pytest.mark.parametrize("seed", range(30))
def test_random_instances_are_those_of_the_long_way(seed):
    chance = random.Random(seed)
    made = []

    def value(depth):
        kind = chance.randrange(9 if depth else 5)
        if kind == 5:
            return [value(depth - 1) for _ in range(chance.randrange(4))]
        if kind == 6:
            return {chance.choice("abc"): value(depth - 1)}
        if kind >= 7:
            each = chance.choice(CLASSES)()
            made.append(each)
            for _ in range(chance.randrange(4)):
                vars(each)[chance.choice(MANY)] = value(depth - 1)
            return each
        leaves = [None, 7, "text", chance.choice(made) if made else 1.5, b"bytes"]
        return leaves[kind]

    def plain(value, seen):
        if isinstance(value, list):
            return [plain(each, seen) for each in value]
        if isinstance(value, dict):
            return {key: plain(each, seen) for key, each in value.items()}
        if not isinstance(value, Plain):
            return value
        if id(value) in seen:
            return seen[id(value)]
        seen[id(value)] = len(seen)
        return type(value).__name__, plain(vars(value), seen)

    data = waybill.dumps([value(4) for _ in range(5)])

    assert plain(waybill.loads(data), {}) == plain(load_uncached(data), {})


def test_an_attribute_without_a_name_arrives():
    sent = [Plain(x=i, text="y" * i) for i in range(100)]
    vars(sent[1])[""] = 5

    assert vars(waybill.loads(waybill.dumps(sent))[1]) == {"x": 1, "text": "y", "": 5}


class Owner(Plain):
    pass


class Part:
    """Tells its owner of itself, also when it is made again."""

    def __init__(self, owner):
        self.owner, self.saw = owner, list(vars(owner))
        owner.last = self
        owner.name = "overwritten"

    def __reduce__(self):
        return Part, (self.owner,)


def test_what_the_state_holds_finds_its_owner_without_state():
    def make():
        owner = Owner(kind="o", part=None, name="sent", size=1)
        owner.part = Part(owner)
        owner.name = "sent"
        del owner.last
        return owner

    received = waybill.loads(waybill.dumps([make() for _ in range(3)]))

    for owner in received:
        assert owner.part.saw == []
        assert owner.last is owner.part
        assert (owner.kind, owner.name, owner.size) == ("o", "sent", 1)
        assert list(vars(owner)) == ["last", "name", "kind", "part", "size"]


class OwnDict(Plain):
    """Says itself where its attributes go."""

    class Writer(dict):
        def __init__(self, target):
            self.target = target

        def __setitem__(self, name, value):
            object.__setattr__(self.target, name, ("set", value))

    @property
    def __dict__(self):
        return self.Writer(self)


def test_a_dict_of_the_class_s_own_is_asked():
    sent = [OwnDict() for _ in range(4)]
    for each in sent:
        object.__setattr__(each, "x", 1)

    received = waybill.loads(waybill.dumps(sent))

    assert [each.x for each in received] == [("set", 1)] * 4


class HashSeen(Plain):
    def __hash__(self):
        type(self).were_on.append(gc.isenabled())
        return 1

    def __eq__(self, other):
        return self is other

    were_on = []


def test_the_collector_may_run_while_keys_are_hashed():
    sent = [{HashSeen(x=1): 1}, {HashSeen(x=2)}, frozenset([HashSeen(x=3)])]
    data = waybill.dumps(sent)
    HashSeen.were_on.clear()

    waybill.loads(data)

    assert HashSeen.were_on and all(HashSeen.were_on)


def test_a_collector_that_others_code_turns_off_stays_off():
    class Off:
        def __reduce__(self):
            return gc.disable, ()

    data = waybill.dumps([Point(1, "a"), Off(), Point(2, "b")])
    try:
        waybill.loads(data)
        assert not gc.isenabled()
    finally:
        gc.enable()
