"""Runs tests of this folder inside a sub-interpreter, by pytest.

    python in_subinterpreter.py legacy|isolated [options of pytest]

"legacy" shares the GIL of the main interpreter and all its allowances; "isolated" has a
GIL of its own (3.12) and imports only modules that say that they can do with it.
Ends with pytest's status; 77 if this Python has no sub-interpreters of that kind.
"""

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
SKIPPED = 77

#: What runs: the ordinary round trips. The other files start processes of their own,
#: change what belongs to the whole process (signals, limits, permissions), are about
#: bytes and not about interpreters, or make sub-interpreters themselves.
FILES = """
functions methods classes instances instances_received known_classes known_codes
known_nodes received_functions kept_functions code_cache sharing values reduce
reduce_protocol reduced_received kinds_buffers kinds_callables kinds_containers
kinds_ctypes kinds_iterators kinds_typing kinds_values by_value replacements pickler
streams
""".split()

#: Of those, what an isolated one cannot run, and why.
LEFT_OUT = {
    "legacy": {},
    "isolated": {
        # hypothesis has a part in C that is made for one interpreter.
        "values": "needs hypothesis",
        # 3.12 has no datetime in C for them, and not all of zoneinfo without it.
        "kinds_values": "needs zoneinfo",
        "reduce": "needs zoneinfo",
        "reduce_protocol": "needs zoneinfo",
        "kinds_ctypes": "needs ctypes, which 3.12 cannot import there",
    },
}

#: Single tests, by parts of their names, and why.
DESELECTED = {
    "signals": "only the main interpreter may set handlers",
    "numpy": "is made for one interpreter",
    "handler_that_raised": "only the main interpreter may set handlers",
}

_PROGRAM = """
import sys
sys.path[:0] = {path!r}
sys.argv = ["pytest"]
sys.dont_write_bytecode = True
import pytest
status = pytest.main({arguments!r})
with open({answer!r}, "w") as file:
    file.write(str(int(status)))
"""


def pytest_arguments(kind, options):
    names = [name for name in FILES if name not in LEFT_OUT[kind]]
    arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler"]
    arguments += [
        "-p",
        "no:hypothesispytest",
        "-m",
        "not slow and not long and not cross",
    ]
    arguments += ["-k", " and ".join(f"not {part}" for part in DESELECTED)]
    files = [str(next(HERE.rglob(f"test_{name}.py"))) for name in names]
    return [*arguments, "--rootdir", str(HERE.parents[1]), *(options or files)]


def interpreters():
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            return __import__(name)
        except ImportError:
            pass
    raise SystemExit(SKIPPED)


def run(kind, code):
    module = interpreters()
    if sys.version_info >= (3, 13):
        number = module.create(kind)
        failed = module.exec(number, code)
        if failed is not None:
            raise SystemExit(f"{failed.type.__name__}: {failed.msg}")
    else:
        if kind == "isolated" and sys.version_info < (3, 12):
            raise SystemExit(SKIPPED)
        number = module.create(isolated=kind == "isolated")
        module.run_string(number, code)
    module.destroy(number)


def main(kind, *options):
    with tempfile.TemporaryDirectory() as folder:
        answer = os.path.join(folder, "answer")
        program = _PROGRAM.format(
            path=[path for path in sys.path if path],
            arguments=pytest_arguments(kind, options),
            answer=answer,
        )
        run(kind, program)
        return int(Path(answer).read_text(encoding="utf-8"))


if __name__ == "__main__":
    status = main(*sys.argv[1:])
    # CPython 3.12 frees too much at its end if an isolated interpreter has imported
    # pytest. With waybill it ends well: test_subinterpreters.py.
    sys.stdout.flush()
    os._exit(status)
