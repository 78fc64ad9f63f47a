"""waybill.environment: what a payload needs and a process lacks."""

import json
import os
import shutil
import sys

import fresh_process
import golden_files
import pytest
import waybill
from other_python import as_of_another_python


@pytest.fixture
def sender(tmp_path, monkeypatch):
    """Packages that only the sender has; others have them with their code taken out."""
    package = tmp_path / "sent" / "shop"
    (package / "parts").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "parts" / "__init__.py").write_text("")
    (package / "parts" / "wheel.py").write_text("size = 1\n")
    (tmp_path / "sent" / "tool.py").write_text("def use(): return 1\n")
    monkeypatch.syspath_prepend(tmp_path / "sent")
    yield tmp_path
    for name in [n for n in sys.modules if n.split(".")[0] in ("shop", "tool")]:
        del sys.modules[name]


def payload():
    import shop.parts.wheel
    import tool

    def build():
        import colorsys

        import never_there

        return shop.parts.wheel.size + tool.use()

    return waybill.dumps(build)


def told_elsewhere(data, path=(), versions=None, after=""):
    """What `missing` says in a process that has imported nothing else."""
    code = f"""
import json, sys, waybill
{after}
loaded = set(sys.modules)
found = waybill.missing(sys.stdin.buffer.read(), json.loads(sys.argv[1]))
assert not {{"shop", "tool", "colorsys"}} & (set(sys.modules) - loaded), "imported"
print(json.dumps([[*entry, str(entry)] for entry in found]))
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    told = fresh_process.run_script(code, json.dumps(versions), env=env, given=data)
    return json.loads(told)


def modules(told):
    return {entry[0]: entry[1] for entry in told}


def test_modules_that_are_not_there_are_named_with_what_needs_them(sender):
    told = told_elsewhere(payload())

    assert modules(told) == {
        "tool": "no module named 'tool'",
        "shop": "no module named 'shop'",
        "shop.parts": "no module named 'shop'",
        "shop.parts.wheel": "no module named 'shop'",
        "never_there": "no module named 'never_there'",
    }
    (tool,) = (entry for entry in told if entry[0] == "tool")
    assert tool[2:4] == ["load", "tool"]
    assert "build" in tool[-1] and "test_missing.py" in tool[-1]


#: What the receiver has done before it is asked.
DONE = {
    "nothing": "",
    "an import of the package alone": (
        "import shop; shop.parts = __import__('types').SimpleNamespace(wheel=1)"
    ),
    # It is not made to.
    "an import of a package that imports on demand": """
import shop
def __getattr__(name):
    raise ImportError("asked for " + name)
shop.__getattr__ = __getattr__
""",
}


@pytest.mark.parametrize("after", DONE.values(), ids=DONE)
def test_what_is_there_is_not_named(sender, after):
    told = told_elsewhere(payload(), path=[sender / "sent"], after=after)

    assert modules(told) == {"never_there": "no module named 'never_there'"}


def test_submodule_that_a_package_lacks_is_named(sender):
    data = payload()
    (sender / "sent" / "shop" / "parts" / "wheel.py").unlink()

    told = told_elsewhere(data, path=[sender / "sent"])

    assert modules(told)["shop.parts.wheel"] == "no module named 'shop.parts.wheel'"
    assert "shop.parts" not in modules(told)


def test_modules_that_others_make_count_as_there():
    import collections.abc
    import os.path

    def use():
        return os.path.join("a"), collections.abc.Sized

    assert told_elsewhere(waybill.dumps(use)) == []


def test_module_that_is_blocked_is_named(sender):
    told = told_elsewhere(
        payload(), path=[sender / "sent"], after="sys.modules['tool'] = None"
    )

    assert "tool" in modules(told)


def test_namespace_packages_within_each_other_are_found(sender):
    for init in (sender / "sent").rglob("__init__.py"):
        init.unlink()
    data = payload()

    there = told_elsewhere(data, path=[sender / "sent"])
    (sender / "sent" / "shop" / "parts" / "wheel.py").unlink()
    gone = told_elsewhere(data, path=[sender / "sent"])

    assert set(modules(there)) == {"never_there"}
    assert set(modules(gone)) == {"never_there", "shop.parts.wheel"}


def test_packages_in_archives_are_found(sender):
    data = payload()
    archive = shutil.make_archive(sender / "archive", "zip", sender / "sent")

    assert set(modules(told_elsewhere(data, path=[archive]))) == {"never_there"}


@pytest.mark.parametrize("error", ["ImportError", "KeyError", "RuntimeError"])
def test_what_a_finder_refuses_is_missing(sender, error):
    blocker = f"""
class Blocker:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "shop.parts":
            raise {error}("refused")
sys.meta_path.insert(0, Blocker)
"""
    told = told_elsewhere(payload(), path=[sender / "sent"], after=blocker)

    assert modules(told)["shop.parts"] == "no module named 'shop.parts'"
    assert modules(told)["shop.parts.wheel"] == "no module named 'shop.parts'"
    assert {"shop", "tool"}.isdisjoint(modules(told))


def test_plain_data_lacks_nothing():
    assert waybill.missing(waybill.dumps({"a": [1, 2]})) == ()


def test_code_of_another_python_is_told():
    ours = "%d.%d" % sys.version_info[:2]
    sent = [path for path in golden_files.PATHS if path.stem.startswith("function-")]
    assert len(sent) > 1

    for path in set(sent) - set(golden_files.own()):
        (entry,) = waybill.missing(path.read_bytes())

        assert entry.module == "python"
        assert f"made by Python {golden_files.version_of(path)} " in entry.reason
        assert f"without source, and this is Python {ours} " in entry.reason


def test_code_of_another_python_with_source_is_not_missing():
    def sent(x):
        return x + 1

    sent.__module__ = "__main__"
    payload = as_of_another_python(waybill.dumps(sent, source=True))

    assert waybill.missing(payload) == ()


def test_bytes_that_are_no_payload_are_refused():
    with pytest.raises(waybill.DecodeError):
        waybill.missing(b"no payload")
    with pytest.raises(waybill.DecodeError):
        waybill.environment.versions(b"no payload")


class TestVersions:
    @pytest.fixture
    def installed(self, sender):
        """The module `tool` is of a distribution of another name."""
        info = sender / "sent" / "hardware-2.5.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Name: hardware\nVersion: 2.5\n")
        (info / "RECORD").write_text("tool.py,,\n")
        return sender

    def test_those_of_installed_packages_are_told(self, installed):
        assert waybill.environment.versions(payload()) == {"tool": "2.5"}

    def test_backports_are_not_those_of_the_standard_library(self, installed):
        info = installed / "sent" / "colorsys-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Name: colorsys\nVersion: 1.0\n")

        assert waybill.environment.versions(payload()) == {"tool": "2.5"}

    def test_a_package_that_is_named_like_its_module_is_found_by_that(self):
        pytest.importorskip("pytest")

        def use():
            return pytest.mark

        assert waybill.environment.versions(waybill.dumps(use)) == {
            "pytest": pytest.__version__
        }

    def test_those_that_differ_are_named(self, installed):
        path = [installed / "sent"]
        data = payload()

        same = told_elsewhere(data, path, versions={"tool": "2.5"})
        other = told_elsewhere(data, path, versions={"tool": "2.4", "shop": "1"})

        assert "tool" not in modules(same)
        assert modules(other)["tool"] == "made with tool 2.4, here is 2.5"
        assert "shop" not in modules(other)
