"""Compares tools that explain why an object cannot be sent: how many of the unsendable
objects of tests/python/explain/explained_programs.py they find.

    python benchmarks/explanations.py

Prints a table for docs/explain.md. Needs waybill, dill and ray; runs each program in a
new process. `named`: objects that the tool returns or names by an expression; `with its
line`: those with the line of code that refers to them; `programs`: programs of which
every such object is named.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "python" / "explain"))

from explained_programs import LOCKS  # noqa: E402

END = """
import contextlib, io, json, signal, sys, warnings
warnings.simplefilter("ignore")
import waybill
blockers = waybill.explain(task).blockers
space = {getattr(task, "__name__", "obj"): task, "obj": task}
wanted = [eval(b.path, space) for b in blockers if b.evaluates]
lines = sum(b.line > 0 for b in blockers)
found = {"all": len(blockers), "waybill": len(blockers), "lines": lines}

def too_long(*_):
    raise TimeoutError("takes more than 20 s")
signal.signal(signal.SIGALRM, too_long)

def count_found(objects):
    return sum(any(w is o for o in objects) for w in wanted)

try:
    from ray.util import inspect_serializability
    signal.alarm(20)
    with contextlib.redirect_stdout(io.StringIO()):
        _, failures = inspect_serializability(task)
    found["ray"] = count_found([failure.obj for failure in failures])
except Exception as error:
    found["ray"], found["ray error"] = 0, repr(error)
try:
    import dill
    import dill.detect
    signal.alarm(20)
    def flat(found):
        if not isinstance(found, dict):
            return [found]
        return [each for value in found.values() for each in flat(value)]
    found["dill"] = count_found(flat(dill.detect.badobjects(task, depth=6) or {}))
    try:
        dill.dumps(task)
        found["dill sends"] = 1
    except Exception:
        found["dill sends"] = 0
except Exception as error:
    found["dill"], found["dill error"] = 0, repr(error)
print(json.dumps(found))
"""


def run(source: str) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "program.py"
        script.write_text(textwrap.dedent(source).strip("\n") + "\n" + END)
        done = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, check=True
        )
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    answers = {name: run(source) for name, source in LOCKS.items()}
    everything = sum(answer["all"] for answer in answers.values())
    print(f"{len(answers)} programs, {everything} objects that cannot be sent\n")
    print("| tool | named | programs | with its line |")
    print("|---|---:|---:|---:|")
    for tool, title in (
        ("waybill", "`waybill.explain`"),
        ("ray", "`ray.util.inspect_serializability`"),
        ("dill", "`dill.detect.badobjects(depth=6)`"),
    ):
        named = sum(answer[tool] for answer in answers.values())
        whole = sum(answer[tool] == answer["all"] for answer in answers.values())
        lines = sum(answer["lines"] for answer in answers.values())
        print(f"| {title} | {named} | {whole} | {lines if tool == 'waybill' else 0} |")
    for name, answer in answers.items():
        print(f"{name}: {answer}", file=sys.stderr)


if __name__ == "__main__":
    main()
