"""Modules that no import finds travel as what they hold."""

import importlib.machinery
import sys
import types

import fresh_process
import pytest
import waybill
from sources import imported

SOURCE = """
count = 0
def add():
    global count
    count += 1
    return count
def get(): return count
class C:
    def get(self): return count
one = C()
"""


def make(source=SOURCE, name="made_by_hand"):
    module = types.ModuleType(name, "its doc")
    exec(source, vars(module))
    return module


def test_module_keeps_name_doc_and_values():
    program = "value.__name__, value.__doc__, value.count, type(value).__name__"

    expected = ("made_by_hand", "its doc", 0, "module")
    assert fresh_process.send(make(), program) == expected


@pytest.mark.parametrize("reads", ["get()", "C().get()", "one.get()", "count"])
def test_functions_of_a_module_share_its_dict(reads):
    assert fresh_process.send(make(), f"[value.add(), value.{reads}]") == [1, 1]


def test_module_before_its_function_shares_its_dict():
    module = make()

    found, add = waybill.loads(waybill.dumps([module, module.add]))
    add()

    assert found.count == 1
    assert found.add is add


def test_module_after_its_function_shares_its_dict():
    module = make()

    add, found = waybill.loads(waybill.dumps([module.add, module]))
    add()

    assert found.count == 1
    assert found.add is add


def test_module_is_one_in_a_payload():
    module = make()

    one, other = waybill.loads(waybill.dumps([module, {"k": module}]))

    assert one is other["k"] is not module


def test_module_that_holds_itself_arrives():
    module = make()
    module.me = module

    assert fresh_process.send(module, "value.me is value")


def test_modules_that_hold_each_other_arrive():
    one, other = make(name="one"), make(name="other")
    one.other, other.one = other, one

    assert fresh_process.send(one, "value.other.one is value")


def test_module_that_arrives_is_in_no_sys_modules():
    program = "[value.__name__ in sys.modules]"

    assert fresh_process.send(make(), program) == [False]


def test_function_that_uses_a_module_by_hand_brings_it():
    module = make()
    scope = {"__name__": "nowhere", "module": module}
    exec("def f(): return module.add() + module.get()", scope)

    assert fresh_process.send(scope["f"], "value()") == 2


def test_importable_module_goes_by_reference():
    with imported("made_importable", big="x" * 1000) as module:
        data = waybill.dumps(module)

        assert waybill.loads(data) is module
        assert len(data) < 200


@pytest.mark.once
def test_module_that_grows_without_end_is_refused():
    module = make("""
class Growing:
    def __reduce__(self):
        globals()[f"next_{len(globals())}"] = Growing()
        return Growing, (), {"module": module}
import sys
first = Growing()
""")
    module.module = module

    with pytest.raises(waybill.EncodeError, match="gets new names without end"):
        waybill.dumps(module)


def test_module_with_a_lock_names_its_path():
    import threading

    module = make()
    module.lock = threading.Lock()

    with pytest.raises(waybill.EncodeError) as caught:
        waybill.dumps([module])

    assert f"{caught.value.path} ({caught.value.type})" == "obj[0].lock (_thread.lock)"


def test_module_inside_of_an_extension_is_found_there(monkeypatch):
    outer, inner = types.ModuleType("bv_outer"), types.ModuleType("_inner")
    outer.__spec__ = importlib.machinery.ModuleSpec("bv_outer", None)
    inner.Error = type("Error", (Exception,), {"__module__": "bv_outer._inner"})
    outer._inner = inner
    monkeypatch.setitem(sys.modules, "bv_outer", outer)
    scope = {"__name__": "__main__", "inner": inner}
    exec("def value(): return inner", scope)

    assert waybill.loads(waybill.dumps(scope["value"]))() is inner
