"""What comments name is there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ROOT / "include" / "waybill"


def test_tests_that_sources_name_are_there():
    named = {
        (path.relative_to(ROOT).as_posix(), test)
        for folder in ("src", "include", "python_ext", "fuzz")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".cpp", ".h", ".py"}
        for test in re.findall(
            r"\btests/[\w/]+\.(?:py|cpp|h)\b", path.read_text(encoding="utf-8")
        )
    }

    assert len(named) > 100
    assert not [pair for pair in named if not (ROOT / pair[1]).is_file()]


def test_tests_that_sources_name_without_a_folder_are_there():
    tests = {path.name for path in (ROOT / "tests").rglob("*_test.cpp")}
    tests |= {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    named = {
        (path.relative_to(ROOT).as_posix(), test)
        for folder in ("src", "include", "python_ext")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".cpp", ".h", ".py"}
        for test in re.findall(
            r"\b(?:test_\w+\.py|\w+_test\.cpp)\b", path.read_text(encoding="utf-8")
        )
    }

    assert len(named) > 100
    assert not [pair for pair in named if pair[1] not in tests]


def test_first_header_names_and_includes_all_others():
    text = (HEADERS / "waybill.h").read_text(encoding="utf-8")
    list_of_headers, _, _ = text.partition("#include")
    others = {path.name for path in HEADERS.glob("*.h")} - {"waybill.h"}

    assert set(re.findall(r"\w+\.h", list_of_headers)) == others
    assert set(re.findall(r'#include "waybill/(\w+\.h)"', text)) == others
