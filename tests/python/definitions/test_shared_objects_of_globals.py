"""An object that functions, classes and the value share arrives as one object."""

import io
import sys

import fresh_process
import pytest
import waybill
from program_graphs import assert_arrives_alike, definitions_in, has_definitions
from sources import define
from without_caches import dumps_without_caches

TWO = "def f(): return held\ndef g(): return 1, held"
VALUES = {
    "a dict": "{'a': 1}",
    "a list": "[1, [2]]",
    "a set": "{1, 2}",
    "a bytearray": "bytearray(b'ab')",
    "an instance": "type('Own', (), {})()",
    "a tuple with a list": "([1], 2)",
    "an empty dict": "{}",
    "a tuple of numbers": "(1, 2)",
    "a frozenset": "frozenset({1, 2})",
    "long bytes": "b'ab' * 50",
    "long text": "'ab' * 50",
    "a date": "__import__('datetime').date(2020, 2, 29)",
}
each_value = pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)


@each_value
def test_global_of_two_functions_is_one_object(value):
    made = define(TWO + f"\nheld = {value}")

    f, g = waybill.loads(waybill.dumps([made.f, made.g]))

    assert f() is g()[1]
    assert type(f()) is type(made.held)


@each_value
@pytest.mark.parametrize("order", ["first", "last", "twice"])
def test_global_that_stands_in_the_value_is_that_object(value, order):
    made = define(TWO + f"\nheld = {value}")
    roots = {
        "first": {"held": made.held, "f": made.f},
        "last": {"f": made.f, "held": made.held},
        "twice": {"f": made.f, "held": made.held, "g": made.g, "more": [made.held]},
    }

    for _ in range(3):  # The caches are cold, then warm.
        loaded = waybill.loads(waybill.dumps(roots[order]))

        assert loaded["f"]() is loaded["held"]
        if order == "twice":
            assert loaded["g"]()[1] is loaded["held"] is loaded["more"][0]


@each_value
def test_global_of_functions_of_two_modules_is_one_object(value):
    one = define(f"def f(): return held\nheld = {value}", name="one_of_nowhere")
    two = define("def f(): return held", name="two_of_nowhere", held=one.held)

    for root in ([one.f, two.f], [two.f, one.f]):
        f, g = waybill.loads(waybill.dumps(root))

        assert f() is g()
        assert f.__globals__ is not g.__globals__


def test_part_of_a_global_that_stands_in_the_value_is_that_part():
    made = define("def f(): return held\nheld = {'a': [1]}")

    f, part = waybill.loads(waybill.dumps([made.f, made.held["a"]]))

    assert f()["a"] is part


def test_global_that_functions_have_under_two_names_is_one_object():
    made = define("def f(): return one\ndef g(): return two\none = two = [1]")

    f, g = waybill.loads(waybill.dumps([made.f, made.g]))

    assert f() is g()
    assert_arrives_alike([made.f, made.g, made.one])


def test_attribute_of_a_class_that_stands_in_the_value_is_that_object():
    made = define("class C:\n kept = []\n def get(self): return C.kept")

    answer = fresh_process.send(
        [made.C.kept, made.C, made.C()], "value[0] is value[1].kept is value[2].get()"
    )

    assert answer


def test_default_and_cell_and_attribute_that_stand_in_the_value_are_those():
    made = define("""
        shared = [1]
        def outer(held):
            def f(x=held, *, y=held): return x, y, held, shared
            f.mark = held
            return f
        f = outer(shared)
    """)

    f, shared = waybill.loads(waybill.dumps([made.f, made.shared]))

    assert all(one is shared for one in (*f(), f.mark))


#: Objects with names of types in them, which a class shares with its base.
OF_A_BASE = {
    "a generic type": "list[int]",
    "a view of a dict": "types.MappingProxyType({'a': 1})",
    "a list with types": "[int, types.MappingProxyType]",
}


@pytest.mark.parametrize("value", OF_A_BASE.values(), ids=OF_A_BASE)
def test_class_that_shares_an_object_with_its_base_is_a_definition(value):
    made = define(f"""
        import types
        class Base: part = {value}
        class C(Base): own = Base.part
    """)

    data = waybill.dumps(made.C)

    assert definitions_in(data) == 2
    assert {waybill.dumps(made.C) for _ in range(3)} == {dumps_without_caches(made.C)}
    assert fresh_process.load(
        data, "vars(value)['own'] is vars(value.__base__)['part']"
    )


