"""Bytes of a payload with definitions depend on what is sent, and on no cache."""

import random

import pytest
import repeats
import waybill
from program_graphs import assert_arrives_alike, has_definitions
from random_programs import program, root_of
from sources import define
from without_caches import dumps_without_caches

SOURCE = """
import math
table = {"a": [1, 2]}
class Base:
    def area(self): return math.floor(scale) * self.size()
class Shape(Base):
    kinds = ["x"]
    def __init__(self, n=1): self.n = n
    def size(self): return helper(self.n), Shape
def helper(n): return table["a"][0] + n, other
def other(): return helper, table
scale = 2.5
"""
ROOTS = {
    "a function": lambda m: m.helper,
    "a class": lambda m: m.Shape,
    "instances": lambda m: [m.Shape(n) for n in range(5)],
    "functions and data": lambda m: (m.other, m.table, m.helper, m.Base),
    "a bound method": lambda m: m.Shape(3).size,
    "a dict": lambda m: {"f": m.other, m.Shape: m.Shape()},
}
each_root = pytest.mark.parametrize("make", ROOTS.values(), ids=ROOTS)


@each_root
def test_caches_make_no_difference_to_the_bytes(make):
    root = make(define(SOURCE))
    waybill.clear_caches()

    cold = waybill.dumps(root)
    warm = [waybill.dumps(root) for _ in range(4)]

    assert has_definitions(cold)
    assert {cold, *warm} == {dumps_without_caches(root)}


def test_bytes_do_not_depend_on_whether_copyreg_has_listed_slots():
    source = """
class Slotted:
    __slots__ = "value"
class Other(Slotted):
    __slots__ = ()
Slotted.default, other = Slotted(), Other()
Slotted.default.value = 2
def value(): return other
"""
    for name in ("Slotted", "value"):
        root = getattr(define(source), name)
        first = waybill.dumps(root)

        assert has_definitions(first)
        assert waybill.dumps(root) == first == dumps_without_caches(root)


@each_root
def test_hundreds_of_functions_between_make_no_difference_to_the_bytes(make):
    root = make(define(SOURCE))
    before = waybill.dumps(root)

    for number in range(700):
        scope = {"__name__": f"between_{number}"}
        exec(f"def f(): return g, {number}\ndef g(): return f\nclass C: pass", scope)
        waybill.dumps([scope["f"], scope["C"]])

    assert waybill.dumps(root) == before == dumps_without_caches(root)


@pytest.mark.parametrize("first", ROOTS)
def test_what_was_sent_before_makes_no_difference_to_the_bytes(first):
    made = define(SOURCE)
    for _ in range(2):
        waybill.dumps(ROOTS[first](made))

    for make in ROOTS.values():
        root = make(made)
        assert [waybill.dumps(root) for _ in range(2)] == [
            dumps_without_caches(root)
        ] * 2


def test_the_order_in_which_members_of_a_cycle_were_sent_makes_no_difference():
    made = define(SOURCE)
    waybill.clear_caches()
    first = waybill.dumps(made.helper), waybill.dumps(made.other)
    waybill.clear_caches()

    second = waybill.dumps(made.other), waybill.dumps(made.helper)

    assert first == second[::-1]


INSTANCES = """
class Part:
    def __init__(self, **given): vars(self).update(given)
class Holder: part = Part(level=1, sizes=[2])
SETTING = Part(inner=Part(level=2))
def setting(): return SETTING
"""
HOLDERS = {
    "a class": lambda m: m.Holder,
    "a function": lambda m: m.setting,
    "instances": lambda m: [m.Holder(), m.Part(level=3)],
    "a task": lambda m: (m.setting, [m.Holder], {}),
}


@pytest.mark.parametrize("make", HOLDERS.values(), ids=HOLDERS)
def test_who_else_holds_the_dict_of_an_instance_makes_no_difference(make):
    made = define(INSTANCES)
    root = make(made)
    waybill.clear_caches()
    free = [waybill.dumps(root) for _ in range(2)]
    waybill.clear_caches()

    instances = made.Holder.part, made.SETTING, made.SETTING.inner
    held = [vars(instance) for instance in instances]
    data = [waybill.dumps(root) for _ in range(2)]
    del held
    data.append(waybill.dumps(root))

    assert has_definitions(data[0])
    assert {*free, *data} == {dumps_without_caches(root)}


def assert_arrives_alike_whatever_is_kept(root):
    data = assert_arrives_alike(root)
    assert data == waybill.dumps(root) == dumps_without_caches(root)


@pytest.mark.parametrize("changes", [False, True])
@pytest.mark.parametrize("seed", range(repeats.times(60)))
def test_random_programs_arrive_alike_with_bytes_that_no_cache_changes(seed, changes):
    chance = random.Random(seed + 1000 * changes)
    made = program(chance)

    for _ in range(8 if changes else 5):
        assert_arrives_alike_whatever_is_kept(root_of(made, chance))
        if changes:
            made.change(chance)
