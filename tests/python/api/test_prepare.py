"""A prepared call is the payload of the call as it was when it was prepared."""

import array
import collections
import gc
import math
import pickle
import sys
import threading
import types
import weakref
import xml.dom.minidom

import fresh_process
import pytest
import waybill
from sources import define
from threads import run_in_threads
from waybill.calls import dumps_call, loads_outcome, run_call
from without_caches import without_caches

FUNCTIONS = """
scale = 3
limits = {"most": [1, 2]}
long_text = "text that is long enough to be referred to, where it is met again"

class Config:
    kinds = ["a"]
    def __init__(self, x=0): self.x = x
    def get(self): return self.x

def helper(a): return scale, a, xml.dom

def bare(): pass

def task(x=0, y=(1, "b"), *, z: float = 1.0):
    return helper(x), math.sqrt(1), collections.OrderedDict(a=y), Config, limits, z

def counter():
    count = 0
    def step(*args, **names):
        nonlocal count
        count += 1
        return count, args, names, step
    return step

step = counter()

def asks(module=None): return module.dom.minidom, long_text

def stores(x):
    global stored
    stored = x
    return x.dom
"""


class Program:
    """The globals of a script, which has functions and a class, as attributes."""

    def __init__(self, scope):
        self.__dict__ = scope


def program():
    made = define(FUNCTIONS, math=math, collections=collections, xml=xml)
    return Program(made.task.__globals__)


CALLABLES = {
    name: (lambda space, name=name: getattr(space, name))
    for name in ("bare", "helper", "task", "step", "asks", "stores", "Config")
} | {
    "a method": lambda space: space.Config(1).get,
    "by reference": lambda space: math.sqrt,
    "a partial": lambda space: __import__("functools").partial(space.task, 1),
    "an instance": lambda space: space.Config([1]).__init__,
    "a large constant": lambda space: (
        define("def f(): return data", data=b"x" * 70_000).f
    ),
    "a large bytearray": lambda space: (
        define("def f(): return data", data=bytearray(b"x" * 70_000)).f
    ),
}

ARGUMENTS = {
    "none": lambda space: ((), {}),
    "data": lambda space: ((1, 2.5, "x", None, [1, {"a": (2,)}]), {"z": {1, 2}}),
    "shared data": lambda space: (([rows := [1]], rows, rows), {"z": rows}),
    "text of the function": lambda space: ((space.long_text,), {"z": space.long_text}),
    "a dict of the function": lambda space: ((space.limits, space.limits["most"]), {}),
    "the function": lambda space: ((space.task, space.step), {}),
    "its class": lambda space: ((space.Config,), {}),
    "an instance of it": lambda space: ((space.Config(1), space.Config([2])), {}),
    "its helper": lambda space: ((space.helper,), {"z": [space.helper]}),
    "a new function": lambda space: ((eval("lambda q: q + scale", vars(space)),), {}),
    "a function that stores": lambda space: ((space.stores, xml), {}),
    "a new class": lambda space: ((type("Other", (space.Config,), {}),), {}),
    "a library's object": lambda space: ((collections.Counter("aab"),), {}),
    "a module": lambda space: ((xml,), {}),
    "an array": lambda space: ((array.array("d", [1.0]),), {}),
    "many bytes": lambda space: ((b"x" * 80_000, bytearray(b"y" * 80_000)), {}),
    "a set of functions": lambda space: (({space.helper, math.sqrt},), {}),
    "names of the method": lambda space: ((), {"self": 1, "args": 2, "function": 3}),
}


@pytest.mark.parametrize("arguments", ARGUMENTS)
@pytest.mark.parametrize("function", CALLABLES)
def test_payload_is_that_of_dumps_call(function, arguments):
    space = program()
    called = CALLABLES[function](space)
    args, kwargs = ARGUMENTS[arguments](space)
    prepared = waybill.prepare(called)

    for _ in range(2):
        assert prepared.dumps(*args, **kwargs) == dumps_call(called, args, kwargs)


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_no_call_changes_the_next(arguments):
    space = program()
    prepared = waybill.prepare(space.task)
    before = prepared.dumps(1)
    args, kwargs = ARGUMENTS[arguments](space)

    prepared.dumps(*args, **kwargs)

    assert prepared.dumps(1) == before


def set_cell(space):
    space.step.__closure__[0].cell_contents = 99


#: What a program can change of a function, each with the callable that has it.
CHANGES = {
    "a global": ("task", lambda s: setattr(s, "limits", 7)),
    "what a global holds": ("task", lambda s: s.limits.update(more=1)),
    "a helper": ("task", lambda s: setattr(s, "helper", s.bare)),
    "a helper's global": ("task", lambda s: setattr(s, "scale", 99)),
    "defaults": ("task", lambda s: setattr(s.task, "__defaults__", (5, 6))),
    "keyword defaults": ("task", lambda s: s.task.__kwdefaults__.update(z=9)),
    "annotations": ("task", lambda s: setattr(s.task, "__annotations__", {"z": int})),
    "an attribute": ("task", lambda s: setattr(s.task, "mark", 1)),
    "the code": ("task", lambda s: setattr(s.task, "__code__", s.bare.__code__)),
    "a cell": ("step", set_cell),
    "a class attribute": ("task", lambda s: setattr(s.Config, "kinds", 1)),
    "a method": ("task", lambda s: setattr(s.Config, "get", s.bare)),
    "a class": ("task", lambda s: setattr(s, "Config", int)),
    "an imported name": ("task", lambda s: setattr(s, "math", xml)),
    "a deleted global": ("task", lambda s: delattr(s, "helper")),
    "a new global that it names": ("stores", lambda s: setattr(s, "stored", 1)),
}


