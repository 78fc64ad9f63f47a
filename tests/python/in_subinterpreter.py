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

#: Files that say nothing about a sub-interpreter, or cannot run in any, and why.
LEFT_OUT = {
    "*": {
        # What they test happens in other processes.
        "test_cross_version.py": "runs other interpreters",
        "test_stdlib_functions.py": "runs in processes of its own",
        "test_failing_allocations.py": "runs in processes of its own",
        "test_leaks.py": "runs in processes of its own",
        "test_leaks_of_kinds.py": "runs in processes of its own",
        "test_subinterpreters.py": "makes sub-interpreters itself",
        "test_kill.py": "runs in processes of its own",
        "test_processes.py": "runs in processes of its own",
        "test_shutdown.py": "runs in processes of its own",
        "test_signals.py": "signals are handled in the main interpreter",
        "test_threads.py": "starts processes; what is left is in test_subinterpreters",
    },
    "isolated": {},
}

#: Single tests, by parts of their names, and why.
DESELECTED = {
    "*": {
        "test_streams.py": ("signals", "handler_that_raised"),
    },
    "isolated": {},
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


def rows(table, kind):
    return {**table["*"], **table.get(kind, {})}


def pytest_arguments(kind, options):
    left_out = rows(LEFT_OUT, kind)
    arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler"]
    arguments += ["-p", "no:hypothesispytest", "-m", "not slow and not long and not cross"]
    arguments += [f"--ignore={HERE / name}" for name in left_out]
    parts = [part for names in rows(DESELECTED, kind).values() for part in names]
    if parts:
        arguments += ["-k", " and ".join(f"not {part}" for part in parts)]
    return [*arguments, "--rootdir", str(HERE.parents[1]), *(options or [str(HERE)])]


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
    sys.exit(main(*sys.argv[1:]))
