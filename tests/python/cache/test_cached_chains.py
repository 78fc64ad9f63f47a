"""The encode cache: functions and classes that come one behind the other.

What caches that are off give is what counts.
"""

import decimal
import gc
import weakref

import pytest
import waybill
from cached_classes import CHANGES, demand_same_after, world
from cached_nodes import hits_of_caches, is_taken, nodes_taken
from sources import define
from without_caches import dumps_without_caches


class Link:
    """Of a chain of instances, each of another class."""

    def __init__(self, number, following):
        self.number, self.following = number, following


def links(count):
    following = None
    for number in range(count):
        cls = type(f"Link{number}", (Link,), {"value": number, "more": lambda self: 1})
        following = cls(number, following)
    return following


CHAINS = {
    "two classes": lambda w: [w["Plain"](), w["Shape"](2)],
    "two functions": lambda w: (w["use"], w["plain"], 1),
    "a task with objects": lambda w: (w["use"], (w["Shape"](), w["Plain"]()), {}),
    "an object and a function": lambda w: {"a": w["Part"](), "f": w["use"]},
    "what is shared, then classes": lambda w: [TEXTS, TEXTS, w["Base"](), w["Shape"]()],
    "a class, what is shared, a class": lambda w: shared_between(w),
    "objects in each other": lambda w: nested(w),
    "a class behind one that reaches it": lambda w: [w["Shape"](), w["Part"](), "end"],
    "classes that differ in order": lambda w: [w["Plain"], w["Part"], w["Base"]],
}

TEXTS = ["text " * 20, [1, 2]]


def shared_between(w):
    part = w["Plain"]()
    return [part, part, [part], w["Shape"](), part, w["use"], w["Shape"]]


def nested(w):
    shape = w["Shape"]()
    shape.parts = [w["Plain"](), w["Plain"]()]
    shape.parts[0].base = w["Base"]()
    return shape


@pytest.mark.parametrize("make", CHAINS.values(), ids=CHAINS)
def test_a_chain_that_is_sent_again_is_taken_link_by_link(make):
    w = world()

    assert nodes_taken(make, w) >= 1 + (make is not CHAINS[REACHED])

    assert waybill.dumps(make(w)) == dumps_without_caches(make(w))
    assert isinstance(waybill.loads(waybill.dumps(make(w))), type(make(w)))


REACHED = "a class behind one that reaches it"


@pytest.mark.parametrize("make", CHAINS.values(), ids=CHAINS)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_a_chain_depends_on_shows_at_once(change, make):
    w = world()
    assert nodes_taken(make, w)

    demand_same_after(change, make, w)


@pytest.mark.parametrize("first", CHAINS.values(), ids=CHAINS)
@pytest.mark.parametrize("second", CHAINS.values(), ids=CHAINS)
def test_chains_that_begin_alike_do_not_mix(first, second):
    w = world()
    expected = [dumps_without_caches(make(w)) for make in (first, second)]

    for _ in range(4):
        assert [waybill.dumps(make(w)) for make in (first, second)] == expected


@pytest.mark.parametrize(
    "other",
    [decimal.Decimal(1), len, world, {1, "two"}, [[]] * 2, b"x" * 200_000],
    ids=["an instance", "a builtin", "a function by name", "a set", "data", "bytes"],
)
def test_what_was_kept_in_a_nodes_taken_where_that_ends_early(other):
    w = world()
    assert nodes_taken(CHAINS["a task with objects"], w) == 2

    for obj in (w["use"], (w["use"], (w["Shape"](),), {}), w["use"]):
        for _ in range(3):
            for sent in (obj, [obj, other], [obj, w["Plain"](), other]):
                assert waybill.dumps(sent) == dumps_without_caches(sent)


@pytest.mark.parametrize("other", [gc, decimal.Decimal, len, decimal.Decimal(2)])
def test_what_follows_in_the_dict_of_an_instance_is_written_once(other):
    w = world()
    assert is_taken(w["Plain"]())

    obj = w["Plain"]()
    obj.first, obj.other, obj.more, obj.last = 1, other, {"in": other, "it": 2}, 3

    assert waybill.dumps(obj) == dumps_without_caches(obj)
    assert vars(waybill.loads(waybill.dumps(obj))) == vars(obj)


def test_more_references_than_are_numbered_in_one_byte_are_right():
    w = world()
    shared = [[number] for number in range(300)]

    for _ in range(4):
        for count in (10, 200, 254, 255, 256, 257, 300):
            obj = [shared[:count], shared[:count], w["Plain"](), w["Shape"](), w["use"]]
            assert waybill.dumps(obj) == dumps_without_caches(obj)


def test_more_chains_than_are_kept_are_all_sent():
    made = [type(f"Made{n}", (), {"value": n}) for n in range(40)]
    pairs = [(a(), b()) for a in made for b in made]
    expected = [dumps_without_caches(pair) for pair in pairs]

    for _ in range(3):
        assert [waybill.dumps(pair) for pair in pairs] == expected


def test_what_code_looks_into_is_not_kept_alive():
    w = world()
    w["TABLE"]["a"] = w["Plain"]
    assert is_taken(w["use"])
    watched, code = weakref.ref(w["Plain"]), w["use"].__code__

    w.clear()
    gc.collect()

    assert watched() is None
    assert code.co_name == "use"  # What is kept of the function is kept on its code.


@pytest.mark.parametrize("make", [lambda w: w["use"], lambda w: w["Shape"]()])
def test_what_is_kept_is_forgotten_with_the_caches_and_kept_again(make):
    w = world()
    for _ in range(20):
        assert is_taken(make(w))

        waybill.clear_caches()

        hits = hits_of_caches()
        waybill.dumps(make(w))
        assert hits_of_caches() == hits


def test_a_chain_of_closures_of_one_code_is_right():
    def make(number):
        return lambda x: x + number

    for number in range(20):
        obj = [make(number), make(number + 1), make(number)]
        assert waybill.dumps(obj) == dumps_without_caches(obj)
        expected = [number + 1, number + 2, number + 1]
        assert [f(1) for f in waybill.loads(waybill.dumps(obj))] == expected


@pytest.mark.parametrize("depth", range(20))
def test_what_follows_a_taken_node_deep_in_containers_is_written(depth):
    scope = define("""
        class P:
            def m(self): return h()
        def h(x=(1, 2)): return x
        def f(): return h, P
        def g(): return P, f()
        """)
    for _ in range(6):
        waybill.dumps(scope.g)
    value = {"a": scope.g, "b": decimal, "c": [1]}
    for level in range(depth):
        value = [value] if level % 3 else {"k": (value,), "l": level}

    assert waybill.dumps(value) == dumps_without_caches(value)
