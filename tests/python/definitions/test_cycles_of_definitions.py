"""Functions and classes that refer to each other arrive as they were."""

import fresh_process
import pytest
import waybill
from program_graphs import assert_arrives_alike, has_definitions
from sources import define

EVEN = """
def even(n): return n == 0 or odd(n - 1)
def odd(n): return n != 0 and even(n - 1)
"""
CLASS = """
class Tree:
    def __init__(self, *parts): self.parts = parts
    def again(self): return Tree(*self.parts)
    def size(self): return 1 + sum(size_of(part) for part in self.parts)
def size_of(tree): return tree.size() if isinstance(tree, Tree) else 0
"""


def test_mutually_recursive_functions_call_each_other():
    made = define(EVEN)

    data = waybill.dumps(made.even)

    assert has_definitions(data)
    even = waybill.loads(data)
    assert [even(n) for n in range(4)] == [True, False, True, False]
    assert even.__globals__["odd"].__globals__ is even.__globals__


@pytest.mark.parametrize("order", [("even", "odd"), ("odd", "even"), ("odd",) * 2])
def test_members_of_a_cycle_are_the_same_in_the_value(order):
    made = define(EVEN)

    loaded = waybill.loads(waybill.dumps([getattr(made, name) for name in order]))

    for name, function in zip(order, loaded, strict=True):
        assert function.__name__ == name
        assert function is loaded[0].__globals__[name]
    assert_arrives_alike([getattr(made, name) for name in order])


def test_class_whose_method_names_it_and_a_function_that_names_it_arrives():
    made = define(CLASS)

    answer = fresh_process.send(
        made.Tree,
        "(type(value().again()) is value, value(value(), value(value()), 1).size())",
    )

    assert answer == (True, 4)
    assert_arrives_alike([made.size_of, made.Tree, made.Tree(made.Tree())])


@pytest.mark.parametrize("size", [2, 3, 10, 100, 255, 256, 257, 300])
def test_ring_of_functions_is_closed(size):
    # More than 256 are not looked at as one cycle.
    source = "\n".join(
        f"def f{i}(n): return n and f{(i + 1) % size}(n - 1) or {i}"
        for i in range(size)
    )
    made = define(source)

    f = waybill.loads(waybill.dumps(made.f0))

    assert f(size - 1) == size - 1
    assert f.__globals__["f0"] is f
    assert_arrives_alike([made.f0, made.f1])


def test_members_with_equal_names_are_not_mixed_up():
    # Nothing tells them apart but what they hold.
    scope = {"__name__": "nowhere"}
    exec("def make(n):\n def f(): return n, first, second\n return f", scope)
    first, second = scope["make"](1), scope["make"](2)
    scope.update(first=first, second=second)
    del scope["make"]

    for root in ([first, second], [second, first], first, second):
        loaded = waybill.loads(waybill.dumps(root))

        f = loaded[0] if isinstance(loaded, list) else loaded
        number, one, two = f()
        assert number == (1 if f is one else 2)
        assert (one()[0], two()[0]) == (1, 2)
        assert_arrives_alike(root)


def test_cycle_over_a_default_a_cell_an_attribute_and_a_base_arrives():
    made = define("""
        class Base:
            def get(self): return by_default()
        class Derived(Base): pass
        def by_default(x=None): return x
        def outer(held):
            def by_cell(): return held
            return by_cell
        by_cell = outer(Derived)
        by_default.__defaults__ = (by_cell,)
        by_cell.mark = by_default
        del outer
    """)

    for root in (made.Base, made.Derived, made.by_default, made.by_cell):
        assert_arrives_alike(root)
    assert fresh_process.send(made.Derived, "value().get()() is value")


def test_cycle_through_a_list_in_the_value_arrives():
    made = define("def f(): return holder\nholder = [1, f]")

    holder = waybill.loads(waybill.dumps(made.holder))

    assert holder[1]() is holder
    assert_arrives_alike(made.holder)
    assert_arrives_alike([made.f, made.holder])


def test_chain_longer_than_a_walk_arrives():
    size = 600
    source = "\n".join(f"def f{i}(): return f{i + 1}()" for i in range(size))
    made = define(f"{source}\ndef f{size}(): return 'the end'")

    assert (
        fresh_process.send(made.f0, "(sys.setrecursionlimit(5000), value())[1]")
        == "the end"
    )
