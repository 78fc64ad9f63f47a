"""Small programs of the kinds that users of engines report trouble with.

A program is a file of parts, each of which begins with a line `# --- what it is`:

    file PATH  is written below FILES, a folder from which the sender imports
    sender     a script; it calls send(obj, **options), and worker(function,
               *arguments, **options), whose process lives as long as the script
    receiver   a script of another process, where receive() gives what was sent in turn

A line `# needs: NAME` names a package without which the program is skipped. Processes
are forked, not started; the two differ in hashes and addresses.
"""

import marshal
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import fresh_process
import pytest

HERE = Path(__file__).parent
PROGRAMS = sorted(path.stem for path in HERE.glob("*.txt"))
#: Of a template of its own, so that a sender is no twin of a receiver.
SENDER = {**os.environ, "WAYBILL_END": "sender"}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Where a worker is to be had."""
    address = str(tmp_path_factory.mktemp("workers") / "socket")
    command = [sys.executable, "-I", str(HERE / "ends.py"), address]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as server:
        assert server.stdout.readline() == b"listening\n"
        yield address
        server.stdin.close()


def run(end, *given, **options):
    """What a function of `ends` answers in another process."""
    program = f"import ends, marshal\nanswer = ends.{end}(*marshal.loads(data))"
    return fresh_process.execute(program, marshal.dumps(given), **options)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_with_its_worker_as_it_does_at_home(name, address, tmp_path):
    path = HERE / f"{name}.txt"
    needs, *parts = re.split(r"^# --- (.*)\n", path.read_text("utf-8"), flags=re.M)
    for package in re.findall(r"^# needs: (.*)", needs, re.M):
        if find_spec(package) is None:  # To import it here would only take time.
            pytest.skip(f"no {package}")

    for what, text in zip(parts[::2], parts[1::2]):
        script = f"{name}.txt, {what}", text, str(tmp_path)
        if what == "sender":
            places = [HERE, tmp_path]
            sent = run("run_sender", address, *script, path=places, env=SENDER)
        elif what == "receiver":
            run("run_receiver", sent, *script, path=[HERE])
        else:
            file = tmp_path / what.removeprefix("file ")
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
