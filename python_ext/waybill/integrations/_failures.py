"""What takes the place of messages that cannot be loaded where they arrive.

An engine's message says whom its answer is for. If it cannot be loaded, for want of a
module say, nobody knows that: the engine breaks, or waits for ever. So a few plain
values stand beside the payload, and make of the error a message that the engine knows.
Tested by tests/engines/test_failures.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from waybill.calls import RemoteError, _words_of

#: A function that gets the error and what follows here: plain values, and classes that
#: an engine has.
Instead = tuple[Any, ...]

#: What stands beside a message, by its type. Engines that are installed add theirs.
MESSAGES: dict[type, Callable[[Any], Instead]] = {}


def instead_of(message: object) -> Instead | None:
    """What goes beside a message; None for what is no message of an engine."""
    row = MESSAGES.get(type(message))
    return None if row is None else row(message)


class Raising:
    """In the place of a function that cannot be loaded: raises why."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __call__(self, *args: object, **kwargs: object) -> Any:
        raise self._error


def of_raised(error: BaseException) -> Instead:
    """Beside an exception that a task has raised."""
    return raised, *_words_of(error)


def unwrapped(error: Any) -> Any:
    """An exception, which engines wrap to go with its traceback."""
    return getattr(error, "exc", error)


def raised(failure: BaseException, kind: str, message: str, text: str) -> RemoteError:
    """In the place of an exception: what it was, and why it is not here."""
    error = RemoteError(kind, message, text)
    error.__cause__ = failure
    return error


# ---- Executors of concurrent.futures and of loky, which are made alike: a call has a
# ---- number, under which the executor keeps the future.


def of_call(call: Any) -> Instead:
    return _failing_call, type(call), call.work_id


def _failing_call(error: BaseException, kind: Any, work_id: int) -> Any:
    return kind(work_id, Raising(error), (), {})


def of_result(result: Any) -> Instead:
    rest = {
        name: value
        for name, value in vars(result).items()
        if name not in ("result", "exception")
    }
    error = result.exception
    told = None if error is None else of_raised(unwrapped(error))
    if told is not None and hasattr(error, "tb"):
        told = *told[:-1], error.tb
    return _failed_result, type(result), rest, told


def _failed_result(
    failure: BaseException, kind: Any, rest: dict[str, Any], told: Instead | None
) -> Any:
    return kind(**rest, exception=told_error(failure, told))


def told_error(failure: BaseException, told: Instead | None) -> BaseException:
    """The exception that was told of beside, if one was, or else the failure."""
    if told is None:
        return failure
    make, *words = told
    error: BaseException = make(failure, *words)
    return error