#: A new function brings the globals that it names as they are now. Who reads it keeps
#: those of the prepared one.
BROUGHT = ("a helper's global", "a new function")


@pytest.mark.parametrize("arguments", ["none", "data", "a module", "a new function"])
@pytest.mark.parametrize("change", CHANGES)
def test_function_is_frozen_until_it_is_refreshed(change, arguments):
    space = program()
    name, apply = CHANGES[change]
    function = getattr(space, name)
    args, kwargs = ARGUMENTS[arguments](space)
    prepared = waybill.prepare(function)
    frozen, digest = dumps_call(function, args, kwargs), prepared.digest

    apply(space)

    assert dumps_call(function, args, kwargs) != frozen
    if (change, arguments) != BROUGHT:
        assert prepared.dumps(*args, **kwargs) == frozen
    assert prepared.digest == digest

    prepared.refresh()

    assert prepared.dumps(*args, **kwargs) == dumps_call(function, args, kwargs)
    assert prepared.digest != digest


def test_what_arguments_share_with_the_function_is_frozen_with_it():
    space = program()
    prepared = waybill.prepare(space.task)
    frozen = prepared.dumps(space.limits, space.Config(1))

    space.limits["more"] = 1
    space.Config.kinds = ["b"]

    assert prepared.dumps(space.limits, space.Config(1)) == frozen
    # An instance is the argument's own.
    assert prepared.dumps(space.limits, space.Config(2)) != frozen


def test_new_function_among_the_arguments_does_not_send_frozen_globals_again():
    space = program()
    prepared = waybill.prepare(space.task)
    space.scale = 99

    data = prepared.dumps(eval("lambda: (scale, limits)", vars(space)))

    task, (argument,), _ = waybill.loads(data)
    assert task.__globals__ is argument.__globals__
    assert argument() == (3, {"most": [1, 2]})


def test_call_runs_in_a_process_that_has_imported_nothing():
    space = program()
    prepared = waybill.prepare(space.task)

    for argument in (1, xml, space.Config(5), collections.Counter("a")):
        outcome = fresh_process.execute(
            "answer = waybill.calls.run_call(data)", prepared.dumps(argument)
        )
        assert loads_outcome(outcome)[0][0] == 3


def test_class_of_function_and_of_argument_is_one_class_at_the_receiver():
    space = program()
    data = waybill.prepare(space.task).dumps(space.Config(4))

    answer = fresh_process.execute(
        """
function, (config,), _ = waybill.loads(data)
answer = repr(function.__globals__["Config"] is type(config) and config.get()).encode()
""",
        data,
    )

    assert answer == b"4"


def modules_in(data):
    return {record["module"] for record in waybill.inspect(data)["imports"]}


def test_module_among_the_arguments_brings_the_submodules_that_the_function_asks_for():
    space = program()
    prepared = waybill.prepare(space.asks)

    assert "xml.dom.minidom" not in modules_in(prepared.dumps())
    assert "xml.dom.minidom" in modules_in(prepared.dumps(xml))


@pytest.mark.parametrize("function", CALLABLES)
def test_digest_is_equal_for_what_was_prepared_alike(function):
    space = program()
    called = CALLABLES[function](space)

    first, second = waybill.prepare(called), waybill.prepare(called)

    assert first.digest == second.digest and len(first.digest) == 16
    assert first.digest != waybill.prepare(len).digest


def test_signature_and_application_are_no_part_of_the_digest():
    key = waybill.security.SigningKey.generate()
    bare = program().bare

    signed = waybill.prepare(bare, key=key, application=b"job 1")

    assert signed.digest == waybill.prepare(bare).digest


def test_options_hold_for_each_call():
    key = waybill.security.SigningKey.generate()
    options = {
        "key": key,
        "application": b"job 1",
        "replace": {type(threading.Lock()): "fresh"},
    }
    function = define("def f(*args): return lock, args", lock=threading.Lock()).f
    held = threading.Lock()
    prepared = waybill.prepare(function, **options)

    for args in ((), (1,), (held,), (collections.Counter("a"),)):
        assert prepared.dumps(*args) == dumps_call(function, args, **options)


