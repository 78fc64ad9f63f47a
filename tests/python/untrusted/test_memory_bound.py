"""A payload of data costs no more memory than estimated, nor than its size allows."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from data_only_worker import CONSTANT, MULTIPLE

pytest.importorskip("xxhash")

WORKER = Path(__file__).parents[1] / "helpers" / "memory_worker.py"

if "WAYBILL_SANITIZED" in os.environ:
    pytest.skip("sanitizers have a malloc of their own", allow_module_level=True)


@pytest.fixture(scope="module")
def shapes():
    done = subprocess.run(
        [sys.executable, WORKER], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [ast.literal_eval(line) for line in done.stdout.splitlines()]


def test_peak_is_below_the_estimate(shapes):
    beyond = [shape for shape in shapes if shape[2] > shape[3] + CONSTANT]

    assert len(shapes) > 20 and beyond == []


def stated_bound(size, depth):
    return MULTIPLE * size + CONSTANT + 1024 * depth


@pytest.mark.parametrize("figure", [3, 5], ids=["estimate", "stream that keeps all"])
def test_it_is_below_the_stated_multiple_of_the_size(shapes, figure):
    beyond = [
        shape for shape in shapes if shape[figure] > stated_bound(shape[1], shape[4])
    ]

    assert beyond == []


def test_estimate_is_no_more_than_ten_times_the_peak(shapes):
    loose = [shape for shape in shapes if shape[3] > 10 * shape[2] + CONSTANT]

    assert loose == []
