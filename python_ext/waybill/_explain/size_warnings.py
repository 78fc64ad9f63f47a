"""The warning about a payload above the size limit: its largest parts, and the lines of
code that refer to them.

Loaded on first use, by ``_api/lazy.py``. Tested by
tests/python/explain/test_size_warnings.py and, in engines, by
tests/engines/test_warned_sizes.py.
"""

from __future__ import annotations

import sys
import warnings

from waybill import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from waybill._explain.explanation import Explanation, Part

#: Packages whose frames may be between those of the program and of waybill.
_INTERMEDIATE = frozenset(
    (
        *("dask", "distributed", "tornado", "tlz", "toolz", "ray", "joblib", "loky"),
        *("pyspark", "py4j", "celery", "kombu", "billiard", "vine", "parsl", "mpi4py"),
        *("multiprocessing", "concurrent", "threading", "asyncio", "queue"),
        *("contextlib", "functools", "msgpack", "pickle", "runpy"),
    )
)
_MAX_ROWS = 3
#: The tables below are cleared at this number of entries.
_MAX_ENTRIES = 1000

#: Lines of the program, and parts sent by threads of engines, that had a warning.
_reported: set[object] = set()
#: The number of large payloads, by the line of an engine and their approximate size.
_counts: dict[object, int] = {}


class SizeWarning(UserWarning):
    """A payload is larger than ``warn_above``.

    The message has the size, the largest parts, and the lines of code that refer to
    them. ``waybill.explain(obj)`` describes the whole payload.
    """


def warn(
    size: int, obj: object, encoding: dict[str, Any] | None, is_given: bool
) -> None:
    """Warns that the payload of ``obj`` has this size. ``encoding``: the options of its
    encoding; None if the object must not be encoded again.

    If the option is an argument of the call (``is_given``), each call warns. If it is
    set for the process, each line of the program warns once. A thread of an engine has
    no such line: it warns once for the same parts, and of payloads of about one size
    explains only the first, second, fourth, eighth …
    """
    frame, is_of_program = _caller()
    line = _line_of(frame)
    if is_given:
        _warn(_compose_message(size, obj, encoding)[0], frame)
        return
    if is_of_program:
        if line in _reported:
            return
        text, parts = _compose_message(size, obj, encoding)
    else:
        place_and_size = line, f"{size:.1e}"
        if len(_counts) >= _MAX_ENTRIES:
            _counts.clear()
        count = _counts.get(place_and_size, 0) + 1
        _counts[place_and_size] = count
        if count & (count - 1):
            return
        text, parts = _compose_message(size, obj, encoding)
        # An engine in this process may forward objects that the program has sent.
        if parts in _reported:
            return
    # Recorded afterwards, since a filter may turn the warning into an error.
    _warn(text, frame)
    if len(_reported) >= _MAX_ENTRIES:
        _reported.clear()
    _reported.update((line, parts))


def _compose_message(
    size: int, obj: object, encoding: dict[str, Any] | None
) -> tuple[str, tuple[str, ...]]:
    """The message, and the parts that it names."""
    rows: tuple[str, ...] = ()
    if encoding is not None:
        try:
            parts = _significant_parts(_explanation(obj, encoding))
            rows = tuple(_row(part, part_size) for part, part_size in parts)
        except Exception:  # Reducers of the program may refuse a second call.
            pass
    head = f"a payload of {_core.size_text(size)}"
    if not rows:
        return f"{head}; what is in it: waybill.explain(obj)", rows
    lines = f"{head}, most of it", *rows, "all of it: waybill.explain(obj)"
    return "\n  ".join(lines), rows


def _explanation(obj: object, encoding: dict[str, Any]) -> Explanation:
    from waybill._explain.explanation import Explanation

    if encoding["buffer_callback"] is not None:  # The callback has the buffers.
        encoding = {**encoding, "buffer_callback": _send_out_of_band}
    return Explanation(_core.explain(obj, encoding, None))


def _send_out_of_band(buffer: object) -> None:
    """A buffer_callback that leaves each buffer out of the payload."""


def _significant_parts(explanation: Explanation) -> list[tuple[Part, int]]:
    """The parts that explain most of the size, with their bytes; those with less than
    5 % of it are left out. The page of an explanation shows the same parts."""
    min_size = explanation.total // 20
    parts = list(explanation.parts.walk())
    return [
        (parts[number], size)
        for number, size in _core.explanation_largest(explanation._handle, _MAX_ROWS)
        if size >= min_size
    ]


def _row(part: Part, size: int) -> str:
    kind = f"{part.type} {part.detail}".rstrip()
    # A part without code of its own is sent because its parents are.
    place = next((p for p in reversed(part._chain()) if p.file), None)
    row = f"{_core.size_text(size)}: {part.short}, {kind}"
    return f"{row}, {place.file}:{place.line}" if place is not None else row


def _caller() -> tuple[FrameType | None, bool]:
    """The innermost frame of the program, and True. If there is none, as in a thread of
    an engine, the innermost frame outside of waybill, and False."""
    frame: FrameType | None = sys._getframe(1)
    outside = None
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package != "waybill":
            if package not in _INTERMEDIATE:
                return frame, True
            outside = outside or frame
        frame = frame.f_back
    return outside, False


def _line_of(frame: FrameType | None) -> tuple[str, int]:
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("sys", 1)


def _warn(text: str, frame: FrameType | None) -> None:
    space = frame.f_globals if frame else vars(sys)
    warnings.warn_explicit(
        text,
        SizeWarning,
        *_line_of(frame),
        module=space.get("__name__"),
        registry=space.setdefault("__warningregistry__", {}),
    )
