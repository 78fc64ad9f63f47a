"""The command that the tests run, built or not, and `python -m waybill` beside it."""

import json
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


def run(*arguments, data=None, env=None, **options):
    """Ends the command, which reads `data` and has `env` in its environment too."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.run(
        [BINARY, *arguments],
        input=data,
        env={**os.environ, **(env or {})},
        **{**pipes, **options},
    )


def error_of(ended):
    """What it told of an error with `--json`."""
    told = json.loads(ended.stdout)
    assert told.keys() == {"ok", "error"} and told["ok"] is False
    return told["error"]


def discover(folder, *arguments):
    """Ends `python -m waybill discover` that ran in `folder`."""
    return subprocess.run(
        [sys.executable, "-m", "waybill", "discover", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
    )
