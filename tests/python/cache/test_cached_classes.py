"""The encode cache: whatever a class depends on, a change of it shows at once.

What caches that are off give is what counts.
"""

import copyreg
import decimal
import gc
import os
import sys
import weakref

import pytest
import waybill
from cached_classes import (
    CHANGES,
    CHANGES_OF_ABSTRACT,
    abstract_world,
    demand_arrival,
    demand_same_after,
    world,
)
from cached_nodes import hits_of_caches, is_taken, nodes_taken
from sources import define
from without_caches import dumps_without_caches

#: What is sent of the class, or of what reaches it.
PLACES = {
    "alone": lambda w: w["Shape"],
    "an instance": lambda w: w["Shape"](3),
    "an instance without attributes": lambda w: w["Plain"](),
    "instances": lambda w: [w["Shape"](number) for number in range(3)],
    "an instance in data": lambda w: {"one": [1, "two"], "it": w["Shape"]()},
    "an instance that is shared": lambda w: [w["Shape"]()] * 2,
    "its class behind it": lambda w: [w["Shape"](), w["Shape"]],
    "a function that reaches it": lambda w: w["use"],
    "a task": lambda w: (w["use"], (1,), {}),
    "a task with an instance": lambda w: (w["use"], (w["Shape"](),), {}),
    "an instance and a task": lambda w: [w["Shape"](), w["use"]],
    "behind what it reaches": lambda w: [w["Shape"].sizes, w["Shape"]],
    "before what it reaches": lambda w: [w["Shape"](), w["Shape"].sizes, w["Part"]],
    "before a method": lambda w: [w["Shape"](), w["Shape"].area],
    "before a module": lambda w: [w["Shape"](), sys],
    "before an instance of another": lambda w: [w["Shape"](), w["Part"](), w["Plain"]],
    "behind an instance of another": lambda w: [w["Plain"](), w["Shape"]()],
    "with an instance of another inside": lambda w: [holding(w["Plain"](), w)],
    "with itself inside": lambda w: holding_itself(w),
    "with a method inside": lambda w: [holding(w["Shape"]().norm, w)],
}
#: Functions and classes that come one behind the other.
TOGETHER = {
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
PLACES |= TOGETHER


TEXTS = ["text " * 20, [1, 2]]


def shared_between(w):
    part = w["Plain"]()
    return [part, part, [part], w["Shape"](), part, w["use"], w["Shape"]]


def nested(w):
    shape = w["Shape"]()
    shape.parts = [w["Plain"](), w["Plain"]()]
    shape.parts[0].base = w["Base"]()
    return shape


def holding(value, w):
    shape = w["Shape"]()
    shape.value = value
    return shape


def holding_itself(w):
    shape = w["Shape"]()
    shape.value = [shape]
    return shape


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_a_class_depends_on_shows_at_once(change, place):
    w = world()
    assert all(is_taken(obj) for obj in (w["Shape"], w["Shape"](), w["use"]))
    for _ in range(3):
        waybill.dumps(place(w))

    demand_same_after(change, place, w)


@pytest.mark.parametrize("place", ["an instance", "a task", "behind what it reaches"])
@pytest.mark.parametrize(
    "name", [n for n in CHANGES | CHANGES_OF_ABSTRACT if n != "other bases"]
)
def test_whatever_an_abstract_class_depends_on_shows_at_once(name, place):
    change = (CHANGES | CHANGES_OF_ABSTRACT)[name]
    w = abstract_world()
    assert all(is_taken(obj) for obj in (w["Shape"], w["Shape"](), w["use"]))
    for _ in range(3):
        waybill.dumps(PLACES[place](w))

    demand_same_after(change, PLACES[place], w)


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_instances_that_went_as_kept_arrive(place):
    demand_arrival(place, world())


@pytest.mark.parametrize("name", TOGETHER)
def test_what_comes_together_is_taken_one_by_one(name):
    count = 1 if name == "a class behind one that reaches it" else 2

    assert nodes_taken(TOGETHER[name], world()) >= count


def test_classes_of_one_text_stay_two():
    w, other = world(), world()
    assert is_taken(w["Shape"]())
    assert is_taken(other["Shape"]())

    for scope in (w, other):
        assert waybill.dumps(scope["Shape"]()) == dumps_without_caches(scope["Shape"]())
    assert waybill.dumps(w["Shape"]()) != waybill.dumps(other["Shape"]())


def test_a_reducer_that_is_registered_shows_at_once():
    w = world()
    assert is_taken(w["Shape"]())
    shape = w["Shape"]

    copyreg.pickle(shape, lambda self: (shape, (9,)))
    try:
        assert waybill.dumps(shape()) == dumps_without_caches(shape())
        assert waybill.loads(waybill.dumps(shape())).x == 9
    finally:
        del copyreg.dispatch_table[shape]
    assert waybill.dumps(shape()) == dumps_without_caches(shape())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_class_has_left_home_in_a_forked_child():
    w = world()
    assert is_taken(w["Shape"]())
    read, write = os.pipe()

    pid = os.fork()
    if pid == 0:
        shape = w["Shape"]()
        os.write(write, b"%d" % (waybill.dumps(shape) == dumps_without_caches(shape)))
        os._exit(0)
    os.waitpid(pid, 0)

    assert os.read(read, 1) == b"1"


def test_a_class_that_arrived_is_not_taken_as_if_at_home():
    data = waybill.dumps(world()["Shape"])
    received = waybill.loads(data)

    for _ in range(4):
        assert waybill.dumps(received()) == dumps_without_caches(received())


def test_a_class_of_a_function_of_an_importable_module_is_looked_for_there(modules):
    one, _, _ = modules
    scope = vars(one)
    exec("class Thing: pass\nThing.__module__ = 'gone'\ndef use(): return Thing", scope)
    use = scope["use"]
    use.__module__ = "gone"

    for _ in range(4):
        assert waybill.dumps(use) == dumps_without_caches(use)


def test_more_classes_than_are_kept_are_all_sent():
    made = [type(f"Made{n}", (), {"value": n}) for n in range(300)]
    expected = [dumps_without_caches(cls()) for cls in made]

    for _ in range(3):
        assert [waybill.dumps(cls()) for cls in made] == expected


def test_a_class_that_died_is_not_mistaken_for_one_at_its_address():
    for number in range(50):
        made = type("Made", (), {"value": number})
        for _ in range(4):
            data = waybill.dumps(made())
        assert waybill.loads(data).value == number
        del made


def test_nothing_of_a_class_is_kept_alive():
    w = world()
    assert is_taken(w["Shape"]())
    watched = [weakref.ref(w[name]) for name in ("Shape", "Part", "Base", "use")]

    w.clear()
    gc.collect()

    assert not any(reference() for reference in watched)


@pytest.mark.parametrize("number", range(4))
def test_dumping_code_that_runs_meanwhile_is_no_harm(number):
    w = world()
    sending = []

    class Strange(str):
        __slots__ = ()

        def __eq__(self, other):
            if number % 2 and not sending:
                sending.append(1)
                waybill.dumps(w["Shape"]())
                sending.clear()
            if number >= 2:
                waybill.clear_caches()
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    assert is_taken(w["use"])
    w[Strange("__name__")] = w.pop("__name__")
    for _ in range(4):
        assert waybill.dumps(w["use"]) == dumps_without_caches(w["use"])


# ---- What is kept together with what is not


@pytest.mark.parametrize("first", TOGETHER.values(), ids=TOGETHER)
@pytest.mark.parametrize("second", TOGETHER.values(), ids=TOGETHER)
def test_what_begins_alike_does_not_mix(first, second):
    w = world()
    expected = [dumps_without_caches(make(w)) for make in (first, second)]

    for _ in range(4):
        assert [waybill.dumps(make(w)) for make in (first, second)] == expected


@pytest.mark.parametrize(
    "other",
    [decimal.Decimal(1), len, world, {1, "two"}, [[]] * 2, b"x" * 200_000],
    ids=["an instance", "a builtin", "a function by name", "a set", "data", "bytes"],
)
def test_what_was_kept_is_taken_before_others(other):
    w = world()
    assert nodes_taken(TOGETHER["a task with objects"], w) == 2

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


def test_closures_of_one_code_are_right():
    def make(number):
        return lambda x: x + number

    for number in range(20):
        obj = [make(number), make(number + 1), make(number)]
        assert waybill.dumps(obj) == dumps_without_caches(obj)
        expected = [number + 1, number + 2, number + 1]
        assert [f(1) for f in waybill.loads(waybill.dumps(obj))] == expected


@pytest.mark.parametrize("depth", range(20))
def test_what_follows_a_kept_function_deep_in_containers_is_written(depth):
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
