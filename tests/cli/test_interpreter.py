"""Which Python `waybill run` and `discover` start, and what errors say of it."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from command import BINARY, needs_binary

pytestmark = needs_binary

#: What stands for a Python: tells its own name, and that it was started.
TELLS = '#!/bin/sh\necho "started $0"\n'
#: One that can't find the package.
EMPTY = f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n'


def put(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def environment(tmp_path):
    """A command in a folder of its own, and a PATH with a Python."""
    (tmp_path / "venv").mkdir()
    shutil.copy2(BINARY, tmp_path / "venv" / "waybill")
    put(tmp_path / "path" / "python3", TELLS)
    return tmp_path


def start(folder, *arguments, command="venv/waybill", **variables):
    environ = {k: v for k, v in os.environ.items() if k != "WAYBILL_PYTHON"}
    environ["PATH"] = f"{folder / 'path'}:{environ['PATH']}"
    return subprocess.run(
        [folder / command, *arguments],
        env={**environ, **variables},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("command", [("run", "-"), ("discover", "json")])
def test_python_beside_the_command_goes_before_that_of_path(environment, command):
    beside = put(environment / "venv" / "python3", TELLS)

    assert start(environment, *command).stdout == f"started {beside}\n"


@pytest.mark.parametrize("command", [("run", "-"), ("discover", "json")])
def test_without_one_beside_it_is_that_of_path(environment, command):
    found = environment / "path" / "python3"

    assert start(environment, *command).stdout == f"started {found}\n"


def test_what_was_named_goes_before_the_python_beside(environment):
    put(environment / "venv" / "python3", TELLS)
    option = put(environment / "named" / "option", TELLS)
    variable = put(environment / "named" / "variable", TELLS)

    by_variable = start(environment, "run", "-", WAYBILL_PYTHON=str(variable))
    by_option = start(
        *(environment, "run", "-", "--python", option), WAYBILL_PYTHON=str(variable)
    )

    assert by_variable.stdout == f"started {variable}\n"
    assert by_option.stdout == f"started {option}\n"


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        (
            ("discover", "json", "--skip", "a", "--skip=-b", "--static"),
            ("discover", "--static", "--skip=a", "--skip=-b", "--", "json"),
        ),
        (("discover", "--static=false", "json"), ("discover", "--", "json")),
        (
            ("run", "f", "[1, 2]", "--rename", "a=b", "--python", "python3"),
            ("run", "--rename=a=b", "--", "f", "[1, 2]"),
        ),
        (("run", "--", "--python=x", "-1"), ("run", "--", "--python=x", "-1")),
        (
            ("explain", "job:task", "--html", "a,b", "--json"),
            ("explain", "--html=a,b", "--json", "--", "job:task"),
        ),
    ],
)
def test_python_gets_each_option_with_its_value_and_then_the_rest(
    environment, given, passed
):
    put(environment / "path" / "python3", '#!/bin/sh\nshift 2\nprintf "%s\\n" "$@"\n')

    assert start(environment, *given).stdout.splitlines() == list(passed)


def test_links_to_the_command_are_followed(environment):
    beside = put(environment / "venv" / "python3", TELLS)
    (environment / "path" / "linked").symlink_to(environment / "venv" / "waybill")

    ended = start(environment, "run", "-", command="path/linked")

    assert ended.stdout == f"started {beside}\n"


def test_file_beside_that_cannot_be_started_is_passed_over(environment):
    put(environment / "venv" / "python3", TELLS).chmod(0o644)

    assert "path/python3" in start(environment, "run", "-").stdout


@pytest.mark.parametrize(
    ("place", "origin"), [("venv", "beside the command"), ("path", "of PATH")]
)
def test_python_without_waybill_is_named_with_its_place(environment, place, origin):
    put(environment / place / "python3", EMPTY)

    ended = start(environment, "run", "-", "--json")

    told = json.loads(ended.stdout)["error"]
    assert (ended.returncode, told["code"]) == (5, "no_python")
    assert f" ({origin}): No module named 'waybill'" in told["detail"]
    assert told["detail"] in ended.stderr


def test_python_that_cannot_be_started_is_named_with_its_place(environment):
    by_option = start(environment, "run", "-", "--python", "/no/such")
    by_variable = start(environment, "run", "-", WAYBILL_PYTHON="/no/such")
    nowhere = start(environment, "run", "-", PATH="/nowhere")

    assert "cannot start /no/such (named by --python): No such" in by_option.stderr
    assert "cannot start /no/such (named by WAYBILL_PYTHON)" in by_variable.stderr
    assert "cannot start python3 (of PATH)" in nowhere.stderr
