"""Programs as their users run them: files, each in a process of its own."""

import os
import subprocess
import sys
import textwrap


def run(folder, source, *arguments, check=True, timeout=120, **environment):
    """Ends a program that ran in `folder`; it must have ended well, if `check`."""
    program = folder / "program.py"
    program.write_text(textwrap.dedent(source), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, program, *arguments],
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
