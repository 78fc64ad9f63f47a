"""How much a build compiles: each unit parses headers, which takes longest."""

import subprocess

import pytest
from pages import ROOT

BUILD = ROOT / "build"

#: Target: so many units, which contributing.md tells, too. "all" has the tests, the
#: command and the examples.
UNITS = {"_core": 43, "all": 113}

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(
        not (BUILD / "build.ninja").exists(), reason="no build of this checkout"
    ),
]


@pytest.mark.parametrize("target", UNITS)
def test_a_target_compiles_no_more_units_than_are_told(target):
    commands = subprocess.run(
        ["ninja", "-C", BUILD, "-t", "commands", target],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()

    assert 0 < sum(" -c " in command for command in commands) <= UNITS[target]
