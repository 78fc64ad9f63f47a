"""The tables of docs/cloudpickle.md say what happens.

The last `python` block of the page is the program that sends; what a row names is
evaluated there, in `__main__`, and sent by each library. What the row says of `it` is
evaluated in a process that has imported nothing.
"""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import fresh_process
import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "cloudpickle.md"
LIBRARIES = ("pickle", "cloudpickle", "waybill")
HEAD = ["kind", "sent", "holds where it arrives", *LIBRARIES]

_SEND = """
if True:
    import os, pickle, waybill
    try: import cloudpickle
    except ImportError: cloudpickle = pickle
    library, codes, path = sys.argv[1:]
    dumps = {
        "pickle": pickle.dumps,
        "cloudpickle": cloudpickle.dumps,
        "waybill": waybill.dumps,
        "policy": lambda obj: waybill.dumps(obj, replace="fresh"),
    }[library]
    sent = []
    for code in pickle.loads(bytes.fromhex(codes)):
        made = eval(code)
        try: sent.append(dumps(made))
        except Exception: sent.append(None)
    with open(path, "wb") as file: pickle.dump(sent, file)
    os._exit(0)
"""
# Ends without cleaning up: what could not be sent, a coroutine say, would complain.

_RECEIVE = """
import asyncio, os, pickle, sys, waybill
loads = waybill.loads if sys.argv[1] in ("waybill", "policy") else pickle.loads
with open(sys.argv[3], "rb") as file: sent = pickle.load(file)
for data, check in zip(sent, pickle.loads(bytes.fromhex(sys.argv[2]))):
    try:
        if data is None: raise ValueError
        it = loads(data)
    except Exception:
        print("no")
        continue
    try: print("yes" if eval(check, {"it": it, "asyncio": asyncio}) else "wrong")
    except Exception: print("wrong")
    # What one row imported must not help the next.
    for name in [n for n in sys.modules if n.partition(".")[0] == "xml"]:
        del sys.modules[name]
sys.stdout.flush()
os._exit(0)
"""


def program():
    text = PAGE.read_text(encoding="utf-8")
    return re.search(r"^(# What the tables name.*?)^```", text, re.S | re.M).group(1)


def rows():
    """[kind, sent, check, verdicts…] of each row that this Python has a meaning for."""
    found, inside = [], False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells == HEAD:
            inside = True
        elif not cells:
            inside = False
        elif inside and set(line) - set("|-: "):
            since = re.search(r"\(3\.(\d+)\+\)", cells[0])
            if since is None or sys.version_info >= (3, int(since.group(1))):
                found.append(cells[:1] + [c.strip("`") for c in cells[1:3]] + cells[3:])
    return found


def verdict(cell):
    """What a cell says of this Python: `no; 3.12: yes` changes with 3.12."""
    first, *later = (part.strip() for part in cell.split(";"))
    for part in later:
        version, changed = part.split(": ")
        if sys.version_info >= tuple(map(int, version.split("."))):
            first = changed
    return first


def outcomes(library, cells, folder):
    """yes, no or wrong for each of the rows."""
    sender = folder / "sender.py"
    sender.write_text(program() + _SEND, encoding="utf-8")
    file = str(folder / library)
    codes = pickle.dumps([row[1] for row in cells]).hex()
    checks = pickle.dumps([row[2] for row in cells]).hex()
    temporary = {"TMPDIR": str(folder), "PATH": ""}
    for command, given in (([sender], codes), (["-c", _RECEIVE], checks)):
        command = [sys.executable, "-W", "ignore", *command, library, given, file]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=temporary,
            cwd=folder,
            timeout=fresh_process.SECONDS,
        )
        assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("library", LIBRARIES)
def test_verdicts_are_what_happens(library, tmp_path):
    if library == "cloudpickle":
        pytest.importorskip("cloudpickle")
    cells = rows()
    column = HEAD.index(library)

    happened = outcomes(library, cells, tmp_path)

    said = [verdict(row[column]).replace("policy", "no") for row in cells]
    pairs = zip(cells, said, happened, strict=True)
    assert [(row[0], *pair) for row, *pair in pairs if pair[0] != pair[1]] == []


def test_what_needs_a_policy_arrives_with_one(tmp_path):
    cells = [row for row in rows() if row[-1] == "policy"]

    happened = outcomes("policy", cells, tmp_path)

    assert {r[0]: h for r, h in zip(cells, happened, strict=True) if h != "yes"} == {}


def test_tables_have_a_row_for_each_of_many_kinds():
    kinds = [row[0] for row in rows()]

    assert len(kinds) >= 100
    assert len(set(kinds)) == len(kinds)
