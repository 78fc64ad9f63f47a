"""Spoiled payloads. Tests that need digests which fit are skipped without xxhash."""

import ast
import subprocess
import sys

import mutation_worker
import pytest
from mutation_worker import DIGEST_SIZE


def resealed(data, at=None):
    """`data` with a digest that fits, at the offset `at`; by default where the digest
    of an unsigned envelope is.
    """
    pytest.importorskip("xxhash")
    return mutation_worker.resealed(
        data, len(data) - DIGEST_SIZE - 1 if at is None else at
    )


def sealed(payload):
    """An envelope with this payload, of this Python."""
    pytest.importorskip("xxhash")
    return mutation_worker.sealed(payload)


def spoil(kind, payload, folder, seconds=300):
    """The output of mutation_worker.py for a payload, or for a file with one."""
    if kind not in ("cut", "flip"):
        pytest.importorskip("xxhash")
    path, progress = payload, folder / "progress"
    if isinstance(payload, bytes):
        path = folder / "payload"
        path.write_bytes(payload)
    done = subprocess.run(
        [sys.executable, mutation_worker.__file__, kind, path, progress],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        cwd=folder,
    )
    at = progress.read_text().strip() if progress.exists() else "the start"
    assert done.returncode == 0, f"{done.returncode} at {at}\n{done.stderr[-2000:]}"
    return ast.literal_eval(done.stdout.splitlines()[-1])
