"""Which of CPython's pickle tests are not for waybill: exclusions.tsv, put to use.

A row is a test (`Class.test`, as test.pickletester has it; `*` stands for any text),
the versions of Python that are sure to have it (`3.13-`, `-3.12`; `-` is all), what is
done wherever it is found, and why:

    fails   the test runs and must fail, so that a reason which no longer holds is seen
    left    the test does not run: it would hang, or what it says is up to chance

Versions that start with `=` are also the only ones where the row counts.
"""

import contextlib
import fnmatch
import functools
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

FILE = Path(__file__).with_suffix(".tsv")


class Exclusion(NamedTuple):
    test: str
    versions: str
    action: str
    reason: str

    def is_sure_in(self, version):
        first, _, last = self.versions.removeprefix("=").partition("-")
        return _numbers(first or "3.0") <= version <= _numbers(last or "3.99")


def _numbers(text):
    return tuple(map(int, text.split(".")))


@functools.cache
def exclusions():
    rows = [line.split("\t") for line in FILE.read_text().splitlines()[1:]]
    assert all(len(row) == 4 and row[2] in ("fails", "left") for row in rows)
    return [Exclusion._make(row) for row in rows]


def claims_of(cls):
    """(name, id) of each test method; the id names the class that defines it."""
    for name in dir(cls):
        if name.startswith("test") and callable(getattr(cls, name)):
            owner = next(c for c in cls.__mro__ if name in vars(c))
            yield name, f"{owner.__name__}.{name}"


def is_meant(exclusion, test):
    counts = exclusion.versions[0] != "=" or exclusion.is_sure_in(sys.version_info[:2])
    return counts and fnmatch.fnmatchcase(test, exclusion.test)


def _must_fail(method, reason):
    @functools.wraps(method)
    def test(self):
        self.subTest = contextlib.nullcontext  # The first that fails is enough.
        try:
            method(self)
        except Exception:
            pytest.xfail(reason)
        pytest.fail(f"{method.__qualname__} passes: take it out of {FILE.name}")

    return test


def with_exclusions(cls):
    """A decorator of test cases."""
    for name, test in list(claims_of(cls)):
        for exclusion in exclusions():
            if is_meant(exclusion, test):
                method = getattr(cls, name)
                is_left = exclusion.action == "left"
                new = None if is_left else _must_fail(method, exclusion.reason)
                setattr(cls, name, new)
                break
    return cls
