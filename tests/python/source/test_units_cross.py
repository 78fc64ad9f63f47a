"""Units that one Python writes are compiled by all others to what these make of the
whole file; every function is there, and its calls give the same."""

import base64
import itertools
import json
import sys
from pathlib import Path

import pytest
import source_package
from fresh_process import run_script
from other_interpreters import interpreters

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PROGRAM = (HERE / "units_of_modules.py").read_text(encoding="utf-8")
OWN = "{}.{}".format(*sys.version_info)
#: Modules, and the first version that has their syntax.
TRICKY = {
    "tricky_functions": (3, 11),
    "tricky_classes": (3, 11),
    "tricky_312": (3, 12),
    "tricky_314": (3, 14),
}


def version_of(text):
    return tuple(map(int, text.split(".")))


def names_for(version):
    return [name for name, since in TRICKY.items() if version_of(version) >= since]


def run(command, verb, given):
    given = json.dumps(given)
    return json.loads(run_script(PROGRAM, verb, command=command, given=given))


def written(command, names):
    files = {
        name: base64.b64encode((HERE / f"{name}.py").read_bytes()).decode()
        for name in names
    }
    return run(
        command, "write", {"package": str(source_package.PACKAGE), "files": files}
    )


@pytest.fixture(scope="module")
def own_units():
    return written([sys.executable], names_for(OWN))


def test_every_tricky_function_is_proven(own_units):
    assert not any(own_units["unproven"].values())
    assert sum(map(len, own_units["units"].values())) > 110


def test_units_compile_to_what_this_python_makes_of_the_file(own_units):
    answers = run([sys.executable], "read", own_units)

    for name, answer in answers.items():
        assert answer["equal"] == len(own_units["units"][name]), answer
        assert not answer["differ"] + answer["refused"] + answer["wrong"]


@pytest.fixture(scope="module")
def all_units():
    return {
        version: written(command, names_for(version))
        for version, command in interpreters().items()
    }


@pytest.mark.cross
@pytest.mark.parametrize(
    "sender, receiver",
    list(itertools.permutations(sorted(interpreters(), key=version_of), 2)),
)
def test_units_of_one_version_are_what_another_compiles(all_units, sender, receiver):
    units = all_units[sender]

    answers = run(interpreters()[receiver], "read", units)

    for name, answer in answers.items():
        assert not answer["differ"], name
        assert not answer["wrong"], name
        if name in names_for(receiver):
            # Annotations have no code of their own before 3.14.
            of_code = [u for _, u in units["units"][name] if u[0] < 2]
            assert not answer["refused"], name
            assert answer["equal"] >= len(of_code), name
        else:
            assert all(message for *_, message in answer["refused"])


@pytest.mark.cross
def test_units_of_one_file_are_the_same_in_all_versions(all_units):
    for name in TRICKY:
        # Some versions have one constant for equal lambdas on a line.
        written = [
            {
                json.dumps([line, *unit[:8], *unit[9:]])
                for line, unit in units["units"][name]
                if unit[0] < 2
            }
            for units in all_units.values()
            if name in units["units"]
        ]

        assert all(one == written[0] for one in written)
