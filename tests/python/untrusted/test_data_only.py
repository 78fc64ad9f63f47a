"""Under DATA_ONLY, bytes from strangers give data or an error, and nothing else."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import golden_files
import pytest
import waybill

pytest.importorskip("xxhash")

from mutation_worker import sealed  # noqa: E402

WORKER = Path(__file__).parents[1] / "helpers" / "data_only_worker.py"
SECONDS = 1200


def graph():
    """Data of every kind, with shared and cyclic references."""
    shared, text = [1, "shared"], "long enough to be referred to as one " * 3
    data = {
        "ints": [0, -1, 255, 256, -(2**40), 2**63, 2**64 - 1, 2**100],
        "floats": [0.5, -0.0, float("inf")],
        "text": [text, text, "é", "\ud800", "🐍" * 20],
        "bytes": [b"", b"x" * 40, bytearray(b"y" * 9)],
        "sets": [set(range(20)), frozenset({(1, 2), (3, (4,))}), set()],
        (1, ("key", frozenset({2}))): (shared, shared, [shared]),
        "rest": [..., NotImplemented, range(9), slice(1, 2, 3), None, True, 1j, ()],
        "records": [{"id": i, "name": f"n{i}"} for i in range(8)],
    }
    data["self"] = data
    return data


def run(count, seed, tmp_path):
    """What data_only_worker.py says of golden payloads and of the graph above."""
    path = tmp_path / "graph.waybill"
    path.write_bytes(waybill.dumps(graph()))
    done = subprocess.run(
        [sys.executable, WORKER, str(count), str(seed), path, path, path]
        + golden_files.own_without_buffers(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        cwd=tmp_path,
    )
    assert done.returncode == 0, f"{done.returncode}\n{done.stderr[-3000:]}"
    return ast.literal_eval(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "payload",
    [
        b"\x94\xd4\x00\x06\x00\x09\x00",  # range(0, 9, 0)
        b"\x94\xd4\x00\x06\x00\xcb" + bytes(8) + b"\x01",  # range(0, 0.0, 1)
        b"\x94\xd4\x00\x06\x00\xc0\x01",  # range(0, None, 1)
    ],
)
def test_range_that_python_refuses_is_malformed(payload):
    with pytest.raises(waybill.DecodeError, match="a range should have three ints"):
        waybill.loads(sealed(payload), policy=waybill.DATA_ONLY)


unwatched = pytest.mark.skipif(
    "WAYBILL_SANITIZED" in os.environ, reason="sanitizers have a malloc of their own"
)


@unwatched
def test_mutations_import_and_call_nothing_and_stay_within_memory(tmp_path):
    answer = run(20_000, 1, tmp_path)

    assert sum(answer["tally"].values()) == 20_000
    assert {"loaded", "refused", "malformed", "truncated"} <= answer["tally"].keys()


@unwatched
@pytest.mark.long
def test_a_million_mutations_import_and_call_nothing(tmp_path):
    answer = run(1_000_000, 2, tmp_path)

    assert sum(answer["tally"].values()) == 1_000_000
