"""A progress bar of one line on stderr."""

from __future__ import annotations

import os
import sys
import time

from waybill._core import printable_text

WIDTH = 24  # Characters of the bar.
SECONDS = 0.1  # Between two updates.


def terminal_width() -> int:
    """The width of the terminal of stderr; a longer line would wrap and remain."""
    try:
        # A terminal whose size was never set has 0.
        return os.get_terminal_size(sys.__stderr__.fileno()).columns or 80  # type: ignore[union-attr]
    except (OSError, ValueError):
        return 80


class Progress:
    """A context manager that draws if stderr is a terminal, and erases at the end."""

    def __init__(self, total: int) -> None:
        self._total = max(total, 1)
        self._done = 0
        self._next_update = 0.0
        self._paints = (
            sys.stderr is not None
            and sys.stderr.isatty()
            and os.environ.get("TERM") != "dumb"
        )

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._paints and self._next_update:
            self._write("\r\033[K")

    def step(self, name: str) -> None:
        """Begins the next of ``total`` steps."""
        self._done += 1
        self.show(name)

    def show(self, name: str) -> None:
        """Shows the current step under another name."""
        now = time.monotonic()
        if not self._paints or now < self._next_update:
            return
        self._next_update = now + SECONDS
        full = WIDTH * self._done // self._total
        bar = "#" * full + "." * (WIDTH - full)
        line = f"[{bar}] {self._done}/{self._total} {printable_text(name)}"
        self._write(f"\r{line[: terminal_width() - 1]}\033[K")

    def _write(self, text: str) -> None:
        try:
            sys.__stderr__.write(text)  # type: ignore[union-attr]
            sys.__stderr__.flush()  # type: ignore[union-attr]
        except (OSError, ValueError, UnicodeError):
            self._paints = False  # The terminal was closed.
