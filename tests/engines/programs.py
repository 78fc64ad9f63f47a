"""Programs as their users run them: files, each in a process of its own."""

import multiprocessing
import os
import subprocess
import sys
import textwrap

import pytest

#: How multiprocessing starts children.
METHODS = multiprocessing.get_all_start_methods()
each_method = pytest.mark.parametrize("method", METHODS)
needs_fork = pytest.mark.skipif("fork" not in METHODS, reason="no fork")

#: The start of a program that is given such a method.
START_OF_MULTIPROCESSING = """
import multiprocessing, sys
import waybill.integrations.multiprocessing
context = multiprocessing.get_context(sys.argv[1])
"""


def run(folder, source, *arguments, **options):
    """Ends a program that ran there; it must have ended well, if `check`."""
    program = folder / "program.py"
    program.write_text(textwrap.dedent(source), encoding="utf-8")
    return start(folder, program, *arguments, **options)


def start(folder, *words, check=True, timeout=120, **environment):
    """Ends a Python that was started with these words, and ran in `folder`."""
    ended = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert not check or ended.returncode == 0, ended.stderr
    return ended


def lines(folder, source, *arguments, **options):
    """What a program wrote, line by line."""
    return run(folder, source, *arguments, **options).stdout.splitlines()
