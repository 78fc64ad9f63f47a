"""Calls of a script go to workers of all other Python versions, and results come back:
functions, classes, dataclasses, enumerations, exceptions."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from other_interpreters import interpreters

JOB = (Path(__file__).parent / "travelling_job.py").read_text(encoding="utf-8")
#: Writes the script to a file of its own, on the machine or in the root that the other
#: interpreter sees, and runs it as a program.
SENDER = """
import os, runpy, sys, tempfile
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "job.py")
    with open(path, "w") as file:
        file.write(sys.argv[1])
    runpy.run_path(path, run_name="__main__")
"""
WORKER = """
import base64, json, sys
from waybill.calls import run_call
calls = json.loads(sys.stdin.readline())
outcomes = {
    name: base64.b64encode(run_call(base64.b64decode(call))).decode()
    for name, call in calls.items()
}
print(json.dumps(outcomes), flush=True)
"""


def started(command, program, *arguments):
    return subprocess.Popen(
        [*command, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def exchange(sender_command, worker_command):
    """What the sender says at last."""
    sender = started(sender_command, SENDER, JOB)
    calls = sender.stdout.readline()
    assert calls, sender.communicate()[1]
    worker = started(worker_command, WORKER)
    outcomes, complaint = worker.communicate(calls)
    assert worker.returncode == 0, complaint
    last, complaint = sender.communicate(outcomes)
    assert sender.returncode == 0, complaint
    return last.strip()


def test_a_worker_of_this_python_sends_all_back():
    own = [sys.executable]

    assert exchange(own, own) == "all came back"


@pytest.mark.cross
def test_a_script_sends_tasks_to_workers_of_every_other_python():
    known = interpreters()
    if len(known) < 2:
        pytest.skip("no other interpreter is built")

    answers = {
        pair: exchange(known[pair[0]], known[pair[1]])
        for pair in itertools.permutations(sorted(known), 2)
    }

    assert set(answers.values()) == {"all came back"}