def local_package(tmp_path, monkeypatch):
    folder = tmp_path / "prepared_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("from .one import f, Thing\n")
    (folder / "one.py").write_text(
        "from . import two\nclass Thing: pass\ndef f(*a): return two.g(a), Thing\n"
    )
    (folder / "two.py").write_text("import json\ndef g(x): return json.dumps(x)\n")
    (folder / "three.py").write_text("def h(): return 3\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    __import__("prepared_package.three")
    yield sys.modules["prepared_package"]
    for name in [name for name in sys.modules if name.startswith("prepared_package")]:
        del sys.modules[name]


package = pytest.fixture(local_package)


def test_modules_by_value_travel_as_with_dumps(package):
    prepared = waybill.prepare(package.f, by_value=[package])
    others = [
        (),
        (1,),
        (package.Thing(),),
        (package.three.h,),
        (package,),
        (package.one,),
    ]

    for args in [*others, *others]:
        expected = dumps_call(package.f, args, by_value=[package])
        assert prepared.dumps(*args) == expected


def test_modules_by_value_are_there_where_the_call_runs(package):
    prepared = waybill.prepare(package.f, by_value=[package])

    answer = fresh_process.execute(
        "function, args, names = waybill.loads(data)\n"
        "answer = repr((function(1)[0], args[0]())).encode()",
        prepared.dumps(package.three.h),
    )

    assert answer == repr(("[1]", 3)).encode()


def test_registered_modules_and_process_options_are_those_of_preparing(package):
    waybill.register_pickle_by_value(package)
    try:
        waybill.configure(application=b"job 2")
        prepared = waybill.prepare(package.f)
        expected = prepared.dumps(package.Thing())
        assert expected == dumps_call(package.f, (package.Thing(),))
    finally:
        waybill.configure(application=None)
        waybill.unregister_pickle_by_value(package)

    assert prepared.dumps(package.Thing()) == expected


def test_function_that_cannot_travel_is_named():
    function = define("def f(): return lock", lock=threading.Lock()).f

    with pytest.raises(waybill.EncodeError, match=r"__globals__\['lock'\]"):
        waybill.prepare(function)


@pytest.mark.parametrize("thing", [None, 3, "f", [len]])
def test_what_is_not_callable_is_refused(thing):
    with pytest.raises(TypeError, match="is not callable"):
        waybill.prepare(thing)


def test_argument_that_cannot_travel_is_named_as_dumps_call_names_it():
    space = program()
    prepared = waybill.prepare(space.task)
    expected = prepared.dumps(1)
    args = (1, {"a": [threading.Lock()]})

    with pytest.raises(waybill.EncodeError) as from_prepared:
        prepared.dumps(*args)
    with pytest.raises(waybill.EncodeError) as from_call:
        dumps_call(space.task, args)

    assert str(from_prepared.value) == str(from_call.value)
    assert prepared.dumps(1) == expected


def test_refresh_that_fails_leaves_what_was_prepared():
    space = program()
    prepared = waybill.prepare(space.task)
    expected = prepared.dumps(1)
    space.limits["lock"] = threading.Lock()

    with pytest.raises(waybill.EncodeError, match="lock"):
        prepared.refresh()

    assert prepared.dumps(1) == expected


def test_reducer_of_an_argument_may_refresh_and_dump():
    space = program()
    prepared = waybill.prepare(space.task)
    inner = []

    class Argument:
        def __reduce__(self):
            space.scale += 1
            inner.append(prepared.dumps(math.sqrt))
            prepared.refresh()
            return int, ()

    before = prepared.dumps(math.sqrt)
    data = prepared.dumps(Argument(), space.helper)

    assert inner == [before]
    assert waybill.loads(data)[0].__globals__["scale"] == 3
    assert waybill.loads(prepared.dumps())[0].__globals__["scale"] == 4


def test_threads_prepare_and_dump_at_once():
    space = program()
    prepared = waybill.prepare(space.task)
    expected = [prepared.dumps(n, space.Config(n), math.sqrt) for n in range(50)]

    def work(_):
        for n in range(50):
            assert prepared.dumps(n, space.Config(n), math.sqrt) == expected[n]
        prepared.refresh()

    assert run_in_threads(work) == []


def test_prepared_call_in_the_globals_of_its_function_is_collected():
    space = program()
    space.prepared = waybill.prepare(space.task)
    space.prepared.dumps(space.Config(1), lambda: 1)
    watched = weakref.ref(space.task)

    del space
    gc.collect()

    assert watched() is None


def test_prepared_call_keeps_what_it_refers_to_alive():
    space = program()
    prepared = waybill.prepare(space.task)
    expected = prepared.dumps(1)
    del space
    gc.collect()

    assert [prepared.dumps(1) for _ in range(3)] == [expected] * 3
    assert isinstance(prepared.function, types.FunctionType)


def test_prepared_call_does_not_travel():
    prepared = waybill.prepare(program().bare)

    with pytest.raises(waybill.EncodeError, match="PreparedCall"):
        waybill.dumps(prepared)
    with pytest.raises(TypeError, match="PreparedCall"):
        pickle.dumps(prepared)


def test_caches_make_no_difference():
    space = program()
    with_caches = waybill.prepare(space.task).dumps(1, space.Config(1))
    with without_caches():
        assert waybill.prepare(space.task).dumps(1, space.Config(1)) == with_caches


def test_outcome_is_that_of_the_function():
    space = program()
    prepared = waybill.prepare(space.task)

    assert loads_outcome(run_call(prepared.dumps(5, z=2)))[-1] == 2
