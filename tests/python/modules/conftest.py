"""What tests of modules by value have in common."""

import fresh_process
import pytest
from sources import write_files


@pytest.fixture(scope="module")
def folder(request, tmp_path_factory):
    """A folder with the FILES of the test module."""
    return write_files(tmp_path_factory.mktemp("sender"), request.module.FILES)


@pytest.fixture
def made(request, folder):
    """The payload that a fresh process with the files makes of an expression, with the
    PACKAGE by value; or what a program, in place of an expression, calls `answer`.
    """

    def execute(program):
        if "answer =" not in program:
            program = f"answer = waybill.dumps({program}, by_value=[{test.PACKAGE}])"
        return fresh_process.execute(test.IMPORTS + program, path=[folder])

    test = request.module
    return execute
