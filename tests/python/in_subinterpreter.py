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

#: What runs whole. The other files of process/ start programs of their own, which have
#: a main interpreter.
WHOLE = ["process/test_threads.py", "api", "cache/test_cached_functions.py"]

#: Of each test of these, the first case runs: one of each kind of object.
FIRST_CASES = ["classes", "functions", "kinds", "modules", "streams"]

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
        "source_buffers": "needs ctypes",
        "graphs": "needs hypothesis",
        "array_keys": "needs NumPy",
        "array_views": "needs NumPy",
        "open": "needs NumPy",
        "open_loading": "needs NumPy",
        "compression": "needs NumPy",
        "mapped": "needs NumPy",
        "stored_streams": "needs NumPy",
    },
}

#: Single tests, by parts of their names, and why.
DESELECTED = {
    "signals": "only the main interpreter may set handlers",
    "child_that_is_forked": "only the main interpreter may fork",
    "numpy": "is made for one interpreter",
    "handler_that_raised": "only the main interpreter may set handlers",
    "key_that_has_no_repr": "CPython 3.11 writes ints of any length there",
    "file_that_is_none_or_was_cut": "tracemalloc waits for ever there",
}

#: The same, of those that are isolated.
DESELECTED_IF_ISOLATED = {
    "address_of_a_buffer": "needs ctypes",
    "(golden and imports)": "needs pyexpat, which 3.12 cannot import there",
    "pickles_of_every_protocol": "needs NumPy",
    "dropped_may_load": "starts a daemon thread",
}

_PROGRAM = """
import os, sys
sys.path[:0] = {path!r}
sys.argv = ["pytest"]
sys.dont_write_bytecode = True
import pytest

class FirstCases:
    def pytest_collection_modifyitems(self, items):
        seen = set()
        def is_run(item):
            test = item.nodeid.partition("[")[0]
            is_first = test not in seen
            seen.add(test)
            return is_first or not str(item.path).startswith({first_cases!r})
        items[:] = [item for item in items if is_run(item)]

status = pytest.main({arguments!r}, plugins=[FirstCases()])
with open({answer!r}, "w") as file:
    file.write(str(int(status)))
"""


def pytest_arguments(kind, options):
    arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler"]
    arguments += ["-p", "no:hypothesispytest"]
    arguments += ["-m", "not slow and not long and not cross"]
    deselected = [*DESELECTED, *(DESELECTED_IF_ISOLATED if kind == "isolated" else ())]
    arguments += ["-k", " and ".join(f"not {part}" for part in deselected)]
    arguments += [f"--ignore-glob={HERE}/*/test_{name}.py" for name in LEFT_OUT[kind]]
    paths = [str(HERE / name) for name in WHOLE + FIRST_CASES]
    return [*arguments, "--rootdir", str(HERE.parents[1]), *(options or paths)]


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
            first_cases=tuple(str(HERE / name) for name in FIRST_CASES),
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
