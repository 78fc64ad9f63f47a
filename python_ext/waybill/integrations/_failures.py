"""Substitutes for messages of an engine that their receiver cannot load.

A message names the task or client that waits for it. If it cannot be loaded, for
example because a module is missing, that name is lost: the engine breaks, or waits for
ever. So the pickle has a few plain values beside the payload, from which the receiver
makes a message with the error. Tested by tests/engines/test_failures.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from waybill.calls import RemoteError, _texts_of

#: (function, *values): the function is called with the error and these values, which
#: are plain values or classes of an engine.
Fallback = tuple[Any, ...]

#: Makes the fallback of a message, by its type. Installed integrations add to it.
MESSAGES: dict[type, Callable[[Any], Fallback]] = {}


def fallback_of(message: object) -> Fallback | None:
    """The fallback to send beside a message; None if it is not one of an engine."""
    row = MESSAGES.get(type(message))
    return None if row is None else row(message)


class Raising:
    """Stands for a function that cannot be loaded, and raises the error of loading."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __call__(self, *args: object, **kwargs: object) -> Any:
        raise self._error


def error_fallback(error: BaseException) -> Fallback:
    """The fallback of an exception that a task raised."""
    return raised, *_texts_of(error)


def unwrapped(error: Any) -> Any:
    """The exception in the wrapper in which engines send its traceback."""
    return getattr(error, "exc", error)


def raised(failure: BaseException, kind: str, message: str, text: str) -> RemoteError:
    """The error in place of an exception that cannot be loaded; ``failure`` is why.

    Payloads hold the name of this function.
    """
    error = RemoteError(kind, message, text)
    error.__cause__ = failure
    return error


# ---- Executors of concurrent.futures and of loky: both number their calls, and store
# ---- the future of a call under its number.


def call_fallback(call: Any) -> Fallback:
    return _failing_call, type(call), call.work_id


def _failing_call(error: BaseException, kind: Any, work_id: int) -> Any:
    return kind(work_id, Raising(error), (), {})


def result_fallback(result: Any) -> Fallback:
    rest = {
        name: value
        for name, value in vars(result).items()
        if name not in ("result", "exception")
    }
    error = result.exception
    described = None if error is None else error_fallback(unwrapped(error))
    if described is not None and hasattr(error, "tb"):
        described = *described[:-1], error.tb
    return _failed_result, type(result), rest, described


def _failed_result(
    failure: BaseException, kind: Any, rest: dict[str, Any], described: Fallback | None
) -> Any:
    return kind(**rest, exception=error_of(failure, described))


def error_of(failure: BaseException, fallback: Fallback | None) -> BaseException:
    """The exception that a fallback describes, or the failure if there is none."""
    if fallback is None:
        return failure
    make, *values = fallback
    error: BaseException = make(failure, *values)
    return error
