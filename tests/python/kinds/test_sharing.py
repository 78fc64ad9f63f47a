"""What is one object when it is sent is one object when it arrives."""

import types

import fresh_process
import pytest
import waybill
from sources import define, round_trip

MUTABLE = [[1], {1: 2}, {3}, bytearray(b"x"), types.SimpleNamespace(a=1)]
IMMUTABLE = [(1, [2]), frozenset({1}), 2.5, 2**80, "text" * 20, b"blob" * 20, 3 + 4j]


@pytest.mark.parametrize("shared", MUTABLE, ids=lambda value: type(value).__name__)
def test_mutable_object_in_two_places_stays_one(shared):
    arrived = round_trip([shared, {"again": shared}])

    assert arrived[0] is arrived[1]["again"]


@pytest.mark.parametrize("value", MUTABLE, ids=lambda value: type(value).__name__)
def test_equal_mutable_objects_stay_two(value):
    import copy

    arrived = round_trip([value, copy.copy(value)])

    assert arrived[0] is not arrived[1]


@pytest.mark.parametrize("shared", IMMUTABLE, ids=lambda value: type(value).__name__)
def test_immutable_object_in_two_places_stays_equal(shared):
    arrived = round_trip([shared, shared])

    assert arrived[0] == arrived[1] == shared


def test_tuple_in_two_places_stays_one():
    shared = ([],)

    arrived = round_trip([shared, shared])

    assert arrived[0] is arrived[1]


def test_a_thousand_references_to_a_hundred_lists_keep_their_identity():
    lists = [[number] for number in range(100)]

    arrived = round_trip([lists[i * 7 % 100] for i in range(1000)])

    assert [item[0] for item in arrived] == [i * 7 % 100 for i in range(1000)]
    assert len({id(item) for item in arrived}) == 100


def test_two_payloads_share_nothing():
    shared = [1]
    data = waybill.dumps(shared)

    assert waybill.loads(data) is not waybill.loads(data)


def test_temporaries_of_reducers_are_not_taken_for_each_other():
    # Each state dict is freed before the next is made, at the same address.
    source = """
    class Thing:
        def __init__(self, number): self.number = number
        def __getstate__(self): return {"number": self.number, "list": [self.number]}
    """
    things = [define(source).Thing(number) for number in range(50)]

    arrived = round_trip(things)

    assert [thing.list for thing in arrived] == [[number] for number in range(50)]


# ---- Functions


def test_two_functions_share_the_cell_of_a_nonlocal():
    sent = define("""
    def make():
        count = 0
        def step():
            nonlocal count
            count += 1
        def read(): return count
        return step, read
    """).make()

    step, read = round_trip(sent)
    step()
    step()

    assert read() == 2


def test_recursive_inner_function_refers_to_itself():
    sent = define("""
    def make():
        def f(n): return 1 if n == 0 else n * f(n - 1)
        return f
    """)

    arrived = round_trip(sent.make())

    assert arrived(5) == 120
    assert arrived.__closure__[0].cell_contents is arrived


def test_function_in_its_own_defaults():
    function = define("def f(me=None): return me").f
    function.__defaults__ = (function,)

    arrived = round_trip(function)

    assert arrived() is arrived


def test_function_in_its_own_attributes():
    function = define("def f(): pass").f
    function.me = [function]

    arrived = round_trip(function)

    assert arrived.me[0] is arrived


def test_empty_cell_stays_empty_until_it_is_set():
    sent = define("""
    def make():
        def get(): return late
        def put(value):
            nonlocal late
            late = value
        if False: late = None
        return get, put
    """).make()

    get, put = round_trip(sent)

    with pytest.raises(NameError):
        get()
    put(3)
    assert get() == 3


def test_cell_sent_as_a_value_is_the_cell_of_the_function():
    def function():
        return content

    content = [1]
    cell = function.__closure__[0]

    arrived, loaded = round_trip((cell, function))

    assert loaded.__closure__[0] is arrived
    assert arrived.cell_contents == [1]


def test_cell_sent_after_its_function_is_the_cell_of_the_function():
    def function():
        return content

    content = [1]

    loaded, arrived = round_trip((function, function.__closure__[0]))

    assert loaded.__closure__[0] is arrived


def test_cell_that_holds_itself():
    cell = types.CellType()
    cell.cell_contents = cell

    arrived = round_trip(cell)

    assert arrived.cell_contents is arrived


def test_empty_cell_arrives_empty():
    arrived = round_trip(types.CellType())

    with pytest.raises(ValueError, match="empty"):
        arrived.cell_contents


def test_functions_that_share_code_arrive_with_one_code_object():
    functions = define("""
    def make(n):
        def f(): return n
        return f
    """)

    f, g = round_trip([functions.make(1), functions.make(2)])

    assert (f(), g()) == (1, 2)
    assert f.__code__ is g.__code__


def test_code_of_functions_that_share_it_travels_once():
    source = "def make(n):\n    def f(): return n\n    return f"
    make = define(source).make
    one, many = waybill.dumps([make(1)]), waybill.dumps([make(n) for n in range(50)])

    assert len(waybill.inspect(many)["code"]) == len(waybill.inspect(one)["code"]) == 1


def test_instance_and_its_method_belong_together():
    sent = define("""
    class Counter:
        def __init__(self): self.count = 0
        def step(self): self.count += 1
    """).Counter()

    counter, step = round_trip([sent, sent.step])
    step()

    assert counter.count == 1


def test_cycle_through_an_instance():
    value = types.SimpleNamespace()
    value.items = [{"owner": value}]

    arrived = round_trip(value)

    assert arrived.items[0]["owner"] is arrived


# ---- Instances that their own class can reach

REACHED = {
    "attribute": ("C.inst = C()", "C.inst", "type(value).inst is value"),
    "attribute of a base": (
        "class D(C): pass\nC.inst = D()",
        "C.inst",
        "type(value).inst is value",
    ),
    "global of a method": (
        "class C:\n    def me(self): return ONE\nONE = C()",
        "ONE",
        "value.me() is value",
    ),
    "default of a function": (
        "ONE = C()\nC.me = lambda self, x=ONE: x",
        "ONE",
        "value.me() is value",
    ),
    "default beside it": (
        "class C:\n    def check(self, x): return x is ONE\n"
        "ONE = C()\ndef f(x=ONE): return x is ONE",
        "ONE, f",
        "value[1](value[0]) and value[1]() and value[0].check(value[0])",
    ),
    "list of a method": (
        "class C:\n    def index(self): return ALL.index(self)\nALL = [C(), C()]",
        "ALL[1]",
        "value.index() == 1",
    ),
    "two that hold each other": (
        "C.a = C()\nC.b = C()\nC.a.other, C.b.other = C.b, C.a",
        "C.a",
        "value.other.other is value is type(value).a and value.other is type(value).b",
    ),
}


@pytest.mark.parametrize("reached", REACHED)
@pytest.mark.parametrize("state", [{}, {"x": 1}])
def test_an_instance_that_its_class_reaches_is_one(reached, state):
    source, sent, holds = REACHED[reached]
    scope = define("class C: pass\n" + source)
    found = [v for v in vars(scope).values() if isinstance(v, scope.C)]
    found += [v for v in vars(scope.C).values() if isinstance(v, scope.C)]
    for instance in found:
        vars(instance).update(state)

    assert fresh_process.send(eval(sent, vars(scope)), holds)
