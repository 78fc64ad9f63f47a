"""A function that is sent again is sent as before, unless anything has changed.

What a fresh copy of its code gives is what counts: nothing is remembered of that.
"""

import gc
import sys
import types
import weakref

import pytest
import waybill
from sources import imported

NAMES = ("module_one", "module_two", "module_one.inner", "module_one.other")


@pytest.fixture(autouse=True)
def modules():
    with (
        imported("module_one", value=1) as one,
        imported("module_two", value=2) as two,
        imported("module_one.inner", thing=3) as inner,
        imported("module_one.other"),
    ):
        one.inner = inner
        yield one, two, inner


def function(body="return one, two.value, one.inner.thing, len", **scope):
    """A function that names the modules, in a namespace of its own."""
    scope = {
        "__name__": "nowhere",
        "one": sys.modules["module_one"],
        "two": sys.modules["module_two"],
        **scope,
    }
    exec(compile(f"def f():\n {body}", "<sent>", "exec"), scope)
    return scope["f"]


def fresh(f):
    """What a function that is the same but was never sent becomes."""
    copy = types.FunctionType(
        f.__code__.replace(), f.__globals__, f.__name__, f.__defaults__, f.__closure__
    )
    copy.__module__, copy.__qualname__, copy.__doc__ = (
        f.__module__,
        f.__qualname__,
        f.__doc__,
    )
    copy.__kwdefaults__ = f.__kwdefaults__
    copy.__dict__.update(f.__dict__)
    copy.__annotations__ = f.__annotations__
    return waybill.dumps(copy)


def warm(f):
    for _ in range(5):
        assert waybill.dumps(f) == fresh(f)
    return f


BODIES = [
    "return one, two",
    "return one.value",
    "return one.inner.thing",
    "return one.inner",
    "return one.missing.more, one.other.missing",
    "return [m.inner for m in (one, two)]",
    "return ', '.join([str(one.value)])",
    "x = one.inner; return x.thing",
    "import json; return json.dumps(one.value)",
    "return getattr(one, 'inner')",
    "return vars(one)['inner']",
    "return one.__dict__['inner']",
    "return [1, 2][0], {'a': one}['a'].inner",
    "def g(): return one.inner\n return g",
    "return lambda x: x.inner(one)",
    "return unknown.inner, one",
    "global new; new = one; return new.inner",
    "return 'text'",
]


#: What namespaces say of themselves beside their name: of a module that says nothing,
#: of a script or a cell of a notebook, of a module at the top, and of one in a package.
NAMESPACES = {
    "silent": {},
    "script": {"__package__": None, "__spec__": None},
    "module": {"__package__": ""},
    "submodule": {"__package__": "package"},
}


@pytest.mark.parametrize("scope", NAMESPACES.values(), ids=NAMESPACES)
@pytest.mark.parametrize("body", BODIES)
def test_bytes_are_those_of_a_function_that_was_never_sent(body, scope):
    warm(function(body, **scope))


def set_global(name, make):
    return lambda f: f.__globals__.__setitem__(name, make())


def set_in_module(module, name, make):
    return lambda f: setattr(sys.modules[module], name, make())


def delete_in_module(module, name):
    return lambda f: delattr(sys.modules[module], name)


def list_module(name, make):
    def change(f):
        sys.modules[name] = make()

    return change


def other_module(name="module_one", **attributes):
    module = types.ModuleType(name)
    module.__spec__ = types.SimpleNamespace(name=name)
    vars(module).update(attributes)
    return module


def reloaded(f):
    module = other_module("module_one", value=7)
    sys.modules["module_one"] = f.__globals__["one"] = module


def no_spec(f):
    f.__globals__["one"].__spec__ = None


