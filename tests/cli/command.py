"""The command that the tests run, built or not, and `python -m waybill` beside it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("WAYBILL_COMMAND", ROOT / "build/waybill")).resolve()

needs_binary = pytest.mark.skipif(
    not BINARY.exists(), reason="build/waybill is not built"
)


def discover(folder, *arguments):
    """Ends `python -m waybill discover` that ran in `folder`."""
    return subprocess.run(
        [sys.executable, "-m", "waybill", "discover", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
    )