def test_derived_dataclass_is_a_definition():
    made = define("""
        import dataclasses
        @dataclasses.dataclass
        class Base: x: int = 1
        @dataclasses.dataclass
        class C(Base): y: int = 2
    """)

    data = waybill.dumps(made.C(3))

    assert definitions_in(data) == 2
    assert fresh_process.load(data, "(value.x, value.y)") == (3, 2)


def test_dataclasses_of_one_payload_are_definitions():
    made = define("""
        import dataclasses
        @dataclasses.dataclass
        class C: x: int = 1
        @dataclasses.dataclass
        class D: y: int = 2
    """)

    data = waybill.dumps([made.C(3), made.D(4)])

    assert definitions_in(data) == 2
    assert fresh_process.load(data, "(value[0].x, value[1].y)") == (3, 4)


def test_empty_dict_that_a_call_has_is_that_of_the_value():
    made = define("""
        import operator
        held = {}
        get = operator.itemgetter(held)
        def f(): return get
        class C: own = get
    """)

    for root in ([made.held, made.f], [made.f, made.held], [made.held, made.C, made.f]):
        claim = "f().__reduce__()[1][0] is held"
        names = "held, f = value[::2]" if len(root) == 3 else "held, f = value"
        if root[0] is made.f:
            names = "f, held = value"
        answer = fresh_process.execute(
            f"value = waybill.loads(data)\n{names}\nanswer = {claim}",
            waybill.dumps(root),
        )

        assert answer


def test_frozen_dataclass_with_slots_is_a_definition():
    """Its methods refer to the class that it was made of, which has its name. From 3.14
    on it stands in the value."""
    made = define("""
        import dataclasses
        @dataclasses.dataclass(frozen=True, slots=True)
        class C:
            x: int
            y: str = "y"
    """)

    data = waybill.dumps(made.C(3))

    assert definitions_in(data) == (2 if sys.version_info < (3, 14) else 0)
    assert {waybill.dumps(made.C(3)) for _ in range(4)} == {data}
    assert data == dumps_without_caches(made.C(3))
    assert fresh_process.load(
        data, "(value.x, value.y, value == type(value)(3), hasattr(value, '__dict__'))"
    ) == (3, "y", True, False)


def test_typed_named_tuple_is_a_definition():
    made = define("""
        from typing import NamedTuple
        class C(NamedTuple):
            x: int
            y: str = "y"
    """)

    data = waybill.dumps(made.C(3))

    assert definitions_in(data) == 1
    assert fresh_process.load(
        data, "(*value, '__classdictcell__' in vars(type(value)))"
    ) == (3, "y", False)


def test_function_and_class_of_two_dicts_of_one_name_are_definitions():
    """A scheduler in the program's own process has copies of the functions, which name
    the program's own classes."""
    made = define("""
        class C:
            def m(self): return helper()
        def helper(): return 1
        def f(): return C().m(), helper()
    """)
    copy = waybill.loads(waybill.dumps(made.f))
    assert copy.__globals__["C"] is made.C
    assert copy.__globals__ is not made.C.m.__globals__

    data = waybill.dumps((copy, made.C()))

    assert definitions_in(data) == 4
    answer = fresh_process.load(
        data,
        "(value[0](), value[0].__globals__ is not type(value[1]).m.__globals__,"
        " value[0].__globals__['C'] is type(value[1]))",
    )
    assert answer == ((1, 1), True, True)


def test_a_dict_has_another_number_beside_another_dict_of_its_name():
    """The definition of one function, after that of a class and alone."""
    made = define("""
        class C:
            def m(self): return helper()
        def helper(): return 1
        def f(): return helper()
    """)
    copies = [waybill.loads(waybill.dumps(made.f)) for _ in range(2)]
    roots = [
        [made.C, copies[0]],
        [copies[0]],
        [copies[0], made.C],
        [made.C, made.f],
        [made.C, *copies],
        copies[::-1],
    ]

    for root in [*roots, *roots[::-1], *roots]:
        assert waybill.dumps(root) == dumps_without_caches(root)
    for root in roots:
        dicts = [id(getattr(one, "m", one).__globals__) for one in root]
        arrived = fresh_process.send(
            root, "[id(getattr(one, 'm', one).__globals__) for one in value]"
        )
        assert list(map(dicts.index, dicts)) == list(map(arrived.index, arrived))


