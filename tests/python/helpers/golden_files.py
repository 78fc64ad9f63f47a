"""The golden payloads, and what each must be once it is loaded."""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "golden"
sys.path.append(str(FOLDER))

import make_golden  # noqa: E402

VERSION = make_golden.version()
PATHS = sorted((FOLDER / "v1").glob("*.waybill"))


def name_of(path):
    return path.stem.rpartition("-")[0]


def version_of(path):
    return path.stem.rpartition("-")[2]


def own():
    """The payloads that this Python made."""
    return [path for path in PATHS if version_of(path) == VERSION]


def own_without_buffers():
    """The payloads of own() without stored buffers, which end after their digest."""
    return [path for path in own() if not report_of(path).get("buffers")]


def options_of(path):
    """The options of dumps with which a payload was made."""
    return make_golden.OPTIONS.get(name_of(path), {})


def has_source(path):
    """Whether all versions of Python load a payload."""
    return bool(options_of(path).get("source"))


def check(path, value):
    """Runs the payload's own check of its loaded value."""
    return make_golden.scope_of(name_of(path))["check"](value)


def report_of(path):
    return json.loads(path.with_suffix(".json").read_text(encoding="ascii"))


def has_code(path):
    return bool(report_of(path)["code"])
