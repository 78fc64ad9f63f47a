"""`python -m waybill discover`, and `waybill discover`, which becomes it."""

import json
import os
import subprocess
import sys

import command
import pytest
from command import discover, needs_binary
from terminals import open_terminal, read_until_closed

MODULE = """\
import functools
import os
import xml.etree.ElementTree


def parse(text):
    import csv

    return xml.etree.ElementTree.fromstring(text)


def plain(x):
    return x + 1


@functools.lru_cache
def cached():
    return os.path.join("a", "b")


class Around:
    pass


around = Around()
around.__wrapped__ = around


class Reader:
    @classmethod
    def join(cls, *parts):
        return os.path.join(*parts)
"""


@pytest.fixture
def folder(tmp_path):
    """A working directory that holds a module, as `python -m` would find it."""
    (tmp_path / "sample_module.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "raising_module.py").write_text("1 / 0\n", encoding="utf-8")
    (tmp_path / "leaving_module.py").write_text("raise SystemExit(0)\n", "utf-8")
    return tmp_path


def test_table_names_module_time_chain_function_and_place(folder):
    run = discover(folder, "sample_module:parse")

    assert run.returncode == 0, run.stderr
    head, *rows = [line.split() for line in run.stdout.splitlines()]
    assert head == ["module", "when", "chain", "function", "where"]
    place = f"{folder / 'sample_module.py'}:9"
    chain = "xml.etree.ElementTree"
    assert [chain, "load", chain, "parse", place] in rows


def test_columns_are_aligned(folder):
    lines = discover(folder, "sample_module:parse").stdout.splitlines()

    start = lines[0].index("when")
    assert all(line[start - 1] == " " != line[start] for line in lines)


def test_json_is_a_list_of_records_in_the_order_of_the_table(folder):
    run = discover(folder, "sample_module:parse", "--json")

    records = json.loads(run.stdout)
    keys = ["module", "time", "chain", "function", "file", "line"]
    assert all(list(record) == keys for record in records)
    assert {"csv", "xml.etree.ElementTree"} <= {record["module"] for record in records}
    table = discover(folder, "sample_module:parse").stdout.splitlines()[1:]
    assert [line.split()[0] for line in table] == [r["module"] for r in records]


def test_import_statement_in_body_is_needed_when_called(folder):
    records = json.loads(discover(folder, "sample_module:parse", "--json").stdout)

    assert {r["time"] for r in records if r["module"] == "csv"} == {"call"}


def test_class_method_is_looked_into(folder):
    records = json.loads(discover(folder, "sample_module:Reader.join", "--json").stdout)

    assert "os.path" in {record["module"] for record in records}


def test_rows_of_the_table_can_be_fewer(folder):
    lines = discover(folder, "sample_module:parse", "--items", "1").stdout.splitlines()

    every = discover(folder, "sample_module:parse").stdout.splitlines()
    assert lines[1].split() == every[1].split()
    assert lines[2:] == [f"… and {len(every) - 2} more"]


def test_function_behind_a_wrapper_of_c_is_looked_into(folder):
    records = json.loads(discover(folder, "sample_module:cached", "--json").stdout)

    assert {r["module"] for r in records} == {"os", "os.path"}


def test_wrapper_that_wraps_itself_is_looked_at_as_it_is(folder):
    records = json.loads(discover(folder, "sample_module:around", "--json").stdout)

    assert {r["module"] for r in records} == {"sample_module"}


def test_function_without_imports_says_so(folder):
    assert discover(folder, "sample_module:plain").stdout == (
        "sample_module:plain needs no imports\n"
    )
    assert json.loads(discover(folder, "sample_module:plain", "--json").stdout) == []


@pytest.mark.parametrize(
    ("options", "colours"), [((), True), (("--no-colours",), False)]
)
def test_colours_of_terminals_can_be_left_out(folder, options, colours):
    ours, theirs = open_terminal()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    words = [sys.executable, "-m", "waybill", "discover", "sample_module:parse"]

    subprocess.run(
        [*words, *options],
        cwd=folder,
        stdout=theirs,
        env={**environment, "TERM": "xterm"},
        check=True,
    )
    os.close(theirs)
    shown = read_until_closed(ours).decode()
    os.close(ours)

    assert "csv" in shown
    assert ("\033[1m" in shown) == colours


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((), 1, ""),
        (("sample_module:",), 1, ""),
        ((":plain",), 1, ""),
        ((".m:f",), 1, ""),
        (("--what",), 1, ""),
        (
            ("no_such_module:f",),
            5,
            "ModuleNotFoundError: No module named 'no_such_module'",
        ),
        (("sample_module:Reader.no",), 5, "AttributeError: "),
        (("raising_module:f",), 5, "ZeroDivisionError: division by zero"),
        (("leaving_module:f",), 5, "SystemExit: 0"),
    ],
)
def test_misunderstanding_ends_with_1_and_what_python_raises_with_5(
    folder, words, code, message
):
    run = discover(folder, *words)

    assert (run.returncode, run.stdout) == (code, "")
    assert run.stderr.startswith("waybill: " + message)
    assert run.stderr.count("\n") == 1


