"""Without the GIL waybill would crash: it can't be imported then, and says so."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
sys._is_gil_enabled = lambda: {has_gil}
try:
    import waybill
except ImportError as error:
    print(type(error).__name__, error)
else:
    print(waybill.loads(waybill.dumps("imported")))
"""


def end_of(has_gil):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(has_gil=has_gil)],
        capture_output=True,
        text=True,
    )


def test_importing_with_the_gil_off_is_an_import_error_that_says_so():
    ended = end_of(False)

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("ImportError waybill needs the GIL")
    assert "-X gil=0" in ended.stdout and "PYTHON_GIL=0" in ended.stdout


def test_importing_with_the_gil_on_is_as_ever():
    ended = end_of(True)

    assert (ended.returncode, ended.stdout) == (0, "imported\n"), ended.stderr


def test_answer_that_is_an_error_is_that_error():
    ended = end_of("1 / 0")

    assert ended.returncode == 1
    assert "ZeroDivisionError" in ended.stderr


@pytest.mark.skipif(
    not hasattr(sys, "_is_gil_enabled") or sys._is_gil_enabled(),
    reason="this Python has the GIL",
)
def test_module_turns_the_gil_on():
    pytest.fail("waybill was imported, and the GIL is off")
