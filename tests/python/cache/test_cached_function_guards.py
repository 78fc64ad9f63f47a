"""The encode cache: whatever a function depends on, a change of it shows at once.

What caches that are off give is what counts.
"""

import gc
import sys
import types

import pytest
import waybill
from cached_nodes import Program, hits_of_caches, is_taken
from without_caches import dumps_without_caches

world = Program("""
import collections, functools, math
from collections import Counter, OrderedDict
from math import floor, ceil
from os.path import join, split

SCALE, RATE, LABEL, RAW, NOTHING = 3, 2.5, "label", b"raw", None
LONG = "long " * 40
PAIR = ("x", ("y", 1))

def plain(x): return x
def other(x): return -x
def helper(x, step=1): return floor(x * SCALE) + step
def chained(x): return helper(x)

def outer(n):
    local = [n]
    def inner(a, b=(1, "two"), *, c=1.5, d=plain) -> int:
        "doc"
        counted = Counter(a).most_common(n), collections.abc.Mapping
        helped = helper(b), chained(c), d(RATE), join, len
        return counted, helped, LABEL, RAW, NOTHING, LONG, PAIR
    return inner

f = outer(2)
class Held: attribute = 1
""").world


def set_name(name, expression):
    return lambda w: exec(f"{name} = {expression}", w)


def set_on(target, name, expression):
    return lambda w: exec(f"setattr({target}, {name!r}, {expression})", w)


def set_cell(w):
    w["f"].__closure__[w["f"].__code__.co_freevars.index("n")].cell_contents = 7


def other_annotations(w):
    w["f"].__annotations__ = {"a": dict}


DEPENDENCIES = {
    "an int": set_name("SCALE", "4"),
    "an int that becomes a float": set_name("SCALE", "3.0"),
    "a float": set_name("RATE", "-2.5"),
    "a zero of the other sign": lambda w: (
        w.__setitem__("RATE", 0.0),
        waybill.dumps(w["f"]),
        waybill.dumps(w["f"]),
        w.__setitem__("RATE", -0.0),
    ),
    "text": set_name("LABEL", "'another'"),
    "equal text that is another object": set_name("LONG", "'long ' * (20 + 20)"),
    "long text": set_name("LONG", "'longer ' * 40"),
    "two names of one long text": set_name("LABEL", "LONG"),
    "bytes": set_name("RAW", "b'war'"),
    "None": set_name("NOTHING", "0"),
    "a tuple": set_name("PAIR", "('x', ('y', 2))"),
    "an equal tuple": set_name("PAIR", "tuple(['x', tuple(['y', 1])])"),
    "a longer tuple": set_name("PAIR", "('x', ('y', 1), 2)"),
    "a tuple that becomes a list": set_name("PAIR", "['x']"),
    "a tuple that is a default too": set_name("PAIR", "f.__defaults__[0]"),
    "a global that is deleted": lambda w: w.pop("RAW"),
    "a builtin that is hidden": set_name("len", "max"),
    "a helper": set_name("helper", "other"),
    "a helper that is equal": set_name(
        "helper", "type(helper)(helper.__code__, globals(), 'helper', (1,))"
    ),
    "a helper that becomes a lambda": set_name("helper", "lambda x: x"),
    "two names of one helper": set_name("plain", "helper"),
    "code of a helper": set_on("helper", "__code__", "other.__code__"),
    "a default of a helper": set_on("helper", "__defaults__", "(2,)"),
    "an attribute of a helper": set_on("helper", "mark", "1"),
    "a name of a helper": set_on("helper", "__name__", "'h'"),
    "a helper of a helper": set_on("chained", "__code__", "other.__code__"),
    "a helper that can be imported": set_name("helper", "ceil"),
    "a function of another module": set_name("floor", "ceil"),
    "a function of a library": set_name("join", "split"),
    "a function that is no longer there": set_name("join", "lambda *parts: parts"),
    "a class": set_name("Counter", "OrderedDict"),
    "a class that travels by value": set_name("Counter", "Held"),
    "a module": set_name("collections", "math"),
    "a module that becomes a value": set_name("collections", "1"),
    "a cell": set_cell,
    "defaults": set_on("f", "__defaults__", "((1, 'three'),)"),
    "no defaults": set_on("f", "__defaults__", "None"),
    "keyword defaults": set_on("f", "__kwdefaults__", "{'c': 1.5, 'd': other}"),
    "empty keyword defaults of a helper": set_on("helper", "__kwdefaults__", "{}"),
    "no keyword defaults": set_on("f", "__kwdefaults__", "None"),
    "a keyword default in place": lambda w: w["f"].__kwdefaults__.update(c=2),
    "order of keyword defaults": lambda w: w["f"].__kwdefaults__.update(
        c=w["f"].__kwdefaults__.pop("c")
    ),
    "annotations": other_annotations,
    "an annotation in place": lambda w: w["f"].__annotations__.update(a=int),
    "no annotations": set_on("f", "__annotations__", "{}"),
    "a name": set_on("f", "__name__", "'g'"),
    "a qualified name": set_on("f", "__qualname__", "'g'"),
    "a docstring": set_on("f", "__doc__", "'other'"),
    "a module's name": set_on("f", "__module__", "'other'"),
    "an attribute": set_on("f", "mark", "1"),
    "code": set_on("f", "__code__", "outer(9).__code__"),
    "the name of the namespace": set_name("__name__", "'elsewhere'"),
    "the package of the namespace": set_name("__package__", "'package'"),
    "a path of the namespace": set_name("__path__", "[]"),
    "nothing": lambda w: None,
}

