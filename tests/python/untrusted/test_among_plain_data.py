"""A value that is not plain costs itself alone, and nobody sees where the decoder of
data that is not verified stopped before it.

What `loads` gives is compared with what it gives in a stream, where the data is
verified first and the place of each object is noted.
"""

import collections
import datetime
import decimal
import fractions
import gc
import itertools
import pathlib
import uuid

import pytest
import waybill
from resealing import resealed
from sources import define
from test_unverified_data import (
    HASHABLE,
    LEAVES,
    demand_same_end_when_spoiled,
    outcome,
    verified_first,
)

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

NOW = datetime.datetime(2026, 5, 4, 3, 2, 1)
#: Values that are not plain: made by a call, by name, by a node of their own.
OTHERS = [
    NOW,
    datetime.timedelta(3, 4, 5),
    decimal.Decimal("1.50"),
    fractions.Fraction(1, 3),
    range(1, 9, 2),
    len,
    itertools,
    slice(1, 2),
    uuid.UUID(int=5),
    pathlib.PurePosixPath("a/b"),
    collections.deque([1, [2]], 5),
    collections.OrderedDict(a=[1], b=2),
    collections.defaultdict(list, {"k": [1]}),
    collections.Counter("abca"),
]
HASHABLE_OTHERS = [*OTHERS[:7], *OTHERS[8:10]]
MIXED = st.recursive(
    LEAVES | st.sampled_from(OTHERS),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(HASHABLE | st.sampled_from(HASHABLE_OTHERS), inner)
        | st.sets(HASHABLE | st.sampled_from(HASHABLE_OTHERS), max_size=4)
        | st.frozensets(HASHABLE | st.sampled_from(HASHABLE_OTHERS), max_size=4)
        | st.lists(inner, min_size=1).map(lambda v: [v, v, (v[0], v)])
    ),
    max_leaves=30,
)

