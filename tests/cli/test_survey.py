"""`waybill discover` of modules, packages and folders: many functions at once."""

import json
import sys
import textwrap

import pytest
from command import discover
from sources import write_files
from terminals import painted_on_terminal

PACKAGE = {
    "__init__.py": "",
    "__main__.py": "raise RuntimeError('programs are not started')\n",
    "good.py": """\
        import os
        import xml.etree.ElementTree as tree

        def join(*parts):
            return os.path.join(*parts)

        class Reader:
            @staticmethod
            def read(text):
                import csv
                return tree.fromstring(text)

            @property
            def place(self):
                return os.path
        """,
    "raising.py": "1 / 0\n",
    "leaving.py": "raise SystemExit(0)\n",
    "using.py": "import os\nHERE = os.path.join('a', 'b')\n",
    "skipping.py": "class Skipped(BaseException): pass\nraise Skipped('no pytest')\n",
    "replacing.py": "import sys\nsys.modules[__name__] = 5\n",
    "loud.py": "print('loud')\n",
    "wrong.py": "def (:\n",
    "not-a-name.py": "",
    "tests/__init__.py": "",
    "tests/test_it.py": "import absent_everywhere\n",
}


@pytest.fixture
def folder(tmp_path):
    """A working directory with a package, as `python -m` would find it."""
    write_files(tmp_path / "sample", PACKAGE)
    return tmp_path


def survey(folder, *arguments):
    ended = discover(folder, *arguments, "--json")
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def needs(found):
    return {(r["module"], r["time"]): r["functions"] for r in found["imports"]}


def test_module_is_imported_and_each_function_asked(folder):
    found = survey(folder, "sample.good")

    assert (found["modules"], found["functions"], found["failures"]) == (1, 3, [])
    assert needs(found)["os.path", "load"] == 2
    assert needs(found)["csv", "call"] == 1
    assert found["how"] == "imported"
    assert {"os.path", "xml.etree.ElementTree"} <= set(found["submodules"])


def test_package_goes_on_where_modules_fail(folder):
    found = survey(folder, "--package", "sample")

    failures = {row["module"]: row["error"] for row in found["failures"]}
    assert failures == {
        "sample.raising": "ZeroDivisionError: division by zero",
        "sample.leaving": "SystemExit: 0",
        "sample.skipping": "Skipped: no pytest",
        "sample.wrong": failures["sample.wrong"],
        "sample.tests.test_it": "ModuleNotFoundError: No module named "
        "'absent_everywhere'",
    }
    assert failures["sample.wrong"].startswith("SyntaxError")
    assert found["modules"] == 6
    assert needs(found)["os.path", "load"] == 2


def test_modules_can_be_left_out(folder):
    by_name = survey(folder, "--package", "sample", "--skip", "tests")
    by_pattern = survey(folder, "--package", "sample", "--skip", "sample.[!g]*")

    assert "sample.tests.test_it" not in {r["module"] for r in by_name["failures"]}
    assert (by_pattern["modules"], by_pattern["failures"]) == (2, [])


def test_folder_is_compiled_and_nothing_is_imported(folder):
    found = survey(folder, "./sample")

    assert found["how"] == "compiled"
    assert [row["module"] for row in found["failures"]] == ["sample.wrong"]
    assert found["functions"] == 3
    assert needs(found)["csv", "call"] == 1
    assert needs(found)["absent_everywhere", "call"] == 1
    assert {when for _, when in needs(found)} == {"call"}


def test_static_compiles_what_is_named(folder):
    assert survey(folder, "--package", "sample", "--static")["how"] == "compiled"
    assert survey(folder, "sample.good", "--static")["modules"] == 1


def test_file_is_a_module(folder):
    found = survey(folder, "sample/good.py")

    assert (found["modules"], found["functions"]) == (1, 3)


