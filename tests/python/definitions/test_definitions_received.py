"""Functions and classes that were received are sent again, and behave as before."""

import functools

import fresh_process
import pytest
import waybill
from program_graphs import graph_in_fresh_process, has_definitions
from sources import define

SOURCE = """
import functools, math
held = {"a": [1]}
class Base:
    def area(self): return math.floor(scale) * self.size()
class Shape(Base):
    made = 0
    def __init__(self, n=1): self.n = n
    def size(self): return helper(self.n)
    @classmethod
    def make(cls, n): return cls(n)
    @staticmethod
    def name(): return helper.__name__
    @property
    def double(self): return 2 * self.n
def helper(n): return held["a"][0] + n
def call(method, *args): return method(*args)
scale = 2.5
"""
RELAY = """
value = waybill.loads(data)
answer = waybill.dumps(value)
assert waybill.dumps(value) == answer
"""
ROOTS = {
    "a function": ("m.helper", "value(4) == 5"),
    "a class": ("m.Shape", "value(4).area() == 10"),
    "an instance": ("m.Shape(3)", "value.area() == 8 and value.double == 6"),
    "functions and data": (
        "[m.helper, m.held, m.call]",
        "(value[1]['a'].__setitem__(0, 5), value[2](value[0], 1))[1] == 6",
    ),
    "a bound method": ("m.Shape(3).area", "value() == 8"),
    "a class method": ("m.Shape.make", "value(3).area() == 8"),
    "a static method": ("m.Shape.name", "value() == 'helper'"),
    "a method of the base": ("m.Base.area", "value.__name__ == 'area'"),
    "a partial of a function": ("functools.partial(m.helper, 4)", "value() == 5"),
    "a partial of a method": (
        "functools.partial(m.call, m.Shape(3).area)",
        "value() == 8",
    ),
    "a partial of a class method": (
        "functools.partial(m.Shape.make, 3)",
        "value().area() == 8",
    ),
    "a partial of a partial": (
        "functools.partial(functools.partial(m.call, m.Shape.make), 3)",
        "value().area() == 8",
    ),
    "a class and its method": (
        "[m.Shape(2).size, m.Shape, m.Shape.make]",
        "value[0].__self__.__class__ is value[1] is value[2].__self__",
    ),
    "a method first": (
        "{'f': m.Shape(1).area, 'c': m.Shape}",
        "type(value['f'].__self__) is value['c'] and value['f']() == 4",
    ),
    "two methods of one object": (
        "(lambda s: [s.area, s.size, s])(m.Shape(1))",
        "value[0].__self__ is value[1].__self__ is value[2]",
    ),
}
each_root = pytest.mark.parametrize(("root", "claim"), ROOTS.values(), ids=ROOTS)


def made_of(root):
    return eval(root, {"m": define(SOURCE), "functools": functools})


@each_root
def test_it_behaves_in_the_process_that_sent_it(root, claim):
    data = waybill.dumps(made_of(root))

    assert has_definitions(data)
    assert eval(claim, {"value": waybill.loads(data)})


@each_root
def test_it_behaves_in_another_process(root, claim):
    assert fresh_process.send(made_of(root), claim)


@each_root
def test_it_behaves_when_another_process_sends_it_on(root, claim):
    first = waybill.dumps(made_of(root))

    second = fresh_process.execute(RELAY, first)
    third = fresh_process.execute(RELAY, second)

    assert has_definitions(second)
    assert has_definitions(third)
    assert fresh_process.load(second, claim)
    assert fresh_process.load(third, claim)
    assert eval(claim, {"value": waybill.loads(third)})
    graphs = {graph_in_fresh_process(one) for one in (first, second, third)}
    assert len(graphs) == 1


def test_class_comes_home_as_the_class_it_was():
    made = define(SOURCE)
    data = waybill.dumps([made.Shape, made.helper])

    shape, _ = waybill.loads(fresh_process.execute(RELAY, data))

    assert shape is made.Shape


def test_methods_name_their_class_by_one_definition():
    made = define(SOURCE)

    data = waybill.dumps([made.Shape(1).area, made.Shape(2).size, made.Shape])

    assert data.count(b"\xa4made") == 1  # An attribute of the class.


def test_two_payloads_received_in_turn_are_sent_on_together():
    one = waybill.dumps(define("def f(): return held\nheld = 1").f)
    two = waybill.dumps(define("def f(): return held\nheld = 2").f)

    both = fresh_process.execute(
        "a, b = eval(data)\n"
        "answer = waybill.dumps([waybill.loads(a), waybill.loads(b)])",
        repr((one, two)).encode(),
    )

    assert [f() for f in waybill.loads(both)] == [1, 2]
    assert fresh_process.load(both, "[f() for f in value]") == [1, 2]
