"""A protocol that a script checks at run time is one on every other Python, also if it
is the first class of another Python that the process gets."""

import pytest
from fresh_process import run_script
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
sys.stdout.write(waybill.dumps(main["answers"], source=True).hex())
"""
RECEIVER = """
import sys, waybill
print(waybill.loads(bytes.fromhex(sys.stdin.read()))())
"""


@pytest.mark.cross
@pytest.mark.parametrize("sender", sorted(interpreters()))
def test_a_protocol_is_checked_at_run_time_on_every_python(sender):
    sent = run_script(SENDER, command=interpreters()[sender])

    for version, command in interpreters().items():
        told = run_script(RECEIVER, command=command, given=sent)
        assert told == "(True, True)\n", version
