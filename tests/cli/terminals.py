"""Terminals for programs that behave otherwise on one."""

import pytest


def open_terminal():
    """Both ends of a new one; what asks for it is skipped where there is none."""
    pty = pytest.importorskip("pty")
    try:
        return pty.openpty()
    except OSError as error:  # A chroot may have no /dev/pts.
        pytest.skip(f"no terminal: {error}")
