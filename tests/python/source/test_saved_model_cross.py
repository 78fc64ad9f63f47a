"""A model that a script has trained and saved is loaded on every other Python, with
NumPy of another major version too, and predicts the same.

Its class, its helper functions and its arrays come with it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from other_interpreters import ROOT, interpreters

SCRIPT = (Path(__file__).parent / "saved_model.py").read_text(encoding="utf-8")
OWN = "{}.{}".format(*sys.version_info)
#: NumPy 1 for this Python, where .ci/pythons could get it.
OLD_NUMPY = ROOT / "build" / "pythons" / "numpy1"
HAS_NUMPY = "import importlib.util as u, sys; sys.exit(u.find_spec('numpy') is None)"
#: Runs the script from a file of its own, which is gone afterwards.
SAVER = """
import os, runpy, sys, tempfile
with tempfile.TemporaryDirectory() as folder:
    script, saved = os.path.join(folder, "train.py"), os.path.join(folder, "saved")
    with open(script, "w") as file:
        file.write(sys.argv[1])
    sys.argv[1:] = [saved]
    out, sys.stdout = sys.stdout, sys.stderr
    runpy.run_path(script, run_name="__main__")
    with open(saved, "rb") as file:
        out.buffer.write(file.read())
"""
LOADER = """
import json, os, sys, tempfile
import waybill
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "saved")
    with open(path, "wb") as file:
        file.write(sys.stdin.buffer.read())
    saved = waybill.load(path)
import numpy
model = saved["model"]
print(json.dumps({
    "close": bool(numpy.allclose(
        model.predict(saved["tests"]), saved["answers"], rtol=1e-12)),
    "answers": saved["answers"].tolist(),
    "seen": [str(model.seen["kind"]), model.seen["rows"].tolist(), model.seen["names"]],
    "order": float(model.order),
    "degree": model.degree,
    "classes": [type(model).__name__, type(model.scaler).__name__],
}))
"""


def run(command, program, *arguments, given=b"", path=""):
    # A script's own numpy goes before the one that is installed.
    paths = filter(None, [str(path), os.environ.get("PYTHONPATH")])
    done = subprocess.run(
        [*command, "-c", program, *arguments],
        input=given,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def others():
    """Those that have NumPy."""
    known = interpreters()
    known.pop(OWN, None)
    found = {
        version: command
        for version, command in known.items()
        if subprocess.run([*command, "-c", HAS_NUMPY]).returncode == 0
    }
    if not found:
        pytest.skip("no other interpreter with NumPy is built")
    return found


@pytest.fixture(params=["this numpy", "numpy 1"])
def numpy_path(request):
    """Where the NumPy is that this Python has."""
    pytest.importorskip("numpy")
    if request.param == "numpy 1":
        if not OLD_NUMPY.is_dir():
            pytest.skip("NumPy 1 is not there for this Python")
        return OLD_NUMPY
    return ""


@pytest.mark.cross
def test_saved_models_predict_the_same_on_every_other_python(numpy_path):
    own = [sys.executable]
    saved = run(own, SAVER, SCRIPT, path=numpy_path)
    expected = json.loads(run(own, LOADER, given=saved, path=numpy_path))

    loaded = {v: json.loads(run(c, LOADER, given=saved)) for v, c in others().items()}

    assert expected["close"] and expected["classes"] == ["Model", "Scaler"]
    assert loaded == dict.fromkeys(loaded, expected)


@pytest.mark.cross
def test_models_saved_on_every_other_python_predict_the_same_here(numpy_path):
    for version, command in others().items():
        saved = run(command, SAVER, SCRIPT)

        loaded = json.loads(run([sys.executable], LOADER, given=saved, path=numpy_path))

        assert loaded["close"], version
        assert loaded["classes"] == ["Model", "Scaler"]
        assert loaded["seen"][0] == "float64" and loaded["seen"][2] == ["x"]
