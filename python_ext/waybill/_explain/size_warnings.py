"""The warning of a payload that is larger than somebody wants: what is large in it, and
the lines that brought that.

Loaded when there is one, by ``_api/lazy.py``. Tested by
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

    from waybill._core import EncodeOptions
    from waybill._explain.explanation import Explanation, Part

#: Packages that stand between a program and waybill.
_BETWEEN = frozenset(
    (
        *("dask", "distributed", "tornado", "tlz", "toolz", "ray", "joblib", "loky"),
        *("pyspark", "py4j", "celery", "kombu", "billiard", "vine", "parsl", "mpi4py"),
        *("multiprocessing", "concurrent", "threading", "asyncio", "queue"),
        *("contextlib", "functools", "msgpack", "pickle", "runpy"),
    )
)
_SHOWN = 3
#: What was told is remembered up to that number, and then forgotten.
_MOST = 1000

#: What has been told: a line of a program, or parts that an engine's thread has sent.
_told: set[object] = set()
#: How many large payloads of about one size an engine's own line has sent.
_counts: dict[object, int] = {}


class SizeWarning(UserWarning):
    """A payload is larger than ``warn_above``.

    Names the size, the parts that make most of it, and the lines of code that brought
    these. ``waybill.explain(obj)`` tells the rest.
    """


def warn(
    size: int, obj: object, encoding: EncodeOptions | None, is_given: bool
) -> None:
    """Warns that the payload of ``obj`` has this size. ``encoding`` is what ``encode``
    took besides; None if it cannot be gone through once more.

    Who gives the option to a call is told each time; one who sets it for a process
    once for each line of the program. An engine's thread stands in no such line: there,
    the parts tell what is new, and of payloads of about one size only the first,
    second, fourth, eighth … is explained.
    """
    frame, is_of_program = _caller()
    line = _line_of(frame)
    if is_given:
        _show(_text(size, obj, encoding)[0], frame)
        return
    if is_of_program:
        if line in _told:
            return
        text, parts = _text(size, obj, encoding)
    else:
        like = line, f"{size:.1e}"
        if len(_counts) >= _MOST:
            _counts.clear()
        count = _counts[like] = _counts.get(like, 0) + 1
        if count & (count - 1):
            return
        text, parts = _text(size, obj, encoding)
        # An engine in this process may pass on what the program has sent.
        if parts in _told:
            return
    # A filter may make an error of it: that is no warning which was seen.
    _show(text, frame)
    if len(_told) >= _MOST:
        _told.clear()
    _told.update((line, parts))


def _text(
    size: int, obj: object, encoding: EncodeOptions | None
) -> tuple[str, tuple[str, ...]]:
    """The message, and the parts that it names."""
    rows: tuple[str, ...] = ()
    if encoding is not None:
        try:
            rows = tuple(_row(*told) for told in _telling(_explanation(obj, encoding)))
        except Exception:  # Reducers of the program may refuse to be called once more.
            pass
    head = f"a payload of {_core.size_text(size)}"
    if not rows:
        return f"{head}; what is in it: waybill.explain(obj)", rows
    lines = f"{head}, most of it", *rows, "all of it: waybill.explain(obj)"
    return "\n  ".join(lines), rows


def _explanation(obj: object, encoding: EncodeOptions) -> Explanation:
    from waybill._explain.explanation import Explanation

    if encoding[3] is not None:  # Its owner has these buffers.
        encoding = (*encoding[:3], _taken, *encoding[4:])
    return Explanation(_core.explain(obj, encoding, None))


def _taken(buffer: object) -> None:
    """A buffer_callback that keeps all."""


def _telling(explanation: Explanation) -> list[tuple[Part, int]]:
    """At most three parts that make most of it, with their bytes, as the page of an
    explanation has them."""
    # What is small beside all of it tells nothing.
    least = explanation.total // 20
    parts = list(explanation.parts.walk())
    return [
        (parts[number], size)
        for number, size in _core.explanation_telling(explanation._told, _SHOWN)
        if size >= least
    ]


def _row(part: Part, size: int) -> str:
    kind = f"{part.type} {part.detail}".rstrip()
    # What is within a value comes with it.
    place = next((p for p in reversed(part._chain()) if p.file), None)
    row = f"{_core.size_text(size)}: {part.short}, {kind}"
    return f"{row}, {place.file}:{place.line}" if place is not None else row


def _caller() -> tuple[FrameType | None, bool]:
    """The innermost frame of the program, and True; where there is none, as in a thread
    of an engine, the innermost outside of waybill, and False."""
    frame: FrameType | None = sys._getframe(1)
    outside = None
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package != "waybill":
            if package not in _BETWEEN:
                return frame, True
            outside = outside or frame
        frame = frame.f_back
    return outside, False


def _line_of(frame: FrameType | None) -> tuple[str, int]:
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("sys", 1)


def _show(text: str, frame: FrameType | None) -> None:
    space = frame.f_globals if frame else vars(sys)
    warnings.warn_explicit(
        text,
        SizeWarning,
        *_line_of(frame),
        module=space.get("__name__"),
        registry=space.setdefault("__warningregistry__", {}),
    )
