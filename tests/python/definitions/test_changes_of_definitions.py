"""What was sent once is sent as it is now, however it has changed."""

import pytest
import waybill
from program_graphs import assert_arrives_alike
from sources import define, run
from without_caches import dumps_without_caches

SOURCE = """
scale = 1
table = {"a": [1]}
def helper(): return "old", scale
def other(): return "new", scale
def f(): return helper(), scale, table
class C:
    kept = 1
    def get(self): return helper(), C.kept
"""


CHANGES = {
    "a global": run("scale = 2"),
    "a global of another type": run("scale = [2]"),
    "a global in place": run("table['a'].append(2)"),
    "a helper": run("helper = other"),
    "code of a helper": run("helper.__code__ = other.__code__"),
    "a helper that is a class": run(
        "class helper: pass\nhelper.__eq__ = "
        "lambda a, b: type(a).__name__ == type(b).__name__"
    ),
    "a default of a helper": run("helper.__defaults__ = (1,)"),
    "a global that goes": run("del scale"),
    "a global that is the function": run("table = f"),
    "a class attribute": run("C.kept = 2"),
    "a method": run("C.get = lambda self: ('changed', C.kept)"),
    "a base": run("class B: pass\nclass C(B): kept = 3"),
}
each_change = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)


@each_change
@pytest.mark.parametrize("times", [1, 3])
def test_second_payload_has_what_changed(change, times):
    scope = vars(define(SOURCE))["f"].__globals__
    for _ in range(times):
        waybill.dumps([scope["f"], scope["C"], scope["C"]()])

    change(scope)
    root = [scope["f"], scope["C"], scope["C"]()]

    for _ in range(2):
        assert waybill.dumps(root) == dumps_without_caches(root)
    assert_arrives_alike(root)


@each_change
def test_first_payload_keeps_what_it_had(change):
    scope = define(SOURCE).f.__globals__
    data = waybill.dumps(scope["f"])
    change(scope)

    waybill.dumps(scope["f"])

    assert waybill.loads(data)() == (("old", 1), 1, {"a": [1]})


def test_helper_that_becomes_another_of_one_cycle_is_the_other():
    pair = define("def a(): return 'a', b\ndef b(): return 'b', a", name="one_module")
    made = define("def f(): return helper()[0]", name="two_module", helper=pair.a)
    for _ in range(2):
        assert waybill.loads(waybill.dumps(made.f))() == "a"

    made.f.__globals__["helper"] = pair.b

    assert waybill.loads(waybill.dumps(made.f))() == "b"


def test_helper_that_becomes_another_that_is_sent_is_the_other():
    made = define("def a(): return 'a'\ndef b(): return 'b'\ndef f(): return helper()")
    scope = made.f.__globals__
    scope["helper"] = made.a
    root = [made.a, made.b, made.f]
    for _ in range(2):
        assert waybill.loads(waybill.dumps(root))[2]() == "a"

    scope["helper"] = made.b

    assert waybill.loads(waybill.dumps(root))[2]() == "b"


def test_classes_that_change_places_are_sent_in_their_new_places():
    made = define("class A: pass\nclass B: pass\ndef f(): return one, two")
    scope = made.f.__globals__
    scope.update(one=made.A, two=made.B)
    root = [made.A, made.B, made.f]
    for _ in range(2):
        waybill.dumps(root)

    scope.update(one=made.B, two=made.A)

    a, b, f = waybill.loads(waybill.dumps(root))
    assert f() == (b, a)


def test_cell_and_default_that_become_another_function_are_sent():
    made = define("""
        def a(): return "a"
        def b(): return "b"
        def outer(held):
            def f(default=held): return held(), default(), f.mark()
            f.mark = held
            return f
        f = outer(a)
    """)
    root = [made.a, made.b, made.f]
    for _ in range(2):
        assert waybill.loads(waybill.dumps(root))[2]() == ("a",) * 3

    cells = dict(zip(made.f.__code__.co_freevars, made.f.__closure__, strict=True))
    cells["held"].cell_contents = made.f.mark = made.b
    made.f.__defaults__ = (made.b,)

    assert waybill.loads(waybill.dumps(root))[2]() == ("b",) * 3


def test_what_a_kept_definition_shares_with_another_does_not_depend_on_the_cache():
    # That of h refers to what g has, when g stands before it.
    made = define("""
        def a(): return held
        def g(): return held
        def h(): return g(), held
        held = {"k": 0}
    """)
    waybill.dumps(made.h)

    warm = waybill.dumps([made.a, made.h])

    assert warm == dumps_without_caches([made.a, made.h])
