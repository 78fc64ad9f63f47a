"""Whatever goes wrong while something is loaded, at a worker or at the client: the
client gets an error that names it, and the engine goes on working. Each engine is
started once.

How long it takes is printed by failures.py, and is in docs/integrations.md.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    "WAYBILL_SANITIZED" in os.environ,
    reason="engines fork among threads, where the sanitizer's allocator may hang",
)

FOLDER = Path(__file__).parent
GOLDEN = FOLDER.parent / "golden" / "v1"
#: Packages that an engine needs.
NEEDS = {
    "dask": "distributed",
    "loky": "joblib",
    "joblib-pool": "joblib",
    "parsl": "parsl",
    "celery": "celery",
    "ray": "ray",
    "mpi4py": "mpi4py",
    "pyspark": "pyspark",
}
#: For each failure what the client learns, of the type of the error or its causes, and
#: in the text.
EXPECTED = {
    "missing_by_name": ("MissingModuleError", "only_here, for only_here.task"),
    "missing_in_lambda": ("MissingModuleError", "only_here, for module in"),
    "missing_for_an_argument": ("MissingModuleError", "only_here, for only_here.Thing"),
    "another_python": ("PythonMismatchError", "and this is Python 3."),
    "refused_by_policy": ("PolicyError", "getppid"),
    "error_from_there": ("RemoteError", "only_there.Error: from there"),
    "result_from_there": ("MissingModuleError", "only_there, for only_there.Error"),
    "death_while_loading": (None, ""),
}
#: What an engine says of a worker that has died.
DEATH = {
    "dask": "KilledWorker",
    "loky": "TerminatedWorkerError",
    "futures-spawn": "BrokenProcessPool",
    "futures-fork": "BrokenProcessPool",
    "pool-spawn": "CallError",
    "pool-fork": "CallError",
    "joblib-pool": "CallError",
    "parsl": "WorkerLost",
    "celery": "WorkerLostError",
    "ray": "WorkerCrashedError",
    "mpi4py": None,
    "pyspark": "Python worker exited unexpectedly",
}
#: Those that are started with a machine of their own, or need much.
SLOW = {"ray", "pyspark", "parsl"}
#: What engines make of it.
OTHERWISE = {
    # An exception of its own of the same name, with a note.
    ("celery", "error_from_there"): ("Error", "from there\nThe exception itself"),
    ("ray", "error_from_there"): ("Unserializable", "only_there.Error: from there"),
    # The exception itself is the message, not part of one.
    ("mpi4py", "error_from_there"): EXPECTED["result_from_there"],
    # Data is plain pickle, and the worker writes text.
    ("pyspark", "result_from_there"): ("ModuleNotFoundError", "only_there"),
    ("pyspark", "error_from_there"): ("PythonException", "only_there.Error: from ther"),
}


def test_each_engine_that_can_be_started_is_asked():
    text = (FOLDER / "failures.py").read_text(encoding="utf-8")
    rows = text.partition("\nENGINES = {")[2].partition("}")[0]

    assert set(re.findall(r'"([\w-]+)": ', rows)) == DEATH.keys()


def start_and_ask(engine, folder):
    """What the client saw of each failure."""
    for name, source in {
        "client/only_here.py": "value = 1\ndef task(): pass\nclass Thing: pass\n",
        "worker/only_there.py": "class Error(Exception): pass\n",
    }.items():
        (folder / name).parent.mkdir()
        (folder / name).write_text(source, encoding="utf-8")
    other = next(v for v in ("3.12", "3.13") if v != "%d.%d" % sys.version_info[:2])
    answers = folder / "answers.json"
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with open(folder / "log", "w+", encoding="utf-8") as log:
        code = subprocess.run(
            [
                *(sys.executable, FOLDER / "failures.py", engine, answers),
                GOLDEN / f"class-{other}.waybill",
            ],
            cwd=folder,
            env={**os.environ, "PATH": tools, "PYSPARK_PYTHON": sys.executable},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            timeout=600,
        ).returncode
        log.seek(0)
        told = log.read()
    assert code == 0, told[-10_000:]
    print(told)
    return json.loads(answers.read_text(encoding="utf-8"))


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name in DEATH
    ],
)
def seen(request, tmp_path_factory):
    engine = request.param
    if importlib.util.find_spec(NEEDS.get(engine, "json")) is None:
        pytest.skip(f"no {NEEDS[engine]}")
    if engine.endswith("fork") and not hasattr(os, "fork"):
        pytest.skip("no fork")
    answers = start_and_ask(engine, tmp_path_factory.mktemp(engine))
    return engine, answers


@pytest.mark.parametrize("failure", EXPECTED)
def test_client_gets_an_error_that_names_what_is_wrong(seen, failure):
    engine, answers = seen
    kind, text = OTHERWISE.get((engine, failure), EXPECTED[failure])

    if failure not in answers:
        pytest.skip(f"{engine} does not survive it")
    # Some engines tell of the worker's error in the text of their own.
    told = [*answers[failure]["kinds"], answers[failure]["text"]]
    assert any((kind or DEATH[engine]) in part for part in told)
    assert text in answers[failure]["text"]


@pytest.mark.parametrize("failure", EXPECTED)
def test_engine_goes_on_working_after(seen, failure):
    engine, answers = seen

    if failure not in answers:
        pytest.skip(f"{engine} does not survive it")
    assert answers[failure]["goes on"] is True
