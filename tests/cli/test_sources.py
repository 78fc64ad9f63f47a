"""Which modules `waybill discover` looks into, and by which way."""

import json

import pytest
from command import discover
from sources import write_files

LOUD = "import sys; sys.stderr.write('IMPORTED')\n"
CHAINS = """\
import os
import xml.etree.ElementTree as tree


def join(*parts):
    return os.path.join(*parts)


def read(text):
    return tree.fromstring(text)
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def survey(folder, *arguments):
    ended = discover(folder, *arguments, "--json")
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def failure(folder, *arguments):
    ended = discover(folder, *arguments, "--json")
    return ended.returncode, json.loads(ended.stdout)["error"]


def needs(found):
    return {(r["module"], r["time"]): r["functions"] for r in found["imports"]}


class TestImportedFolder:
    def test_each_module_below_is_imported_and_its_chains_counted(self, folder):
        write_files(folder, {"site/a/__init__.py": CHAINS, "site/a/b.py": CHAINS})
        write_files(
            folder, {"site/c.py": "import a.b\n\ndef f():\n    return a.b.join\n"}
        )

        found = survey(folder, "./site", "--import")

        expected = ("imported", 3, 5)
        assert (found["how"], found["modules"], found["functions"]) == expected
        assert found["chains"] == sum(
            count for (_, when), count in needs(found).items() if when == "load"
        )
        assert needs(found)["os.path", "load"] == 2
        assert needs(found)["a.b", "load"] == 1

    def test_folder_of_a_package_is_imported_by_the_name_of_the_package(self, folder):
        write_files(folder, {"outer/__init__.py": "", "outer/inner/__init__.py": ""})
        write_files(folder, {"outer/inner/m.py": "from ..inner import m\n"})

        found = survey(folder, "outer/inner", "--import")

        assert (found["modules"], found["failures"]) == (2, [])

    def test_file_is_imported_with_what_lies_beside_it(self, folder):
        write_files(folder, {"tools/a.py": "import b\n\ndef f():\n    return b.join\n"})
        write_files(folder, {"tools/b.py": CHAINS})

        found = survey(folder, "tools/a.py", "--import")

        assert (found["modules"], found["functions"], found["chains"]) == (1, 1, 1)

    def test_what_is_skipped_is_not_imported(self, folder):
        write_files(folder, {"site/a.py": "", "site/tests/t.py": LOUD})

        ended = discover(folder, "./site", "--import", "--skip", "tests")

        assert ended.returncode == 0
        assert "IMPORTED" not in ended.stderr

    def test_module_that_leaves_or_prints_ends_nothing(self, folder):
        write_files(
            folder, {"site/a.py": "raise SystemExit(3)\n", "site/b.py": "print(1)\n"}
        )

        found = survey(folder, "./site", "--import")

        assert found["failures"] == [{"module": "a", "error": "SystemExit: 3"}]
        assert found["modules"] == 1

    def test_name_that_is_taken_by_another_module_is_a_failure(self, folder):
        write_files(
            folder, {"site/json.py": "def mine():\n    pass\n", "site/b.py": ""}
        )

        found = survey(folder, "./site", "--import")

        assert [row["module"] for row in found["failures"]] == ["json"]
        assert (found["modules"], found["functions"]) == (1, 0)


class TestCompiled:
    def test_number_of_chains_is_unknown(self, folder):
        write_files(folder, {"site/a.py": CHAINS})

        text = discover(folder, "./site").stdout

        assert survey(folder, "./site")["chains"] is None
        assert ["chains", "-"] in [line.split() for line in text.splitlines()]

    @pytest.mark.parametrize(
        "target", [("pk.m",), ("--package", "pk.sub"), ("--package", "pk")]
    )
    def test_package_above_is_not_imported(self, folder, target):
        write_files(folder, {"pk/__init__.py": LOUD, "pk/m.py": "def f(): pass\n"})
        write_files(folder, {"pk/sub/__init__.py": "def f(): pass\n"})

        ended = discover(folder, *target, "--static", "--json")

        assert json.loads(ended.stdout)["functions"] >= 1
        assert "IMPORTED" not in ended.stderr

    def test_module_that_python_has_frozen_has_source(self, folder):
        assert survey(folder, "os", "--static")["functions"] > 10

    def test_module_in_nested_namespaces_is_found(self, folder):
        write_files(folder, {"top/middle/low/m.py": "def f(): pass\n"})

        assert survey(folder, "top.middle.low.m", "--static")["functions"] == 1
        assert survey(folder, "--package", "top.middle", "--static")["functions"] == 1

    @pytest.mark.parametrize("name", ["pk.absent", "pk.m.below", "absent.m"])
    def test_module_that_is_not_there_is_told(self, folder, name):
        write_files(folder, {"pk/__init__.py": LOUD, "pk/m.py": ""})

        code, error = failure(folder, name, "--static")

        assert code == 5
        assert error["detail"] == f"ModuleNotFoundError: No module named '{name}'"


class TestRelativeImports:
    PACKAGE = {
        "pk/__init__.py": "from .sub import deep\n\ndef f():\n    from . import m\n",
        "pk/m.py": "def f():\n    from .sub import deep\n",
        "pk/sub/__init__.py": "",
        "pk/sub/deep.py": "def f():\n    from .. import m\n    from ..sub import m\n",
    }

    @pytest.mark.parametrize(
        "arguments", [("./pk",), (".",), ("./pk", "--import"), ("--package", "pk")]
    )
    def test_they_are_told_by_the_name_that_they_mean(self, folder, arguments):
        write_files(folder, self.PACKAGE)

        found = survey(folder, *arguments)

        told = {r["module"] for r in found["imports"]}
        assert {"pk", "pk.sub"} <= told <= {"pk", "pk.m", "pk.sub", "pk.sub.deep"}
        assert found["submodules"] == sorted(told - {"pk"})

    def test_file_in_a_package_has_its_full_name(self, folder):
        write_files(folder, self.PACKAGE)

        found = survey(folder, "pk/sub/deep.py")

        assert needs(found) == {("pk", "call"): 1, ("pk.sub", "call"): 1}

    def test_one_that_leads_above_the_top_keeps_its_text(self, folder):
        write_files(folder, {"m.py": "def f():\n    from ...common.helpers import x\n"})

        found = survey(folder, "./m.py")

        assert needs(found) == {("...common.helpers", "call"): 1}
        assert found["submodules"] == []


class TestNothingToLookInto:
    @pytest.mark.parametrize("option", [(), ("--static",), ("--package",)])
    def test_name_that_is_a_folder_gets_advice(self, folder, option):
        write_files(folder, {"some-folder/notes.txt": ""})

        code, error = failure(folder, *option, "some-folder")

        assert (code, error["code"]) == (2, "unreadable")
        assert error["detail"].endswith("; for the folder, say ./some-folder")

    @pytest.mark.parametrize("target", ["./absent", "./absent.py", "./notes.txt", "."])
    def test_path_without_source_cannot_be_read(self, folder, target):
        write_files(folder, {"notes.txt": ""})

        code, error = failure(folder, target)

        assert (code, error["code"]) == (2, "unreadable")
        assert target in error["detail"]

    def test_skipping_all_there_is_is_told(self, folder):
        write_files(folder, {"site/a.py": ""})

        code, error = failure(folder, "./site", "--skip", "a")

        assert (code, error["code"]) == (2, "unreadable")
        assert "--skip" in error["detail"]
