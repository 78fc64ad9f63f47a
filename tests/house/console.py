"""Runs a `console` block of a page: `python console.py PAGE LINE`.

Commands stand behind `$ `, and go on in the next line after a backslash. Lines below a
command are what it writes, to stdout and stderr, where `...` stands for anything; if
there are none, what it writes is not looked at. A command has to succeed, unless the
next one is `echo $?`. All run in one shell, whose home is the working directory.
"""

import doctest
import os
import subprocess
import sys
from pathlib import Path

from pages import blocks

MARK = "\x1e"  # Stands before and after what each command writes.


class Command:
    def __init__(self, line, text):
        self.line = line
        self.text = text
        self.expected = ""


def commands(block):
    found, goes_on = [], False
    for number, line in enumerate(block.lines, block.line):
        if line.startswith("$ "):
            found.append(Command(number, line[2:]))
        elif goes_on:
            found[-1].text += f"\n{line}"
        else:
            found[-1].expected += f"{line}\n"
        goes_on = line.endswith("\\") and not found[-1].expected
    return found


def run(found):
    """What each command wrote, and its exit status."""
    script = "exec 2>&1\nstatus=0\n" + "".join(
        f"(exit $status)\n{command.text}\nstatus=$?\nprintf '{MARK}%s{MARK}' $status\n"
        for command in found
    )
    home = {"HOME": os.getcwd(), "WAYBILL_PYTHON": sys.executable}
    ended = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, **home},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    parts = ended.stdout.split(MARK)
    return list(zip(parts[0::2], map(int, parts[1::2]), strict=False))


def faults(found):
    """What is not as the page says, a text each."""
    results = run(found)
    if len(results) < len(found):
        yield f"line {found[len(results)].line}: the shell ended"
    checker = doctest.OutputChecker()
    asked = [after.text == "echo $?" for after in found[1:]] + [False]
    for command, (output, status), may_fail in zip(found, results, asked, strict=False):
        if status and not may_fail:
            yield f"line {command.line}: `{command.text}` gave {status}:\n{output}"
        elif command.expected and not checker.check_output(
            command.expected, output, doctest.ELLIPSIS
        ):
            yield f"line {command.line}: `{command.text}` wrote:\n{output}"


if __name__ == "__main__":
    page, line = Path(sys.argv[1]), int(sys.argv[2])
    block = next(block for block in blocks(page, "console") if block.line == line)
    found = [f"{page.name}, {fault}" for fault in faults(commands(block))]
    sys.exit("\n".join(found) or 0)
