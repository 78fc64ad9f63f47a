"""Which distributions modules belong to, also after one was installed or replaced."""

import os
import sys

import fresh_process
import pytest
import waybill
from installed import install, uninstall
from waybill._environment import distributions


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def owners(*modules):
    found = distributions.distributions_of(modules)
    return {
        module: [f"{name} {version}" for name, version in told]
        for module, told in found.items()
    }


def test_module_of_a_distribution_of_its_name(folder):
    install(folder, "tool", "2.5", ["tool"])

    expected = {"tool": ["tool 2.5"], "tool.part": ["tool 2.5"]}
    assert owners("tool", "tool.part") == expected


def test_module_of_a_distribution_of_another_name(folder):
    install(folder, "hardware", "2.5", ["tool"])

    assert owners("tool") == {"tool": ["hardware 2.5"]}


def test_namesake_that_has_other_modules_is_passed_over(folder):
    install(folder, "tool", "1.0", ["something"])
    install(folder, "hardware", "2.5", ["tool"])

    assert owners("tool") == {"tool": ["hardware 2.5"]}


def test_namesake_that_names_no_files_is_taken_if_nobody_else_has_the_module(folder):
    install(folder, "tool", "1.0", files=["__editable__.tool-1.0.pth"])

    assert owners("tool") == {"tool": ["tool 1.0"]}


def test_what_lists_top_level_modules_alone_is_believed(folder):
    install(folder, "tool", "1.0", files=[], top_level="other\ntool\n")

    assert owners("tool") == {"tool": ["tool 1.0"]}


def test_parts_of_a_namespace_belong_to_who_has_their_files(folder):
    install(folder, "space-one", "1", ["space.one"])
    install(folder, "space-two", "2", ["space.two"])

    expected = {"space.one": ["space-one 1"], "space.two": ["space-two 2"]}
    assert owners("space.one", "space.two") == expected
    assert owners("space") == {"space": ["space-one 1", "space-two 2"]}


def test_what_comes_with_python_or_waybill_or_from_nowhere_belongs_to_none(folder):
    install(folder, "colorsys", "1.0", ["colorsys"])

    assert owners("colorsys", "waybill._reducers", "__main__", "never_there") == {}


def test_distribution_that_is_installed_later_is_found(folder):
    assert owners("tool") == {}

    install(folder, "hardware", "2.5", ["tool"])

    assert owners("tool") == {"tool": ["hardware 2.5"]}


def test_distribution_that_is_replaced_is_found_as_it_is_now(folder):
    install(folder, "hardware", "2.5", ["tool"])
    assert owners("tool") == {"tool": ["hardware 2.5"]}

    install(folder, "hardware", "2.6", ["tool"])

    assert owners("tool") == {"tool": ["hardware 2.6"]}


def test_metadata_that_is_rewritten_in_place_is_read_again(folder):
    info = install(folder, "hardware", "2.5", ["tool"])
    assert owners("tool") == {"tool": ["hardware 2.5"]}

    (info / "METADATA").write_text("Name: hardware\nVersion: 2.5.dev100\n")

    assert owners("tool") == {"tool": ["hardware 2.5.dev100"]}


def test_distribution_that_is_removed_is_gone(folder):
    install(folder, "hardware", "2.5", ["tool"])
    assert owners("tool")

    uninstall(folder, "hardware")

    assert owners("tool") == {}


def test_another_path_is_looked_at(folder, tmp_path_factory, monkeypatch):
    install(folder, "hardware", "2.5", ["tool"])
    assert owners("tool")
    other = tmp_path_factory.mktemp("other")
    install(other, "hardware", "3.0", ["tool"])

    monkeypatch.setattr(sys, "path", [str(other), *sys.path])

    assert owners("tool") == {"tool": ["hardware 3.0"]}


@pytest.mark.parametrize(
    "text", ["", "Version: 1\n", "Name: tool\n", "Name: tool\n\nVersion: 1"]
)
def test_metadata_without_name_or_version_tells_nothing(folder, text):
    info = install(folder, "tool", "1", ["tool"])
    (info / "METADATA").write_text(text)

    assert owners("tool") == {}


def test_what_is_known_is_bounded(folder, monkeypatch):
    monkeypatch.setattr(distributions, "MAX_CACHED", 10)
    install(folder, "hardware", "2.5", ["tool"])

    for number in range(100):
        assert owners(f"nothing{number}", "tool") == {"tool": ["hardware 2.5"]}

    assert len(distributions._cache.by_module) <= 10


def test_what_is_known_is_not_looked_for_again(folder, monkeypatch):
    install(folder, "hardware", "2.5", ["tool"])
    owners("tool", "never_there")
    asked = []
    monkeypatch.setattr(distributions, "_distribution", asked.append)

    owners("tool", "never_there")

    assert asked == []


def test_environment_names_each_distribution_once_in_order(folder):
    install(folder, "zebra", "1", ["a", "b"])
    install(folder, "Ant", "2", ["c"])

    python, implementation, platform, rows = distributions.environment_of(
        ["b", "a", "c", "json", "a.inner"]
    )

    assert python == ".".join(map(str, sys.version_info[:3])) or "rc" in python
    assert implementation == sys.implementation.name
    assert platform
    assert rows == [("Ant", "2", ["c"]), ("zebra", "1", ["a", "b"])]


def test_names_that_the_format_does_not_take_are_left_out(folder):
    install(folder, "fine", "1", ["fine"])
    long = install(folder, "long", "1", ["long"])
    (long / "METADATA").write_text(f"Name: long\nVersion: {'1' * 2000}\n")

    rows = distributions.environment_of(["fine", "long"])[3]

    assert rows == [("fine", "1", ["fine"])]


def test_nothing_is_imported_for_payloads_that_do_not_tell():
    output = fresh_process.run_script("""
import sys, waybill
import json
waybill.dumps([json.dumps, lambda: json.loads])
waybill.loads(waybill.dumps(lambda: json.loads))
names = "distributions", "hints", "renames", "known_moves"
told = {"importlib.metadata", "sysconfig"}
told |= {"waybill._environment." + name for name in names}
print(sorted(told & set(sys.modules)))
""")

    assert output == "[]\n"


def test_loads_of_a_payload_that_tells_imports_nothing_for_that():
    data = waybill.dumps(lambda: os.path, environment=True)

    assert (
        fresh_process.load(
            data,
            "[n for n in ('waybill._environment.distributions', "
            "'waybill._environment.hints', 'importlib.metadata') if n in sys.modules]",
        )
        == []
    )
