"""Starts the programs of docs/examples that serve a socket."""

import contextlib
import importlib.machinery
import os
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import waybill

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"
BUILT = (
    Path(os.environ.get("WAYBILL_COMMAND", ROOT / "build/waybill")).resolve().parent
    / "examples"
)
HOST = BUILT / "host" / "host"
ROUTER = BUILT / "router" / "router"


class Server:
    """A process, and what it has written to stderr."""

    def __init__(self, process, log):
        self.process, self._log = process, log

    @property
    def log(self):
        return self._log.read_text()

    def wait_for(self, text, seconds=20):
        end = time.monotonic() + seconds
        while text not in self.log:
            assert self.process.poll() is None and time.monotonic() < end, self.log
            time.sleep(0.01)

    def end(self):
        """Asks it to end; what it has written."""
        self.process.terminate()
        assert self.process.wait(20) == 0, self.log
        return self.log


@contextlib.contextmanager
def serving(program, folder, socket, *arguments):
    log = folder / f"{Path(socket).name}.log"
    with open(log, "wb") as stderr:
        process = subprocess.Popen(
            [program, socket, *arguments],
            stderr=stderr,
            # Whoever runs these tests with nohup ignores it.
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        )
    server = Server(process, log)
    try:
        yield server
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def host(folder, *options, name="host.sock"):
    """A host, and the path of its socket."""
    path = str(folder / name)
    options = ["--python", sys.executable, *map(str, options)]
    with serving(HOST, folder, path, *options) as server:
        server.wait_for("host: ready")
        yield server, path


def module(name):
    """A Python file of an example as a module that payloads may refer to by value."""
    path = EXAMPLES / name
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def still_works(path):
    """Whether the host or router at this socket has a call made."""
    with module("host/client.py").Client(path) as client:
        return client.call(divmod, 85, 2) == (42, 1)


def children_of(process):
    """Numbers of the processes that a process has started and that still run."""
    path = Path(f"/proc/{process}/task/{process}/children")
    return [int(number) for number in path.read_text().split()]


def is_running(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends_soon(process):
    for _ in range(200):
        if not is_running(process):
            return True
        time.sleep(0.05)
    return False


def call_of(module):
    """A call of a function that is imported from a module of this name."""
    sys.modules[module] = made = types.ModuleType(module)
    made.__spec__ = importlib.machinery.ModuleSpec(module, None)
    exec("def function(): pass", vars(made))
    try:
        return waybill.calls.dumps_call(made.function, [])
    finally:
        del sys.modules[module]


def own_memory(process):
    """Bytes that are the process's own."""
    for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no line Anonymous")
