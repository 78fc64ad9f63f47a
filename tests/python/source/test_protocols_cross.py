"""A protocol that a script checks at run time is one on every other Python, also if it
is the first class of another Python that the process gets."""

import subprocess

import pytest
from other_interpreters import interpreters

SENDER = """
import linecache, sys, waybill

text = '''
from typing import Protocol, runtime_checkable
@runtime_checkable
class Closing(Protocol):
    def close(self): ...
class File:
    def close(self): return 1
def answers(): return isinstance(File(), Closing), issubclass(File, Closing)
'''
linecache.cache["script.py"] = len(text), None, text.splitlines(True), "script.py"
main = vars(sys.modules["__main__"])
exec(compile(text, "script.py", "exec", 0, True), main)
sys.stdout.buffer.write(waybill.dumps(main["answers"], source=True))
"""
RECEIVER = """
import sys, waybill
print(waybill.loads(sys.stdin.buffer.read())())
"""


@pytest.mark.cross
@pytest.mark.parametrize("sender", sorted(interpreters()))
def test_a_protocol_is_checked_at_run_time_on_every_python(sender):
    sent = subprocess.run(
        [*interpreters()[sender], "-c", SENDER], capture_output=True, check=True
    ).stdout

    for version, command in interpreters().items():
        done = subprocess.run(
            [*command, "-c", RECEIVER], input=sent, capture_output=True
        )
        assert done.stdout == b"(True, True)\n", (version, done.stderr.decode())