CHANGES = {
    "global rebound to a value": set_global("one", lambda: 7),
    "global rebound to a module": set_global("one", lambda: sys.modules["module_two"]),
    "global rebound to text": set_global("two", lambda: "two"),
    "global deleted": lambda f: f.__globals__.pop("two"),
    "builtin hidden": set_global("len", lambda: 7),
    "builtin hidden by a module": set_global("len", lambda: sys.modules["module_two"]),
    "name of the namespace": set_global("__name__", lambda: "elsewhere"),
    "package of the namespace": set_global("__package__", lambda: "another"),
    "no package of the namespace": set_global("__package__", lambda: None),
    "silence about the package": lambda f: f.__globals__.pop("__package__", None),
    "path of the namespace": set_global("__path__", list),
    "spec of the namespace": set_global("__spec__", lambda: None),
    "attribute becomes a module": set_in_module(
        "module_two", "value", lambda: sys.modules["module_one.other"]
    ),
    "submodule becomes a value": set_in_module("module_one", "inner", lambda: 7),
    "submodule becomes another": set_in_module(
        "module_one", "inner", lambda: sys.modules["module_one.other"]
    ),
    "submodule deleted": delete_in_module("module_one", "inner"),
    "submodule is listed as another": list_module(
        "module_one.inner", lambda: other_module("module_one.inner")
    ),
    "submodule is not listed": lambda f: sys.modules.pop("module_one.inner"),
    "module is not listed": lambda f: sys.modules.pop("module_two"),
    "module is listed as another": list_module("module_two", other_module),
    "module reloaded": reloaded,
    "module renamed": set_in_module("module_two", "__name__", lambda: "renamed"),
    "submodule renamed": set_in_module(
        "module_one.inner", "__name__", lambda: "renamed"
    ),
    "module has no spec": no_spec,
    "missing attribute becomes a submodule": list_module(
        "module_two.value", lambda: other_module("module_two.value")
    ),
    "defaults": lambda f: setattr(f, "__defaults__", (1,)),
    "keyword defaults": lambda f: setattr(f, "__kwdefaults__", {"a": 1}),
    "name": lambda f: setattr(f, "__name__", "g"),
    "qualified name": lambda f: setattr(f, "__qualname__", "g"),
    "documentation": lambda f: setattr(f, "__doc__", "doc"),
    "module of the function": lambda f: setattr(f, "__module__", "elsewhere"),
    "attribute": lambda f: setattr(f, "attribute", 1),
    "annotations": lambda f: setattr(f, "__annotations__", {"return": int}),
    "looked at": lambda f: (f.__annotations__, f.__dict__),
}


@pytest.mark.parametrize("scope", NAMESPACES.values(), ids=NAMESPACES)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_change_shows_at_once(change, scope):
    f = warm(function(**scope))

    try:
        change(f)
        for _ in range(4):
            assert waybill.dumps(f) == fresh(f)
    finally:
        for name in ("module_two.value",):
            sys.modules.pop(name, None)


def test_other_code_of_a_function_shows_at_once():
    f = warm(function())

    f.__code__ = function("return two").__code__

    assert waybill.dumps(f) == fresh(f)


def test_function_that_can_be_imported_now_is_sent_by_name():
    f = warm(function())
    with imported("nowhere", f=f):
        for _ in range(5):
            assert waybill.loads(waybill.dumps(f)) is f
    for _ in range(5):
        assert waybill.dumps(f) == fresh(f)


def test_functions_that_share_code_do_not_share_what_was_sent():
    f = warm(function())
    g = types.FunctionType(f.__code__, {**f.__globals__, "one": 7, "__name__": "other"})

    for _ in range(10):
        assert waybill.dumps(f) == fresh(f)
        assert waybill.dumps(g) == fresh(g)


def test_registered_modules_travel_by_value_though_the_function_was_sent_before():
    f = warm(function())
    waybill.register_pickle_by_value(sys.modules["module_two"])
    try:
        assert waybill.dumps(f) == fresh(f)
    finally:
        waybill.unregister_pickle_by_value(sys.modules["module_two"])
    assert waybill.dumps(f) == fresh(f)


