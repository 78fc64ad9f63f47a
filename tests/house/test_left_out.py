"""What sub-interpreters leave out, tests/python/in_subinterpreter.py names: a name that
no test has would leave out nothing.
"""

import re
import runpy
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1] / "python"
LISTS = runpy.run_path(str(TESTS / "in_subinterpreter.py"))
PLACES = [TESTS / place for place in LISTS["WHOLE"] + LISTS["FIRST_CASES"]]
FILES = [
    path
    for place in PLACES
    for path in (place.glob("test_*.py") if place.is_dir() else [place])
]
NAMES = [
    name
    for path in FILES
    for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))
]
#: A name may be that of a case, too, and the golden payloads are cases.
CASES = [path.stem for path in (TESTS.parent / "golden").rglob("*.waybill")]


@pytest.mark.parametrize(
    "part", [*LISTS["DESELECTED"], *LISTS["DESELECTED_IF_ISOLATED"]]
)
def test_a_part_of_a_name_is_that_of_a_test(part):
    words = [word for word in re.findall(r"\w+", part) if word != "and"]

    for word in words:
        assert any(word in name for name in NAMES + CASES), word


@pytest.mark.parametrize("kind", LISTS["LEFT_OUT"])
def test_a_file_that_is_left_out_is_there(kind):
    there = {path.stem.removeprefix("test_") for path in FILES}

    assert LISTS["LEFT_OUT"][kind].keys() - there == set()
