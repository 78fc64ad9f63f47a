"""Packages by value that import modules of theirs by names that they compute."""

import sys
import threading

import fresh_process
import pytest
import waybill
from sources import write_files

FILES = {
    "__init__.py": "",
    "one.py": """
import importlib, threading
from importlib import import_module
def relative(name): return importlib.import_module(f".{name}", __package__).VALUE
def absolute(name): return import_module(__package__ + "." + name).VALUE
def inside(name):
    import importlib as loader
    return loader.import_module(f"{__package__}.{name}").VALUE
def module(name): return import_module("." + name, __package__)
class Registry:
    def get(self, name): return import_module(f".{name}", __package__).VALUE
""",
    "two.py": "VALUE = 22\nOTHER = 23\n",
    "deep/__init__.py": "",
    "deep/three.py": "VALUE = 33\nOTHER = 34\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    write_files(tmp_path / "plug_ins", FILES)
    monkeypatch.syspath_prepend(tmp_path)
    import plug_ins.deep.three
    import plug_ins.one
    import plug_ins.two

    yield plug_ins
    for name in [n for n in sys.modules if n.partition(".")[0] == "plug_ins"]:
        del sys.modules[name]


def seen(value, expression):
    return fresh_process.load(waybill.dumps(value, by_value=["plug_ins"]), expression)


def use(package, function):
    """Names a part of each module, and has one that imports any of them."""
    return lambda name: (package.two.OTHER, package.deep.three.OTHER, function(name))


@pytest.mark.parametrize("name", ["relative", "absolute", "inside"])
def test_names_of_modules_that_are_imported_by_computed_names_arrive(package, name):
    function = use(package, getattr(package.one, name))

    expected = ((23, 34, 22), (23, 34, 33))
    assert seen(function, "value('two'), value('deep.three')") == expected


def test_a_module_that_is_only_handed_on_is_whole(package):
    function = use(package, package.one.module)

    assert seen(function, "value('deep.three')[2].VALUE") == 33


def test_a_method_imports_a_module_by_a_computed_name(package):
    assert seen(use(package, package.one.Registry().get), "value('two')[2]") == 22


@pytest.mark.parametrize("first", ["load", "part"])
def test_a_module_is_whole_whichever_code_comes_first(package, first):
    two = package.two
    both = {"load": package.one.relative, "part": lambda: two.OTHER}
    ordered = {first: both.pop(first), **both}

    assert seen(ordered, "value['part'](), value['load']('two')") == (23, 22)


def test_payloads_do_not_depend_on_the_order_of_imports(package):
    function = use(package, package.one.relative)
    data = waybill.dumps(function, by_value=[package])
    sys.modules["plug_ins.deep.three"] = sys.modules.pop("plug_ins.deep.three")
    sys.modules["plug_ins.two"] = sys.modules.pop("plug_ins.two")

    assert waybill.dumps(function, by_value=[package]) == data


def test_modules_that_no_code_names_stay_at_home(package):
    package.two.held = threading.Lock()
    package.two.held.acquire()

    data = waybill.dumps(package.one.relative, by_value=[package])

    assert b"plug_ins.two" not in data


def test_the_script_itself_is_no_package():
    program = """
import importlib, threading
held = threading.Lock()
held.acquire()
def work(name): return importlib.import_module(name).__name__
import string, waybill
sent = waybill.dumps(work, by_value=[string])
"""
    payload = fresh_process.sent_by(program)

    assert fresh_process.load(payload, "waybill.loads(value)('json')") == "json"


def test_a_program_that_has_not_imported_importlib_sends_plug_ins(tmp_path):
    load = "importlib.import_module(f'plug_ins.{name}').VALUE"
    body = f"    import importlib\n    return {load}\n"
    tmp_path.joinpath("plug_ins").mkdir()
    tmp_path.joinpath("plug_ins", "one.py").write_text(f"def load(name):\n{body}")
    tmp_path.joinpath("plug_ins", "two.py").write_text(FILES["two.py"])
    program = """
import plug_ins.one, plug_ins.two
def part(): return plug_ins.two.OTHER, plug_ins.one.load("two")
sys.modules.pop("importlib", None)
answer = waybill.dumps(part, by_value=["plug_ins"])
"""

    payload = fresh_process.execute(program, path=[tmp_path])

    assert fresh_process.load(payload, "value()") == (23, 22)
