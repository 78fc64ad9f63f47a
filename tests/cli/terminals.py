"""Terminals for programs that behave otherwise on one."""

import contextlib
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


def read_until_closed(ours):
    """All that was written to the other end; returns when nobody has it open.

    One read() may return less than what was written: the kernel passes it on in
    pieces of its own.
    """
    written = b""
    with contextlib.suppress(OSError):  # EIO: Linux's end of a terminal.
        while block := os.read(ours, 1 << 16):
            written += block
    return written


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
    os.close(theirs)
    painted = read_until_closed(ours).decode()
    os.close(ours)
    return ended.stdout.decode(), painted