AROUND = {
    "in a list": lambda v: [1, [2, "x"], v, [3], {"k": 4}],
    "last": lambda v: [[1, 2], {"a": [3]}, "x" * 40, v],
    "in a dict": lambda v: {"a": [1], "b": v, "c": {"d": 2}},
    "in a tuple": lambda v: ([1], (2, v, 3), [4]),
    "deep": lambda v: [[{"a": [(1, [v, 2])]}], 3],
    "again and again": lambda v: [{"n": n, "v": v, "l": [n]} for n in range(9)],
    "beside a set": lambda v: [{1, (2, 3)}, v, {"a", "b"}],
    "after what is shared": lambda v: (lambda s: [s, v, s, (s, v)])([1, {"k": 2}]),
    "around what is shared": lambda v: (lambda s: [v, {"s": s}, s, [v]])([v, 1]),
    "in a cycle": lambda v: (lambda s: s.append({"me": s, "v": v}) or s)([v, 1]),
    "in a cycle of a tuple": lambda v: (lambda s: s[0].append((s, v)) or s)(
        ([1], v, [2])
    ),
    "before keys that cost": lambda v: [v, {(1, (2, 3)): 4, 2**70: [5]}],
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_it_arrives_as_verified_first(number, around):
    data = waybill.dumps(AROUND[around](OTHERS[number]))

    assert outcome(waybill.loads, data) == outcome(verified_first, data)


@pytest.mark.parametrize("number", range(len(HASHABLE_OTHERS)))
@pytest.mark.parametrize(
    "around",
    [
        lambda v: [[1, [2]], {v: [3], "k": 4}, [5]],
        lambda v: [[1], {(v, 1): 2}, (3,)],
        lambda v: [[1], {1, v, (2, v)}, [3]],
        lambda v: [[1], frozenset([1, v, (2, 3)]), [3, [4, {"k": v}]]],
        lambda v: {frozenset([v, (v, 2)]): [v], (v, frozenset([1])): (v,)},
    ],
)
def test_it_may_be_a_key(number, around):
    data = waybill.dumps(around(HASHABLE_OTHERS[number]))

    assert outcome(waybill.loads, data) == outcome(verified_first, data)


@hypothesis.given(MIXED)
def test_mixed_data_arrives_as_verified_first(value):
    data = waybill.dumps(value)

    assert outcome(waybill.loads, data) == outcome(verified_first, data)


@pytest.mark.parametrize("around", AROUND)
def test_spoiled_it_ends_as_verified_first(around):
    demand_same_end_when_spoiled(waybill.dumps(AROUND[around](range(3))), 4)


LOOKING = """
import copy, gc
class Looks:
    def __init__(self, *others): self.others = others
    def __setstate__(self, state):
        self.others = state["others"]
        seen.append(repr(self.others))
class Meddles:
    def __eq__(self, other): return type(self) is type(other)
    def __init__(self, other): self.other = other
    def __setstate__(self, state):
        self.other = state["other"]
        self.other.append("more")
class Collects:
    def __init__(self): self.x = 1
    def __setstate__(self, state):
        gc.collect()
        for each in gc.get_objects():
            if type(each) in (list, tuple):
                for item in each: type(item)
            if type(each) is dict:
                for key, item in each.items(): type(item)
class Plain:
    def __init__(self, other): self.other = other
    def __repr__(self): return f"Plain({vars(self)})"
class Keyed:
    def __init__(self, other): self.other = other
    def __hash__(self):
        seen.append(repr(vars(self).get("other")))
        return 1
class Fails:
    def __init__(self): self.x = 1
    def __setstate__(self, state): raise LookupError("for no reason")
seen = []
"""


def cyclic(scope, make):
    around = [[1], {"a": [2]}]
    around.append(make(scope, around))
    return [around, [3, (4,)], "x"]


@pytest.mark.parametrize(
    "make",
    [
        lambda scope, around: scope.Looks(around),
        lambda scope, around: {"k": [scope.Looks(around, around[1])]},
        lambda scope, around: (scope.Looks(around[0]), scope.Looks(around), around),
        lambda scope, around: [around, scope.Looks(around)],
        # What is complete leads to what is not.
        lambda scope, around: (lambda box: [box, scope.Looks(box), 5])([around]),
        lambda scope, around: (lambda box: (box, scope.Looks(box)))({"k": (around,)}),
        lambda scope, around: (lambda one: [one, scope.Looks(one)])(
            scope.Plain(around)
        ),
        # Keys with code of their own.
        lambda scope, around: {scope.Keyed(around): [1]},
        lambda scope, around: {(1, scope.Keyed(1)): [around]},
        lambda scope, around: [range(2), {scope.Keyed(around): 1, "k": 2}],
        lambda scope, around: [range(2), {scope.Keyed(1), (scope.Keyed(2), 3)}],
        lambda scope, around: (lambda key: [key, range(2), {key: 1}])(scope.Keyed(1)),
        lambda scope, around: frozenset([scope.Keyed(1), (2, scope.Keyed(3))]),
    ],
)
def test_code_that_looks_at_what_is_around_sees_the_same(make):
    scope = define(LOOKING)
    data = waybill.dumps(cyclic(scope, make))
    seen = scope.Looks.__setstate__.__globals__["seen"]
    seen.clear()

    waybill.loads(data)
    found = list(seen)
    seen.clear()
    verified_first(data)

    assert found == seen != []


@pytest.mark.parametrize("change", ["append('more')", "clear()", "insert(0, 1)"])
def test_code_that_changes_a_list_around_is_told_the_same(change):
    scope = define(LOOKING.replace('append("more")', change))
    data = waybill.dumps(cyclic(scope, lambda scope, around: scope.Meddles(around)))

    assert outcome(waybill.loads, data) == outcome(verified_first, data)


@pytest.mark.parametrize(
    "change", ["__setitem__('more', 1)", "clear()", "pop('a', 0)", "update(x=1, a=2)"]
)
def test_code_that_changes_a_dict_around_is_told_the_same(change):
    scope = define(LOOKING.replace('append("more")', change))
    around = {"a": [1], "b": {}}
    around["c"] = scope.Meddles(around)
    around["d"] = [2]
    data = waybill.dumps([around, range(2), around])

    assert outcome(waybill.loads, data) == outcome(verified_first, data)


@pytest.mark.parametrize("around", AROUND)
def test_what_was_begun_and_is_not_sound_leaves_no_holes(around):
    data = waybill.dumps(AROUND[around]([range(3), 4, 5, 6]))
    section = waybill.inspect(data)["sections"]["debug_info"]["offset"]
    # A tag that no node has.
    at = data.index(b"\xd4\x00") + 2
    spoiled = resealed(data[:at] + b"\x7f" + data[at + 1 :], section + 1)

    for _ in range(3):
        with pytest.raises(waybill.DecodeError):
            waybill.loads(spoiled)
        for each in gc.get_objects():
            if type(each) in (list, tuple):
                for item in each:
                    type(item)
        gc.collect()


@pytest.mark.parametrize("around", AROUND)
def test_code_that_looks_at_all_objects_finds_no_holes(around):
    scope = define(LOOKING)
    value = AROUND[around](scope.Collects())
    data = waybill.dumps([[1, 2], (3, value, [4, 5]), {"k": [6, value]}])

    arrived = waybill.loads(data)

    assert (arrived[0], arrived[1][2]) == ([1, 2], [4, 5])
    assert all(map(gc.is_tracked, [arrived, arrived[0], arrived[1][2]]))


@pytest.mark.parametrize("around", AROUND)
def test_what_code_raises_names_the_same_place(around):
    scope = define(LOOKING)
    data = waybill.dumps(AROUND[around](scope.Fails()))
    notes = []

    for load in (waybill.loads, verified_first):
        with pytest.raises(LookupError) as caught:
            load(data)
        notes.append(caught.value.__notes__)

    assert notes[0] == notes[1] != []


def test_equal_keys_are_refused_wherever_they_stand():
    data = waybill.dumps([range(3), {"one": 1, "two": 2}, [3]])
    end = waybill.inspect(data)["sections"]["debug_info"]["offset"]
    spoiled = resealed(data.replace(b"two", b"one"), end + 1)

    assert outcome(waybill.loads, spoiled) == outcome(verified_first, spoiled)
    assert outcome(waybill.loads, spoiled)[0] == "error"


def test_nothing_leaks_where_a_payload_is_refused_half_way():
    scope = define(LOOKING)
    data = waybill.dumps([[object, {"k": [1.5]}], scope.Fails(), [2]])

    def load():
        with pytest.raises(LookupError):
            waybill.loads(data)

    for _ in range(5):
        load()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(50):
        load()
    gc.collect()

    assert len(gc.get_objects()) - before < 20
