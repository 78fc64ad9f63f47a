"""Programs that check many claims against an engine which takes seconds to start.

A program is a file whose functions ``claim_...`` are the claims. It is run once, as
users run theirs, so that all of it is in ``__main__``.
"""

import ast
import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

FOLDER = Path(__file__).parent

#: Ten thousand tasks of Ray take 7 on two processors, and 280 beside the sanitizers.
SECONDS = 900


def claims_of(program):
    """The names of the claims in a program, without running it."""
    parsed = ast.parse((FOLDER / program).read_text(encoding="utf-8"))
    functions = (node for node in parsed.body if isinstance(node, ast.FunctionDef))
    return [f.name for f in functions if f.name.startswith("claim_")]


def run_program(program, folder, **environment):
    """For each claim its error, or None if it holds; and what the program wrote."""
    answers = folder / "answers.json"
    environment = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, FOLDER / program, answers],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout[-10_000:]
    return json.loads(answers.read_text(encoding="utf-8")), done.stdout


# ---- For programs


def raised_by(function, kind=Exception):
    try:
        function()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def is_waybills(data):
    return b"waybill._pickled" in data


def module_of_the_driver(name, text):
    """A module from a folder that comes into sys.path when workers have started."""
    os.makedirs("only_here", exist_ok=True)
    Path("only_here", f"{name}.py").write_text(text, encoding="utf-8")
    sys.path.append(os.path.abspath("only_here"))
    return __import__(name)


def check_all(namespace):
    """What a program does: checks its claims in order, and leaves the answers."""
    answers = {}
    for name, value in list(namespace.items()):
        if name.startswith("claim_"):
            start = time.monotonic()
            try:
                answers[name] = value()
            except BaseException:
                answers[name] = traceback.format_exc()
            print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)
    Path(sys.argv[1]).write_text(json.dumps(answers), encoding="utf-8")
