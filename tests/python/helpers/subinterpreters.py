"""Runs programs that start sub-interpreters, in a process of their own."""

import fresh_process
import pytest

USE = """
import waybill, sys

def make(n):
    count = n
    def step():
        nonlocal count
        count += 1
        return count, len(sys.argv) >= 0
    return step

class A:
    def __init__(self, x): self.x = x

arrived = waybill.loads(waybill.dumps([make(3), A([1]), {"a": {1, 2}}]))
assert arrived[0]()[0] == 4 and arrived[1].x == [1] and arrived[2] == {"a": {1, 2}}
try: waybill.dumps((i for i in ()))
except waybill.EncodeError as error: assert error.path
else: raise AssertionError("a generator was sent")
try: waybill.loads(b"")
except waybill.DecodeError: pass
else: raise AssertionError("nothing was loaded")
"""

# `run(code)` in a new sub-interpreter, whatever this Python calls its module.
RUN = f"""
USE = {USE!r}

def run(code, legacy=False):
    try:
        import _interpreters as interpreters
    except ImportError:
        try: import _xxsubinterpreters as interpreters
        except ImportError: raise SystemExit("skip")
    import sys
    if sys.version_info >= (3, 13):
        number = interpreters.create("legacy" if legacy else "isolated")
        failed = interpreters.exec(number, code)
        assert failed is None, failed
    else:
        number = interpreters.create(isolated=not legacy)
        interpreters.run_string(number, code)
    interpreters.destroy(number)
"""


def run(script):
    """The output of a script, which has `USE` and `run(code, legacy=False)`."""
    try:
        return fresh_process.run_script(RUN + script)
    except AssertionError as error:
        if "exit status 1\n\nskip" in str(error):
            pytest.skip("no sub-interpreters in this Python")
        raise
