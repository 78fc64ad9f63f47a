"""What is remembered of a code object depends on it alone, and dies with it."""

import gc
import importlib
import json
import marshal
import os
import sys
import types
import weakref

import fresh_process
import own_memory
import pytest
import waybill
from sources import NOWHERE, define, imported

LINUX = pytest.mark.skipif(
    not sys.platform.startswith("linux") or bool(os.environ.get("WAYBILL_SANITIZED")),
    reason="reads /proc/self/smaps_rollup; sanitizers keep what is freed",
)


def call(function):
    return waybill.loads(waybill.dumps(function))()


def modules_of(function):
    return [record.module for record in waybill.imports(function)]


# ---- Nothing about the world is remembered


#: What makes `f`, and what changes what it gives from then on to 2.
CHANGES = {
    "a global": ("x = 1\ndef f(): return x", "f.__globals__['x'] = 2"),
    "a global that appears": ("def f(): return x", "f.__globals__['x'] = 2"),
    "a cell": (
        "def make(x):\n    def f(): return x\n    return f\nf = make(1)",
        "f.__closure__[0].cell_contents = 2",
    ),
    "defaults": ("def f(x=1): return x", "f.__defaults__ = (2,)"),
    "code": ("def f(): return 1", "f.__code__ = (lambda: 2).__code__"),
}


@pytest.mark.parametrize(("source", "change"), CHANGES.values(), ids=CHANGES)
def test_what_has_changed_is_seen_by_the_next_dumps(source, change):
    sent = define(source).f
    waybill.dumps(sent)

    exec(change, {"f": sent})

    assert call(sent) == 2


def test_deleted_global_is_gone():
    sent = define("x = 1\ndef f(): return x").f
    waybill.dumps(sent)

    del sent.__globals__["x"]

    with pytest.raises(NameError):
        call(sent)


@pytest.mark.parametrize("first", [1, json], ids=["a value", "another module"])
def test_global_that_becomes_a_module_is_imported(first):
    sent = define("def f(): return x.dumps([1]), x.__name__", x=first).f
    waybill.dumps(sent)

    sent.__globals__["x"] = marshal

    assert modules_of(sent) == ["marshal"]
    assert call(sent) == fresh_process.send(sent, "value()")
    assert call(sent)[1] == "marshal"


def test_submodule_imported_between_two_dumps_is_seen():
    sent = define("import xml\ndef f(): return xml.sax.handler").f
    saved = {name: sys.modules.pop(name) for name in list(sys.modules)
             if name.partition(".")[0] == "xml"}  # fmt: skip
    try:
        sent.__globals__["xml"] = importlib.import_module("xml")
        before = modules_of(sent)
        importlib.import_module("xml.sax.handler")

        assert before == ["xml"]
        assert "xml.sax.handler" in modules_of(sent)
    finally:
        for name in [n for n in sys.modules if n.partition(".")[0] == "xml"]:
            del sys.modules[name]
        sys.modules.update(saved)


# ---- One code object, many functions; many code objects, one content


def test_two_functions_on_one_code_object_keep_their_globals_and_imports():
    code = define("def f(): return x").f.__code__
    one, two, three, four = (
        types.FunctionType(code, {"x": x, "__name__": NOWHERE})
        for x in (1, 2, json, marshal)
    )

    assert (call(one), call(two), call(one)) == (1, 2, 1)
    found = modules_of(three), modules_of(four), modules_of(three)
    assert found == (["json"], ["marshal"], ["json"])


def test_equal_but_distinct_code_objects_are_not_mixed_up():
    one, two = (define("def f(): return x", x=number).f for number in (1, 2))
    two.__code__ = two.__code__.replace(co_filename=one.__code__.co_filename)
    assert one.__code__ == two.__code__
    assert one.__code__ is not two.__code__

    assert (call(one), call(two)) == (1, 2)


def test_code_objects_equal_but_for_type_or_sign_of_a_constant_are_not_mixed_up():
    constants = ["1", "1.0", "True", "0.0", "-0.0"]
    functions = [define(f"def f(): return {constant}").f for constant in constants]

    assert [repr(call(function)) for function in functions] == constants


def test_loaded_code_is_not_mixed_up_by_lines():
    first = define("def f(): return 1")
    second = define("\n\n\n\ndef f(): return 1")

    one, two = waybill.loads(waybill.dumps([first.f, second.f]))

    assert one.__code__.co_firstlineno != two.__code__.co_firstlineno


