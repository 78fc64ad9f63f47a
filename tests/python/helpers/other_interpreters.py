"""The interpreters that `make test-all` has built the extension for."""

import json
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def interpreters():
    """{version: the start of a command line}; empty if there are none."""
    given = os.environ.get("WAYBILL_OTHER_PYTHONS")
    path = Path(given) if given else ROOT / "build" / "pythons.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
