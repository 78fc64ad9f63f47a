"""Modules that no import finds travel as what they hold."""

import importlib.machinery
import sys
import threading
import types

import fresh_process
import pytest
import waybill
from claims_in_text import read_claims
from refusals import path_of_refused
from sources import define, imported

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


CLAIMS = """
module keeps name, doc and values
    value = make()
    >>> value.__name__, value.__doc__, value.count, type(value).__name__
    "made_by_hand", "its doc", 0, "module"

functions of a module share its dict
    value = make()
    >>> [value.add(), value.get(), value.C().get(), value.one.get(), value.count]
    [1, 1, 1, 1, 1]

module before its function shares its dict
    module = make()
    value = [module, module.add]
    >>> value[1](), value[0].count, value[0].add is value[1]
    1, 1, True

module after its function shares its dict
    module = make()
    value = [module.add, module]
    >>> value[0](), value[1].count, value[1].add is value[0]
    1, 1, True

module is one in a payload
    module = make()
    value = [module, {"k": module}]
    >>> value[0] is value[1]["k"]
    True

module that holds itself arrives
    value = make()
    value.me = value
    >>> value.me is value
    True

modules that hold each other arrive
    value, other = make(name="one"), make(name="other")
    value.other, other.one = other, value
    >>> value.other.one is value
    True

module that arrives is in no sys.modules
    value = make()
    >>> value.__name__ in sys.modules
    False

function that uses a module by hand brings it
    module = make()
    def value(): return module.add() + module.get()
    >>> value()
    2
"""


@pytest.mark.parametrize("source, expression, expected", read_claims(CLAIMS))
def test_module_by_hand_arrives(source, expression, expected):
    assert fresh_process.send(define(source, make=make).value, expression) == expected


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
    module = make()
    module.lock = threading.Lock()

    assert path_of_refused([module]) == "obj[0].lock (_thread.lock)"


def test_module_inside_of_an_extension_is_found_there(monkeypatch):
    outer, inner = types.ModuleType("bv_outer"), types.ModuleType("_inner")
    outer.__spec__ = importlib.machinery.ModuleSpec("bv_outer", None)
    inner.Error = type("Error", (Exception,), {"__module__": "bv_outer._inner"})
    outer._inner = inner
    monkeypatch.setitem(sys.modules, "bv_outer", outer)
    scope = {"__name__": "__main__", "inner": inner}
    exec("def value(): return inner", scope)

    assert waybill.loads(waybill.dumps(scope["value"]))() is inner
