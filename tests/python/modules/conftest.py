"""Fixtures of the tests of modules by value."""

import fresh_process
import pytest
from sources import write_files


@pytest.fixture(scope="module")
def folder(request, tmp_path_factory):
    """A folder with the FILES of the test module."""
    return write_files(tmp_path_factory.mktemp("sender"), request.module.FILES)


@pytest.fixture
def made(request, folder):
    """Returns execute(program), which runs in a fresh process with the files. It
    returns the payload of an expression, with the PACKAGE by value, or `answer` of a
    program.
    """

    def execute(program):
        if "answer =" not in program:
            program = f"answer = waybill.dumps({program}, by_value=[{test.PACKAGE}])"
        return fresh_process.execute(test.IMPORTS + program, path=[folder])

    test = request.module
    return execute
