"""Two Pythons of different minor versions that have one engine in the same version."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from other_interpreters import interpreters

HERE = Path(__file__).parent
OWN = "{}.{}".format(*sys.version_info)
VERSION = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"


class Python:
    """An interpreter, on this machine or in a root of its own."""

    def __init__(self, version, command):
        self.version = version
        self.command = command
        self.root = command[1] if command[0] == "chroot" else ""
        #: Where .ci/one-python puts them.
        self.engines = f"{Path(command[-1]).parents[2]}/engines"

    def start(self, *arguments, path="", **options):
        """Starts a process; ``path`` is where its modules are, beside its engines."""
        return subprocess.Popen(
            [*self.command, *map(str, arguments)],
            env=self._environment(path),
            **options,
        )

    def _environment(self, path=""):
        paths = filter(None, [path, self.engines, os.environ.get("PYTHONPATH")])
        return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}

    def seen(self, path):
        """A path of this machine, as the interpreter has it."""
        return "/" + str(path)[len(self.root) :].lstrip("/")

    def engine(self, name):
        """The version that it has of one; "" if it has none."""
        told = subprocess.run(
            [*self.command, "-c", VERSION, name],
            env=self._environment(),
            capture_output=True,
            text=True,
        )
        return told.stdout.strip()


def pairs_with(engine=None):
    """(client, worker), each way, of this Python and the first other one that has the
    engine too; skips the test if there is none."""
    known = {v: Python(v, command) for v, command in interpreters().items()}
    own = known.pop(OWN, None)
    for other in known.values():
        if own and (engine is None or other.engine(engine) == own.engine(engine) != ""):
            return (own, other), (other, own)
    pytest.skip(f"no other interpreter with {engine or 'waybill'} is built")


@contextlib.contextmanager
def folder_of(*pythons):
    """A folder that all of them see; at most one of them has a root of its own."""
    root = max(python.root for python in pythons)
    with tempfile.TemporaryDirectory(dir=f"{root}/tmp") as folder:
        yield Path(folder)


@contextlib.contextmanager
def running(python, log, *arguments, **options):
    """A process that writes to a log, until it is not needed any more."""
    with open(log, "wb") as output:
        process = python.start(
            *arguments,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **options,
        )
    try:
        yield process
    finally:
        # With the processes that it started.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(log, find, process, seconds=60):
    """What is found in a log that a process writes."""
    end = time.monotonic() + seconds
    while not (found := find(log.read_text())):
        alive = process.poll() is None and time.monotonic() < end
        assert alive, log.read_text()
        time.sleep(0.02)
    return found


def told_by(python, job, folder, *arguments, **options):
    """What a script says that runs to its end."""
    path = folder / "job.py"
    path.write_text((HERE / job).read_text(encoding="utf-8"), encoding="utf-8")
    process = python.start(
        python.seen(path),
        *arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )
    try:
        told, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, told
    return told.splitlines()[-1]