def test_module_of_a_function_that_is_listed_later_is_seen():
    module = types.ModuleType("module_one.made")
    module.__package__ = "module_one"
    exec("def outer():\n def f(): return 1\n return f", vars(module))
    f = warm(module.outer())

    sys.modules["module_one.made"] = module
    try:
        assert waybill.dumps(f) == fresh(f)
    finally:
        del sys.modules["module_one.made"]
    assert waybill.dumps(f) == fresh(f)


class Impostor:
    """Stands where a function's path leads, and changes the function when asked."""

    def __init__(self, function, answers):
        self.function, self.answers = function, answers

    def __getattr__(self, name):
        self.function.__code__ = (lambda: 2).__code__
        if self.answers:
            return self.function
        raise AttributeError(name)


@pytest.mark.parametrize("answers", [True, False])
def test_code_that_a_function_loses_while_it_is_compared_is_held(answers):
    with imported("nowhere") as module:
        scope = {"__name__": "nowhere"}
        exec("class Space:\n def f(): return 1", scope)
        f = warm(scope["Space"].f)
        del scope
        module.Space = Impostor(f, answers)

        waybill.dumps(f)

        del module.Space
        assert waybill.dumps(f) == fresh(f)


def test_function_that_is_sent_while_it_is_compared_is_no_harm():
    f = function("return missing, one")

    class Key(str):
        def __hash__(self):
            return hash("missing")

        def __eq__(self, other):
            if f.__doc__ is None:
                f.__doc__ = "changed"
                waybill.dumps(f)
                f.__doc__ = None
            return False

    warm(f)
    f.__globals__[Key("other")] = 1

    for _ in range(5):
        assert waybill.dumps(f) == fresh(f)


def test_name_of_a_module_that_is_more_than_text_is_not_kept(modules):
    class Name(str):
        pass

    modules[2].__name__ = Name("module_one.inner")
    seen = weakref.ref(modules[2].__name__)
    f = warm(function("return one.inner.thing"))

    modules[2].__name__ = "module_one.inner"
    gc.collect()

    assert seen() is None
    assert waybill.dumps(f) == fresh(f)


def test_nothing_that_was_sent_is_kept_alive():
    class Witness(types.ModuleType):
        pass

    inner = sys.modules["one_more.inner"] = Witness("one_more.inner")
    inner.__spec__ = types.SimpleNamespace(name="one_more.inner")
    with imported("one_more", inner=inner) as module:
        f = warm(function("return one.inner.thing", one=module))
        f.__globals__["witness"] = Witness("witness")
        seen = [f, f.__code__, f.__globals__["witness"], module, inner]
        seen = [weakref.ref(one) for one in seen]
        del sys.modules["one_more.inner"]
    del f, module, inner
    gc.collect()

    assert [one() for one in seen] == [None] * 5


# ---- Whatever a function depends on ------------------------------------------------

WORLD = """
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
        return counted, helper(b), chained(c), d(RATE), LABEL, RAW, NOTHING, LONG, PAIR, join, len
    return inner

f = outer(2)
class Held: attribute = 1
"""


def world(**scope):
    scope = {"__name__": "nowhere", **scope}
    exec(compile(WORLD, "<world>", "exec"), scope)
    return scope


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


def test_a_function_is_not_taken_behind_an_object():
    w = world()
    assert is_taken(w["f"])

    assert not is_taken([w["Held"], w["f"]])


def test_what_is_kept_is_forgotten_with_the_caches():
    w = world()
    assert is_taken(w["f"])

    waybill.clear_caches()

    hits = hits_of_caches()
    waybill.dumps(w["f"])
    assert hits_of_caches() == hits
    assert is_taken(w["f"])


def hits_of_caches():
    return waybill.cache_info()["functions"]["hits"]


def is_taken(obj):
    """Whether an object that is sent again and again goes as it was kept."""
    for _ in range(3):
        waybill.dumps(obj)
    hits = hits_of_caches()
    waybill.dumps(obj)
    return hits_of_caches() == hits + 1


def dumps_without_caches(obj):
    waybill.configure(caches=False)
    try:
        return waybill.dumps(obj)
    finally:
        waybill.configure(caches=True)
