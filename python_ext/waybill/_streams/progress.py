"""Progress of long reads and writes: for a callback, or as a line on a terminal. Tested
by tests/python/streams/test_progress.py."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO
    from typing import Any

    from typing_extensions import Buffer

    #: Called with the bytes done so far and the total; True: a line on a terminal.
    Progress = Callable[[int, int], object] | bool

#: Bytes between two reports.
STEP = 16 << 20
_DELAY = 1.0  # Seconds until the line is first shown.
_INTERVAL = 0.2  # Seconds between two updates of the line.


class Reporter:
    """Counts the bytes of one read or write. At the end of `with`, clears the line."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._total = total
        self._done = 0
        self._line = _Line() if progress is True else None
        self._report: Any = self._line.show if self._line else progress

    def add(self, count: int) -> None:
        self._done += count
        self._report(self._done, self._total)

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._line:
            self._line.clear()


class _Line:
    """A line on stderr. Nothing is written if stderr is not a terminal."""

    def __init__(self) -> None:
        import sys
        import time

        self._clock = time.monotonic
        stream = sys.stderr
        is_terminal = stream is not None and stream.isatty()
        self._stream = stream if is_terminal else None
        self._next_update = self._clock() + _DELAY
        self._is_shown = False

    def show(self, done: int, total: int) -> None:
        if self._stream is None or self._clock() < self._next_update:
            return
        self._next_update = self._clock() + _INTERVAL
        self._is_shown = True
        share = 100 * done / total if total else 0
        line = f"\r{share:3.0f} %  {done / 1e9:.1f} of {total / 1e9:.1f} GB"
        self._stream.write(line)
        self._stream.flush()

    def clear(self) -> None:
        if self._stream is not None and self._is_shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def split_chunks(chunks: list[Buffer]) -> list[memoryview]:
    """Views of the same bytes, each of at most STEP bytes."""
    return [
        view[at : at + STEP]
        for view in (memoryview(chunk).cast("B") for chunk in chunks)
        for at in range(0, len(view), STEP)
    ]


class ReportingReader:
    """An unbuffered file, opened for reading, that reports its reads."""

    def __init__(self, file: FileIO, reporter: Reporter) -> None:
        self._file = file
        self._reporter = reporter

    def read(self, size: int) -> Any:
        data = self._file.read(size)
        if data:
            self._reporter.add(len(data))
        return data

    def readinto(self, view: memoryview) -> int | None:
        with view[:STEP] as part:
            count = self._file.readinto(part)
        if count:
            self._reporter.add(count)
        return count
