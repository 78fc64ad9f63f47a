"""A prepared call of functions and classes is the payload of the call."""

import functools

import fresh_process
import pytest
import waybill
from sources import define
from waybill.calls import dumps_call, loads_outcome, run_call

SOURCE = """
scale = 3
held = [1]
class Config:
    def __init__(self, x=0): self.x = x
    def get(self, *more): return self.x, scale, more
    @classmethod
    def make(cls, x): return cls(x).get()
def helper(a): return scale, a
def task(*args): return [helper(arg) for arg in args], Config(1).get()
def even(n): return n == 0 or odd(n - 1)
def odd(n): return n != 0 and even(n - 1)
def same(a, b): return a is b
def is_held(a): return a is held
"""
CALLS = {
    "a function": lambda m: (m.task, (1, [2])),
    "a cycle": lambda m: (m.even, (4,)),
    "a method": lambda m: (m.Config(5).get, (1, 2)),
    "a class method": lambda m: (m.Config.make, (7,)),
    "a partial": lambda m: (functools.partial(m.task, 1), (2,)),
    "a function of functions": lambda m: (map_of(m), (m.helper, 3)),
    "an argument twice": lambda m: (m.same, (m.Config, m.Config)),
    "a global as argument": lambda m: (m.is_held, (m.held,)),
    "a function as argument": lambda m: (m.same, (m.helper, m.helper)),
}
each_call = pytest.mark.parametrize("make", CALLS.values(), ids=CALLS)


def map_of(made):
    return define("def apply(f, x): return f(x)", scale=made.scale).apply


@each_call
def test_prepared_call_has_the_bytes_of_the_call(make):
    function, args = make(define(SOURCE))
    prepared = waybill.prepare(function)

    for _ in range(3):
        assert prepared.dumps(*args) == dumps_call(function, args)


@each_call
def test_prepared_call_gives_what_the_call_gives(make):
    function, args = make(define(SOURCE))

    data = waybill.prepare(function).dumps(*args)

    assert loads_outcome(run_call(data)) == function(*args)
    answer = fresh_process.execute(
        "from waybill.calls import run_call\nanswer = run_call(data)", data
    )
    assert loads_outcome(answer) == function(*args)


def test_prepared_call_stays_as_it_was_prepared():
    made = define(SOURCE)
    prepared = waybill.prepare(made.helper)

    made.helper.__globals__["scale"] = 4

    assert loads_outcome(run_call(prepared.dumps(1))) == (3, 1)
    assert loads_outcome(run_call(dumps_call(made.helper, (1,)))) == (4, 1)


@pytest.mark.parametrize("count", [1, 127, 128, 255, 256, 300])
def test_arguments_with_many_shared_objects_and_functions_arrive(count):
    made = define("def f(a, b, g): return [x is y for x, y in zip(a, b)], g()")
    items = [[n] for n in range(count)]
    given = define("def g(): return held\nheld = 'given'").g

    data = waybill.prepare(made.f).dumps(items, items[::1], given)

    assert loads_outcome(run_call(data)) == ([True] * count, "given")
