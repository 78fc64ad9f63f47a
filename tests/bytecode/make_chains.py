"""Puts this interpreter's code objects into the golden files of chains/.

    for python in python3.11 ... python3.15; do $python make_chains.py; done

A golden file: a comment, `Source`, the code objects of the first function or class in
it for each version under `Code 3.N` (code_text.py), then what summarize() must find
under `Expected`, and `Expected 3.N` where a version differs. Expectations are written
by people: this script leaves them alone.
"""

import ast
import pathlib
import re
import sys
import textwrap
import types

import code_text

HEADING = f"Code {sys.version_info[0]}.{sys.version_info[1]}"
CHAINS = pathlib.Path(__file__).parent / "chains"


def sections(text):
    """[(heading, body)] of a golden file; the first heading is ""."""
    parts = re.split(r"^(Source|(?:Code|Expected)(?: 3\.\d+)?)\n", text, flags=re.M)
    return [("", parts[0]), *zip(parts[1::2], parts[2::2])]


def target(source):
    """The code object of the first def or class, or of the module without one."""
    module = compile(source, "chain", "exec", dont_inherit=True)
    if any(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        for node in ast.parse(source).body
    ):
        return next(c for c in module.co_consts if isinstance(c, types.CodeType))
    return module


def order(section):
    kind, _, version = section[0].partition(" ")
    return ["", "Source", "Code", "Expected"].index(kind), version


def update(path):
    kept = [part for part in sections(path.read_text()) if part[0] != HEADING]
    source = textwrap.dedent(dict(kept)["Source"])
    codes = code_text.nested(target(source))
    lines = [f"  {line}" for code in codes for line in code_text.lines(code)]
    kept.append((HEADING, "\n".join(lines) + "\n\n"))
    text = "".join(
        f"{head}\n{body}" if head else body for head, body in sorted(kept, key=order)
    )
    path.write_text(text)


def main():
    for path in sorted(CHAINS.glob("*.txt")):
        update(path)


if __name__ == "__main__":
    main()
