"""Terminals for programs that behave otherwise on one."""

import os
import subprocess

import pytest


def open_terminal():
    """Both ends of a new one; what asks for it is skipped where there is none."""
    pty = pytest.importorskip("pty")
    try:
        return pty.openpty()
    except OSError as error:  # A chroot may have no /dev/pts.
        pytest.skip(f"no terminal: {error}")


def painted_on_terminal(command, columns=80, cwd=None, **environment):
    """What a command writes to stdout, and to the terminal that stderr is."""
    termios = pytest.importorskip("termios")
    ours, theirs = open_terminal()
    termios.tcsetwinsize(theirs, (24, columns))
    ended = subprocess.run(
        command,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", **environment},
    )
    os.write(theirs, b"END")  # Else there may be nothing to read.
    os.close(theirs)
    painted = os.read(ours, 65536).decode()
    os.close(ours)
    return ended.stdout.decode(), painted.removesuffix("END")
