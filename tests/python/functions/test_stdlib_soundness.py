"""All code that the compiler makes of Python's own library passes the check."""

import sysconfig
import warnings
from pathlib import Path

import pytest
import waybill

LIBRARY = Path(sysconfig.get_path("stdlib"))
LEFT_OUT = {"site-packages", "lib2to3"}
TESTS = {"test", "tests", "idlelib", "turtledemo"}


def modules(are_tests):
    """Compiled modules of the library, or of its test packages."""
    for path in sorted(LIBRARY.rglob("*.py")):
        parts = set(path.relative_to(LIBRARY).parts)
        if parts & LEFT_OUT or bool(parts & TESTS) is not are_tests:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield path, compile(path.read_bytes(), str(path), "exec")
        except (SyntaxError, ValueError, UnicodeError):
            pass  # Test data that is no Python.


def refused(codes):
    """How many were received, and what was said of those that were not."""
    count, complaints = 0, []
    for path, code in codes:
        count += 1
        try:
            arrived = waybill.loads(waybill.dumps(code))
        except waybill.DecodeError as error:
            complaints.append(f"{path}: {error}")
        else:
            if arrived.co_linetable != code.co_linetable:
                complaints.append(f"{path}: another line table")
    return count, complaints


def test_code_of_the_library_is_received():
    count, complaints = refused(modules(are_tests=False))

    assert not complaints
    assert count > 400


@pytest.mark.slow
def test_code_of_the_test_packages_is_received():
    if not (LIBRARY / "test").is_dir():
        pytest.skip("no tests of CPython itself here")

    count, complaints = refused(modules(are_tests=True))

    assert not complaints
    assert count > 400


def test_code_without_a_line_table_is_received():
    def function(x):
        return [x for _ in range(3)]

    bare = function.__code__.replace(co_linetable=b"", co_filename="elsewhere.py")
    function.__code__ = bare

    arrived = waybill.loads(waybill.dumps(function))

    assert arrived(1) == [1, 1, 1]
    assert arrived.__code__.co_linetable == b""
