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
    """Those of them that are nothing but a head, which ends with its digest."""
    return [path for path in own() if not report_of(path).get("buffers")]


def options_of(path):
    """The options of dumps that it was made with."""
    return make_golden.OPTIONS.get(name_of(path), {})


def has_source(path):
    """Whether all Pythons load it."""
    return bool(options_of(path).get("source"))


def check(path, value):
    """Whether `value` is what the payload's source says."""
    return make_golden.scope_of(name_of(path))["check"](value)


def report_of(path):
    return json.loads(path.with_suffix(".json").read_text(encoding="ascii"))


def has_code(path):
    return bool(report_of(path)["code"])