@needs_binary
class TestCommand:
    def run(self, folder, *arguments, **environment):
        words = {"cwd": folder, "env": environment, "text": True}
        return command.run("discover", *arguments, **words)

    @pytest.mark.parametrize("options", [(), ("--json",)])
    def test_command_says_what_the_module_says(self, folder, options):
        ended = self.run(
            folder, "sample_module:parse", *options, WAYBILL_PYTHON=sys.executable
        )

        module = discover(folder, "sample_module:parse", *options)
        assert (ended.returncode, ended.stdout) == (0, module.stdout)

    def test_python_option_goes_before_the_environment(self, folder):
        run = self.run(
            folder,
            *("sample_module:plain", "--python", sys.executable),
            WAYBILL_PYTHON="/no/such/python",
        )

        assert run.returncode == 0, run.stderr

    def test_python_that_cannot_be_started_ends_with_5(self, folder):
        run = self.run(folder, "sample_module:plain", WAYBILL_PYTHON="/no/such/python")

        assert run.returncode == 5
        assert "cannot start /no/such/python" in run.stderr

    def test_target_that_looks_like_an_option_is_a_target(self, folder):
        run = self.run(folder, "--", "-x:f", WAYBILL_PYTHON=sys.executable)

        assert run.returncode == 5
        assert "No module named '-x'" in run.stderr

    @pytest.mark.parametrize("option", ["--package", "--package="])
    def test_package_without_a_name_is_a_misunderstanding(self, folder, option):
        words = (option, "") if option.endswith("e") else (option,)

        assert self.run(folder, *words, WAYBILL_PYTHON=sys.executable).returncode == 1

    def test_looking_at_a_folder_runs_nothing_of_it(self, folder):
        (folder / "waybill").mkdir()
        for name in "waybill/__init__", "json", "fnmatch", "ast", "warnings":
            (folder / f"{name}.py").write_text(f"print('ran {name}')\n")

        run = self.run(folder, ".", "--json", WAYBILL_PYTHON=sys.executable)

        assert (run.returncode, run.stderr) == (0, "")
        assert "ran" not in run.stdout

    def test_names_that_stdout_has_no_words_for_are_escaped(self, folder):
        (folder / "other.py").write_text(
            "def ö():\n    import é\n    import b\n", "utf-8"
        )

        run = self.run(
            *(folder, "./other.py", "--items", "1"),
            WAYBILL_PYTHON=sys.executable,
            PYTHONIOENCODING="ascii",
        )

        assert run.returncode == 0, run.stderr
        assert "\\xf6" in run.stdout

    def test_what_is_no_file_is_passed_over(self, folder):
        os.mkfifo(folder / "pipe.py")

        run = self.run(folder, ".", WAYBILL_PYTHON=sys.executable)

        assert run.returncode == 0, run.stderr