#: What shares the dict of an instance: what is sent, and a claim about it.
DICTS = {
    "a class, then the value": (
        "[Holder, vars(Holder.part), vars(Holder.part)]",
        "value[1] is value[2] and value[1]['sizes'] is value[0].part.sizes",
    ),
    "the value, then a class": (
        "[vars(Holder.part), Holder]",
        "value[0]['sizes'] is value[1].part.sizes",
    ),
    "another attribute": ("Both", "value.own['sizes'] is value.part.sizes"),
    "an attribute before": ("Before", "value.own['sizes'] is value.part.sizes"),
    "the instance itself": ("Looped", "value.part.me is value.part.me['me']"),
    "another instance": ("Twins", "value.one.sizes is value.two.sizes"),
    "another function": ("[f, g]", "value[0]().sizes is value[1]()['sizes']"),
    "a function before": ("[g, f]", "value[0]()['sizes'] is value[1]().sizes"),
    "an instance without attributes": ("Empty", "value.own == vars(value.part) == {}"),
}


@pytest.mark.parametrize("sent, claim", DICTS.values(), ids=DICTS)
def test_dict_of_an_instance_is_shared_as_it_was(sent, claim):
    made = define("""
        class Part: pass
        def part():
            made = Part()
            made.sizes = [1]
            return made
        class Holder: part = part()
        class Both:
            part = part()
            own = vars(part)
        class Before:
            own = vars(Both.part)
            part = Both.part
        class Looped: part = part()
        Looped.part.me = vars(Looped.part)
        class Twins: one, two = part(), Part()
        Twins.two.__dict__ = vars(Twins.one)
        class Empty:
            part = Part()
            own = vars(part)
        one = part()
        own = vars(one)
        def f(): return one
        def g(): return own
    """)
    root = eval(sent, vars(made))

    data = waybill.dumps(root)

    assert fresh_process.load(data, claim)
    assert {waybill.dumps(root) for _ in range(4)} == {dumps_without_caches(root)}


def test_what_an_instance_holds_and_its_class_names_is_one_object():
    made = define("""
        registry = {}
        class C:
            def __init__(self): self.registry = registry
            def is_it(self): return self.registry is registry
    """)

    assert fresh_process.send([made.C(), made.C()], "all(one.is_it() for one in value)")
    assert fresh_process.send({"c": made.C()}, "value['c'].is_it()")


def test_functions_and_classes_met_again_in_the_value_are_one():
    made = define("def f(): return f, C\nclass C: pass")

    data = waybill.dumps([made.f, made.C, made.f, {"f": made.f}, made.C])

    assert has_definitions(data)
    f, c, again, nested, last = waybill.loads(data)
    assert f is again is nested["f"] is f()[0]
    assert c is last is f()[1]


def test_list_in_a_tuple_of_a_global_is_the_list_of_the_value():
    made = define("def f(): return held\nheld = ([1],)")

    held, f = waybill.loads(waybill.dumps([made.held, made.f]))
    held[0].append(2)

    assert f()[0] == [1, 2]


def test_two_payloads_each_have_their_value_of_a_global():
    made = define(TWO, held=1)

    first = waybill.dumps(made.f)
    made.f.__globals__["held"] = 2
    second = waybill.dumps(made.f)

    f, g = waybill.loads(first), waybill.loads(second)
    assert (f(), g(), f()) == (1, 2, 1)


def test_two_payloads_with_other_values_do_not_meet_in_another_process():
    payloads = [waybill.dumps(define(TWO, held=[number]).f) for number in range(3)]

    answer = fresh_process.execute(
        "fs = [waybill.loads(one) for one in eval(data)]\nanswer = [f() for f in fs]",
        repr(payloads).encode(),
    )

    assert answer == [[0], [1], [2]]


def test_globals_that_change_while_a_payload_is_written_are_one_dict_then():
    """A reducer changes a global between two functions of its module."""
    made = define("""
        held = 1
        def f(): return held
        def g(): return 'g', held
        class Changes:
            def __reduce__(self):
                global held
                held = 2
                return int, ()
    """)

    f, _, g = waybill.loads(waybill.dumps([made.f, made.Changes(), made.g]))

    assert g.__globals__ is f.__globals__
    assert f() == g()[1]


def test_functions_stand_in_the_value_where_a_hook_looks_at_each_object():
    made = define(TWO + "\nheld = {'a': 1}")
    root = [made.f, made.held, made.g]

    class Hooked(waybill.Pickler):
        def reducer_override(self, obj):
            return NotImplemented

    file = io.BytesIO()
    Hooked(file).dump(root)
    data = file.getvalue()

    assert not has_definitions(data)
    f, held, g = waybill.loads(data)
    assert f() is held is g()[1]
