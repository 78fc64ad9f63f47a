"""Calls that travel: a payload with a function and its arguments goes out, one with the
outcome comes back.

docs/calls.md says what is in them. Tested by tests/python/api/test_calls.py.
"""

from __future__ import annotations

from waybill._api.errors import Error, refusal
from waybill._core import PreparedCall, dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from typing_extensions import Buffer

    from waybill._api.configuration import Compress
    from waybill.security import SigningKey

__all__ = [
    "CallError",
    "PreparedCall",
    "RemoteError",
    "dumps_call",
    "loads_outcome",
    "result_of",
    "run_call",
]


class CallError(Error):
    """A call was not made where it was sent, or has not come to an end: who sends it
    again may have it run twice.

    ``code`` names why in one word, ``timed_out`` or ``bad_signature`` for example, and
    ``detail`` in a sentence. Whoever makes the calls chooses both.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code, detail)
        self.code, self.detail = code, detail

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"


class RemoteError(Error):
    """A call raised something that is not raised here: it could not travel, cannot be
    loaded or is not let in, or it would end this process.

    ``type_name`` and ``message`` tell what it was; ``traceback``, which is a note too,
    is its text. The ``__cause__`` is what went wrong when it was loaded.
    """

    def __init__(self, type_name: str, message: str, traceback: str) -> None:
        super().__init__(type_name, message, traceback)
        self.type_name, self.message, self.traceback = type_name, message, traceback
        self.add_note("It was raised there:\n" + traceback.rstrip())

    def __str__(self) -> str:
        return f"{self.type_name}: {self.message}"


def dumps_call(
    function: Callable[..., object],
    args: Sequence[object] = (),
    kwargs: Mapping[str, object] | None = None,
    **options: Any,
) -> bytes:
    """A payload that asks for ``function(*args, **kwargs)``; options of ``dumps``."""
    return dumps((function, tuple(args), dict(kwargs or {})), **options)


def run_call(
    data: Buffer,
    *,
    key: SigningKey | None = None,
    compress: Compress | None = None,
    **options: Any,
) -> bytes:
    """Makes the call in a payload of ``dumps_call``; its outcome as a payload.

    What the function raises is an outcome too, SystemExit included; KeyboardInterrupt
    alone comes through, for it is meant for this process. ``key`` signs the outcome,
    and ``compress`` is about it as that of ``dumps``; other options are those of
    ``loads``. Raises what ``loads`` raises, and DecodeError for a payload that is no
    call.
    """
    return _carry_out(loads(data, **options), compress, key)


def _carry_out(
    call: object, compress: Compress | None = None, key: SigningKey | None = None
) -> bytes:
    """``run_call`` with what is in the payload."""
    function, args, kwargs = _parts_of(call)
    try:
        return dumps({"result": function(*args, **kwargs)}, key=key, compress=compress)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # This frame is nothing that the sender knows.
        error.__traceback__ = _without_first(error)
        told = _described(error)
    return dumps({"raised": told}, key=key, compress=compress)


def loads_outcome(data: Buffer, **options: Any) -> Any:
    """What the call returned; or raises what it raised. Options: those of loads.

    The exception has the traceback that it had there. Raises RemoteError for one that
    could not travel, cannot be loaded here or is not let in, or that would end this
    process, as SystemExit would; CallError if the call was not made or has not come to
    an end.
    """
    return result_of(loads(data, **options), **options)


def result_of(outcome: object, **options: Any) -> Any:
    """``loads_outcome`` for an outcome that is loaded already, from a stream say.

    What was raised is in a payload of its own, and loaded here: ``policy``, ``limits``
    and ``renames`` have to be given here too, or it is loaded without.
    """
    match outcome:
        case {"result": value}:
            return value
        case {"raised": {"type": str(), "message": str(), "traceback": str()} as told}:
            raise _exception_of(told, options)
        case {"failed": {"code": str(code), "detail": str(detail)}}:
            raise CallError(code, detail)
    raise refusal("malformed", "the payload is no outcome of a call", 0)


#: Options of loads that hold for what was raised.
_OF_ERRORS = "policy", "limits", "renames"


def _parts_of(call: object) -> tuple[Callable[..., object], Sequence[Any], Any]:
    match call:
        case (function, tuple() as args, dict() as kwargs) if (
            isinstance(call, tuple)
            and callable(function)
            and all(isinstance(name, str) for name in kwargs)
        ):
            return function, args, kwargs
    raise refusal("malformed", "the payload is no call; dumps_call() makes one", 0)


def _without_first(error: BaseException) -> Any:
    place = error.__traceback__
    return place.tb_next if place is not None else None


def _described(error: BaseException) -> dict[str, object]:
    """An exception as plain data, with itself in a payload of its own: who lets in data
    only can read the rest."""
    told: dict[str, object] = dict(
        zip(("type", "message", "traceback"), _words_of(error), strict=True)
    )
    try:
        told["exception"] = dumps(error)
    except BaseException as failure:  # Something that hangs on it cannot travel.
        told["exception"] = None
        told["why"] = f"{type(failure).__name__}: {failure}"
    return told


def _words_of(error: BaseException) -> tuple[str, str, str]:
    """The name of an exception's type, its message and its traceback."""
    import traceback

    kind = type(error)
    # All of these run code of the exception's class, which may raise anything.
    try:
        message = str(error)
    except BaseException as failure:
        message = f"<no message: {type(failure).__name__}>"
    try:
        text = "".join(traceback.format_exception(error))
    except BaseException as failure:
        text = f"<no traceback: {type(failure).__name__}>"
    return f"{kind.__module__}.{kind.__qualname__}", message, text


def _exception_of(told: Mapping[str, Any], options: Mapping[str, Any]) -> Exception:
    terms = {name: options[name] for name in _OF_ERRORS if name in options}
    remote = RemoteError(told["type"], told["message"], told["traceback"])
    if told.get("exception") is None:
        remote.add_note(f"It could not travel: {told.get('why', 'nobody says why')}")
        return remote
    try:
        error = loads(told["exception"], **terms)
        if isinstance(error, Exception):
            return error
    except KeyboardInterrupt:
        raise
    except BaseException as failure:
        remote.__cause__ = failure
    return remote
