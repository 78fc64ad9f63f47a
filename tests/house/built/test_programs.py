"""The demo and the benchmarks run to their ends; what they measure is not judged."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


def run(program, *arguments):
    return subprocess.run(
        [sys.executable, BENCHMARKS / program, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def test_demo_finds_the_same_on_dask_with_cloudpickle_and_with_waybill():
    pytest.importorskip("distributed")

    demo = run("demo.py", "--tasks", "30")

    assert demo.returncode == 0, demo.stderr
    assert "Ada 40, Grace 40, Kateryna 40, Mary 40, Radia 40" in demo.stdout
    assert "all serialisation" in demo.stdout


def test_demo_of_a_pipe_sends_functions_and_says_what_they_need():
    demo = run("demo_pipe.py")

    assert demo.returncode == 0, demo.stderr
    assert "xml.etree.ElementTree in titles_of (" in demo.stdout
    assert "'The paper that goes with them'" in demo.stdout
    assert "{1000: 168, 50000: 5133, 200000: 17984}" in demo.stdout
    assert "['guard'] (_thread.lock)" in demo.stdout


@pytest.mark.long
def test_quick_benchmark_writes_its_report(tmp_path):
    pytest.importorskip("cloudpickle")

    bench = run("bench_objects.py", "--quick", "--out", tmp_path)

    assert bench.returncode == 0, bench.stderr
    rows = json.loads((tmp_path / "bench.json").read_text("utf-8"))["rows"]
    assert {row["group"] for row in rows} >= {
        "programs",
        "functions",
        "callables",
        "data",
        "growth",
    }
    assert all(row["figures"]["waybill"] is not None for row in rows)
    assert (tmp_path / "bench.md").read_text("utf-8").count("###") == 7
