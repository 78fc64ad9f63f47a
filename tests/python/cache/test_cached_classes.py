"""The encode cache: whatever a class depends on, a change of it shows at once.

What caches that are off give is what counts.
"""

import copyreg
import os
import sys

import pytest
import waybill
from cached_classes import CHANGES, demand_arrival, demand_same_after, world
from cached_nodes import is_taken
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

    demand_same_after(change, place, w)


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_instances_that_went_as_kept_arrive(place):
    demand_arrival(place, world())


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
    import gc
    import weakref

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
