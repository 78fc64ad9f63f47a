"""Modules that a program loads from files by their paths: no import finds them."""

import fresh_process
import pytest
import waybill

CODE = """
import dataclasses, enum
K = 2
def double(x): return x * K
class Color(enum.Enum):
    RED = 1
@dataclasses.dataclass
class Run:
    n: int
    def go(self): return double(self.n)
class Failed(Exception):
    pass
"""
LOAD = """
import importlib.util, sys, waybill
def load(name, path, places=None):
    spec = importlib.util.spec_from_file_location(
        name, path, submodule_search_locations=places
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
"""
#: What is sent of the module `m`, and what the receiver sees of it.
SENT = {
    "a function": ("m.double", "value(4)", 8),
    "a method": ("m.Run(4).go", "value()", 8),
    "an instance": ("m.Run(4)", "value.go()", 8),
    "a member": ("m.Color.RED", "value.name", "RED"),
    "an exception": ("m.Failed('x')", "value.args", ("x",)),
    "a function that names the module": ("lambda: m.double(m.K)", "value()", 4),
    "a function that holds it": ("(lambda own: lambda: own.K)(m)", "value()", 2),
    "a method of the module": ("(lambda own: own.K).__get__(m)", "value()", 2),
    "a function with a default": ("lambda own=m: own.K", "value()", 2),
    "one with a keyword default": ("lambda *, own=m: own.K", "value()", 2),
    "a partial": ("__import__('functools').partial(getattr, m, 'K')", "value()", 2),
    "an object that holds it": ("[m]", "value[0].Run(4).go()", 8),
    "a function that has a class of it": ("lambda: m.Run(3).go()", "value()", 6),
}


def sent(script, *arguments):
    return fresh_process.sent_by(f"{LOAD}{script}\nsent = value", *arguments)


def is_by_name(data):
    """Whether a payload has no code of anything."""
    return not waybill.inspect(data)["code"]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "code" / "user_code.py"
    path.parent.mkdir()
    path.write_text(CODE)
    return path


@pytest.mark.parametrize("what", SENT)
def test_what_a_file_defines_travels_by_value(what, file):
    expression, seen, expected = SENT[what]
    script = f"m = load('made_up', sys.argv[1])\nvalue = {expression}"

    assert fresh_process.load(sent(script, file), seen) == expected


def test_a_module_that_imports_find_travels_by_name(file):
    script = "sys.path.insert(0, sys.argv[1]); import user_code as m; value = m.double"

    assert is_by_name(sent(script, file.parent))


def test_a_file_of_another_module_of_that_name_travels_by_value(file, tmp_path):
    other = tmp_path / "other" / "user_code.py"
    other.parent.mkdir()
    other.write_text("K = 9")
    script = """
sys.path.insert(0, sys.argv[2])
m = load("user_code", sys.argv[1])
value = m.double
"""

    assert fresh_process.load(sent(script, file, other.parent), "value(4)") == 8


def test_a_package_by_path_and_its_modules_travel_by_value(file):
    package = file.parent / "parcel"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text(CODE)
    script = """
load("made_up", sys.argv[1] + "/__init__.py", [sys.argv[1]])
import made_up.inner
value = made_up.inner.Run(4).go
"""

    assert fresh_process.load(sent(script, package), "value()") == 8


FINDER = """
import importlib.abc
class Finder(importlib.abc.MetaPathFinder):
    asked = []
    def find_spec(self, name, path, target=None):
        if name != "user_code": return None
        self.asked.append(name)
        {answer}
sys.meta_path.append(Finder())
m = load("user_code", sys.argv[1])
value = [m.double, m.Run, m.double]
"""
FOUND = "return importlib.util.spec_from_file_location(name, sys.argv[1])"


def test_a_module_that_a_finder_of_its_own_finds_travels_by_name(file):
    assert is_by_name(sent(FINDER.format(answer=FOUND), file))


def test_finders_are_asked_once_for_a_module(file):
    count = (
        "\nwaybill.dumps(value); waybill.dumps(m.Color)\nassert len(Finder.asked) == 1"
    )

    sent(FINDER.format(answer=FOUND) + count, file)


def test_a_finder_that_fails_leaves_a_module_by_name(file):
    assert is_by_name(sent(FINDER.format(answer="raise OSError"), file))


def test_a_module_whose_folder_left_the_path_travels_by_name(file):
    script = """
sys.path.insert(0, sys.argv[1])
import user_code as m
del sys.path[0]
value = m.Run(4).go
"""

    assert is_by_name(sent(script, file.parent))


def test_a_file_inside_of_a_package_travels_by_value_under_a_name_of_its_own(file):
    (file.parent / "__init__.py").write_text("")
    (file.parent / "beside.py").write_text("")
    script = """
sys.path.insert(0, sys.argv[2])
import folder.beside
m = load("user_code", sys.argv[1])
value = m.double
"""
    script = script.replace("folder.beside", f"{file.parent.name}.beside")

    data = sent(script, file, file.parent.parent)
    assert fresh_process.load(data, "value(4)") == 8


def test_modules_of_archives_and_namespaces_travel_by_name(file, tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("zipped.py", CODE)
    (file.parent / "space").mkdir()
    (file.parent / "space" / "inner.py").write_text(CODE)
    script = """
sys.path[:0] = sys.argv[1:]
import space.inner, zipped
value = [zipped.double, space.inner.double, space, zipped]
"""

    assert is_by_name(sent(script, tmp_path / "archive.zip", file.parent))


def test_modules_of_the_standard_library_travel_by_name():
    script = """
import asyncio, collections.abc, ctypes.util, json.decoder, os.path
import xml.etree.ElementTree
own = [name for name in sorted(sys.modules)
       if name.partition(".")[0] in sys.stdlib_module_names and name != "__main__"]
value = [sys.modules[name] for name in own]
assert len(value) > 100
"""

    assert is_by_name(sent(script))