FUNCTIONS = """\
    import functools
    import os

    @functools.lru_cache
    def cached():
        return os.path

    @functools.singledispatch
    def dispatched(x):
        return os.path

    def decorate(function):
        @functools.wraps(function)
        def wrapped():
            return function()
        return wrapped

    @decorate
    def decorated():
        return os.path

    class Proxy:
        @property
        def __class__(self):
            raise RuntimeError("nothing of a module is run")

    proxy = Proxy()

    class Lazy:
        @functools.cached_property
        def place(self):
            return os.path

        @functools.lru_cache(maxsize=3)
        def method(self):
            return os.path

        @functools.partialmethod
        def half(self):
            return os.path

        @property
        def both(self):
            return os.path

        @both.setter
        def both(self, value):
            self.value = os.path

    part = functools.partial(lambda x: os.path, 1)
"""


def test_wrapped_functions_are_asked(folder):
    (folder / "wrapped.py").write_text(textwrap.dedent(FUNCTIONS), "utf-8")

    found = survey(folder, "wrapped")

    # What the decorated ones need is found behind their wrappers.
    assert found["failures"] == []
    assert needs(found)["os.path", "load"] == 9


def test_only_def_and_lambda_are_functions(folder):
    text = """\
        class A:
            x = [i for i in "ab"]
            def f(self, y: int):
                pass
        def g():
            class B:
                pass
            return {i: B for i in "ab"}, (i for i in "cd")
        async def h():
            return lambda: {i for i in "de"}
    """
    (folder / "shapes.py").write_text(textwrap.dedent(text), "utf-8")

    assert survey(folder, "./shapes.py")["functions"] == 4


def test_text_ends_in_a_table_of_figures(folder):
    ended = discover(folder, "--package", "sample", "--items", "1")

    lines = ended.stdout.splitlines()
    assert lines[0].split() == ["module", "when", "functions", "first", "place"]
    assert sum(line.startswith("… and ") for line in lines) == 2
    assert [line.split()[0] for line in lines[-6:]] == [
        *("modules", "functions", "chains", "submodules", "failures", "seconds")
    ]


def test_progress_is_for_terminals(folder):
    assert discover(folder, "--package", "sample", "--json").stderr == "loud\n"


def painted_by(folder, columns, *arguments, **environment):
    """What a survey writes to the terminal that stderr is."""
    command = [sys.executable, "-m", "waybill", "discover", *arguments, "--json"]
    told, painted = painted_on_terminal(command, columns, folder, **environment)
    assert json.loads(told)["modules"] > 0
    return painted


@pytest.mark.parametrize("options", [(), ("--import", "--skip", "loud")])
def test_progress_is_one_line_that_goes_away(folder, options):
    painted = painted_by(folder, 80, "./sample", *options)

    assert painted.startswith("\r[") and "sample" in painted
    assert painted.endswith("\r\033[K") and "\n" not in painted


@pytest.mark.parametrize("columns", [10, 40, 0])
def test_progress_is_narrower_than_the_terminal(folder, columns):
    (folder / f"{'long' * 30}.py").write_text("", "utf-8")

    painted = painted_by(folder, columns, f"./{'long' * 30}.py")

    lines = [text.removesuffix("\033[K") for text in painted.split("\r")]
    assert 0 < max(map(len, lines)) < (columns or 81)


def test_progress_is_not_for_terminals_that_cannot_clear_a_line(folder):
    assert painted_by(folder, 80, "./sample", TERM="dumb") == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("sample.good:join", "--static"),
        ("sample.good:join", "--import"),
        ("sample.good:join", "--skip", "tests"),
        ("sample.good:join.<locals>.f",),
        ("./sample", "--static", "--import"),
        ("sample.good", "--package", "sample"),
        ("--package",),
        ("sample.good", "--items", "-1"),
        ("sample.good", "--items", "x"),
    ],
)
def test_misunderstanding_ends_with_1(folder, arguments):
    assert discover(folder, *arguments).returncode == 1


@pytest.mark.parametrize(
    "arguments", [("absent_here",), ("--package", "a.b"), ("sys",)]
)
def test_nothing_to_look_into_ends_with_5_or_finds_nothing(folder, arguments):
    ended = discover(folder, *arguments)

    assert ended.returncode == (0 if arguments == ("sys",) else 5)
    assert "Traceback" not in ended.stderr


def test_installed_package_is_walked_to_its_end(folder):
    pytest.importorskip("numpy")

    found = survey(folder, "--package", "numpy.linalg", "--skip", "tests")

    assert found["modules"] >= 2
    assert found["functions"] > 40
    assert "numpy.linalg" in found["submodules"]