#: Bytes that are put into the envelope where they lie.
LARGE = bytes(200_000)

#: Where a function stands in what is sent.
PLACES = {
    "alone": lambda f, w: f,
    "in a task": lambda f, w: (f, (1, "two"), {"three": 3.0}),
    "behind its arguments": lambda f, w: [("one", 2), f],
    "with what it refers to": lambda f, w: (
        f,
        w["LONG"],
        w.get("PAIR"),
        f.__defaults__,
    ),
    "behind what it refers to": lambda f, w: (w["LONG"], w.get("PAIR"), f),
    "twice": lambda f, w: [f, f],
    "before its helper": lambda f, w: (f, w["helper"]),
    "behind its helper": lambda f, w: (w["helper"], f),
    "before a module": lambda f, w: (f, sys),
    "before an instance": lambda f, w: (f, w["Held"]()),
    "behind an instance": lambda f, w: (w["Held"](), f),
    "before a class of a library": lambda f, w: [
        f,
        [gc.collect, dict, types.ModuleType],
    ],
    "before a set of functions": lambda f, w: (f, {f, len}),
    "behind large bytes, before an instance": lambda f, w: [LARGE, f, w["Held"]()],
    "before large bytes and an instance": lambda f, w: [f, LARGE, w["Held"](), "end"],
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("change", DEPENDENCIES.values(), ids=DEPENDENCIES)
def test_whatever_a_function_depends_on_shows_at_once(change, place):
    w = world()
    assert is_taken(w["f"])

    change(w)
    for _ in range(3):
        f = w["f"]
        assert waybill.dumps(place(f, w)) == dumps_without_caches(place(f, w))


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_function_in_a_task_is_what_it_is_alone(place):
    w = world()
    for _ in range(4):
        data = waybill.dumps(place(w["f"], w))

    assert data == dumps_without_caches(place(w["f"], w))
    assert waybill.dumps(waybill.loads(data)) == data


def test_a_reducer_that_a_program_registers_shows_at_once():
    import copyreg

    w = world()
    for _ in range(4):
        waybill.dumps(w["f"])
    kind = types.BuiltinFunctionType

    copyreg.pickle(kind, lambda function: "abs" if function is abs else "len")
    try:
        with pytest.raises(waybill.EncodeError):
            waybill.dumps(w["f"])
    finally:
        del copyreg.dispatch_table[kind]
    assert waybill.dumps(w["f"]) == dumps_without_caches(w["f"])


#: Where nothing but plain data comes before a function or after it.
AMONG_DATA = ("alone", "in a task", "behind its arguments", "with what it refers to")


@pytest.mark.parametrize("name", ["f", "outer", "helper", "chained", "plain"])
@pytest.mark.parametrize("place", AMONG_DATA)
def test_a_function_among_data_is_taken_as_it_was_kept(name, place):
    w = world()
    assert is_taken(PLACES[place](w[name], w))


def test_a_function_is_taken_behind_what_is_not_kept():
    w = world()
    assert is_taken(w["f"])

    hits = hits_of_caches()
    for _ in range(4):
        waybill.dumps([len, w["f"]])
    assert hits_of_caches() == hits + 4