def test_code_at_the_address_of_a_dead_one_is_not_taken_for_it():
    for number in range(2000):
        scope = {"__name__": NOWHERE}
        exec(f"def f(): return {number}", scope)
        assert call(scope.pop("f")) == number


# ---- Modules that change


def test_function_of_a_reloaded_module_is_the_new_one(tmp_path, monkeypatch):
    file = tmp_path / "module_that_reloads.py"
    file.write_text("def f(): return 1", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = importlib.import_module("module_that_reloads")
    old = module.f
    waybill.dumps(old)

    file.write_text("def f(): return 'new'", encoding="utf-8")
    importlib.invalidate_caches()
    importlib.reload(module)

    assert call(old) == 1
    assert waybill.loads(waybill.dumps(module.f)) is module.f
    del sys.modules["module_that_reloads"]


def test_function_of_a_deleted_module_travels_by_value():
    with imported("module_that_goes") as module:
        exec("def f(): return 1", vars(module))
        function = module.f
        by_reference = waybill.inspect(waybill.dumps(function))["code"]

    assert by_reference == []
    assert fresh_process.send(function, "value()") == 1


def test_module_replaced_under_its_name_is_looked_up_anew():
    with imported("module_that_changes") as first:
        exec("def f(): return 1", vars(first))
        waybill.dumps(first.f)
        with imported("module_that_changes") as second:
            exec("def f(): return 2", vars(second))

            assert waybill.loads(waybill.dumps(second.f)) is second.f
            assert waybill.loads(waybill.dumps(first.f))() == 1


def test_loads_takes_the_module_that_is_there_now():
    with imported("module_that_changes", x=1) as first:
        function = define("def f(): return m.x", m=first).f
        data = waybill.dumps(function)
        assert waybill.loads(data)() == 1
    with imported("module_that_changes", x=2):
        assert waybill.loads(data)() == 2


# ---- Nothing is kept alive


def test_function_and_its_code_die_after_dumps():
    function = define("def f(a=[1]):\n    def g(): return a\n    return g").f
    watched = [weakref.ref(function), weakref.ref(function.__code__)]
    waybill.dumps(function)
    waybill.fingerprint(function)
    waybill.imports(function)

    del function
    gc.collect()

    assert [reference() for reference in watched] == [None, None]


def test_globals_die_after_dumps():
    class Value:
        def __reduce__(self):
            return int, ()

    value = Value()
    watched = weakref.ref(value)
    function = define("def f(): return x", x=value).f
    waybill.dumps(function)

    del function, value
    gc.collect()

    assert watched() is None


def test_loaded_function_dies_and_its_code_with_the_caches():
    data = waybill.dumps(define("def f(): pass").f)
    function = waybill.loads(data)
    watched, code = weakref.ref(function), weakref.ref(function.__code__)
    waybill.dumps(function)

    del function
    gc.collect()

    assert watched() is None
    waybill.clear_caches()  # What came twice may be held to be made again.
    gc.collect()
    assert code() is None


def test_function_whose_dumps_failed_dies():
    import threading

    function = define("def f(): return lock", lock=threading.Lock()).f
    watched = weakref.ref(function)
    with pytest.raises(waybill.EncodeError):
        waybill.dumps(function)

    del function
    gc.collect()

    assert watched() is None


GROWTH = (
    own_memory.MEMORY
    + """
import gc, sys, waybill

SOURCE = '''
def f(a, b={0}):
    def g(): return a + {0}
    # No identifier: CPython 3.12 never forgets those that it has seen as constants.
    return g, [x for x in "abc"], "name {0}".upper, b
'''

def send(number):
    scope = {"__name__": "nowhere"}
    exec(SOURCE.format(number), scope)
    data = waybill.dumps(scope["f"])
    waybill.loads(data)

count = int(sys.argv[1])
for number in range(count // 10):
    send(number)
gc.collect()
before = memory()
for number in range(count // 10, count):
    send(number)
gc.collect()
print(memory() - before)
"""
)
# KiB that the process may grow by while it sends nine tenths of the functions. A cache
# of one entry of 100 bytes for each function would take 9 000 KiB for 100 000 of them.
GROWTH_LIMIT = 2_000


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(100_000, marks=pytest.mark.slow),
        pytest.param(1_000_000, marks=pytest.mark.long),
    ],
)
@LINUX
def test_memory_stays_flat_over_different_functions(count):
    growth = int(fresh_process.run_script(GROWTH, count, seconds=1200))

    print(f"grew by {growth} KiB")
    assert growth < GROWTH_LIMIT
