"""Calls between processes: one payload holds a function and its arguments, another one
the outcome.

docs/calls.md describes both. Tested by tests/python/api/test_calls.py.
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
    """A call was not made, or its outcome is unknown: a retry may run it twice.

    ``code`` is the reason as an identifier, such as ``timed_out`` or ``bad_signature``;
    ``detail`` is one sentence. The software that makes the calls chooses both.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code, detail)
        self.code, self.detail = code, detail

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"


class RemoteError(Error):
    """A call raised an exception that is not raised here: it could not be sent, cannot
    be loaded, is denied by a policy, or would end this process.

    ``type_name`` and ``message`` describe it; ``traceback``, which is also a note, is
    its text. The ``__cause__`` is the error of loading it.
    """

    def __init__(self, type_name: str, message: str, traceback: str) -> None:
        super().__init__(type_name, message, traceback)
        self.type_name, self.message, self.traceback = type_name, message, traceback
        self.add_note("Raised in the other process:\n" + traceback.rstrip())

    def __str__(self) -> str:
        return f"{self.type_name}: {self.message}"


def dumps_call(
    function: Callable[..., object],
    args: Sequence[object] = (),
    kwargs: Mapping[str, object] | None = None,
    **options: Any,
) -> bytes:
    """A payload that requests ``function(*args, **kwargs)``; options of ``dumps``."""
    return dumps((function, tuple(args), dict(kwargs or {})), **options)


def run_call(
    data: Buffer,
    *,
    key: SigningKey | None = None,
    compress: Compress | None = None,
    **options: Any,
) -> bytes:
    """Makes the call in a payload of ``dumps_call``; returns its outcome as a payload.

    An exception of the function is an outcome too, also SystemExit; KeyboardInterrupt
    is raised, since it is meant for this process. ``key`` signs the outcome and
    ``compress`` compresses it, as in ``dumps``; other options are those of ``loads``.
    Raises what ``loads`` raises, and DecodeError if the payload does not hold a call.
    """
    return _carry_out(loads(data, **options), compress, key)


def _carry_out(
    call: object, compress: Compress | None = None, key: SigningKey | None = None
) -> bytes:
    """``run_call`` for a loaded call. The C++ library calls it."""
    function, args, kwargs = _parts_of(call)
    try:
        return dumps({"result": function(*args, **kwargs)}, key=key, compress=compress)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # Leave out this frame, which is not part of the sender's code.
        if error.__traceback__ is not None:
            error.__traceback__ = error.__traceback__.tb_next
        described = _describe(error)
    return dumps({"raised": described}, key=key, compress=compress)


def loads_outcome(data: Buffer, **options: Any) -> Any:
    """The result of a call, or raises its exception. Options are those of ``loads``.

    The exception has its original traceback. Raises RemoteError in place of one that
    could not be sent, cannot be loaded, is denied by a policy, or would end this
    process, as SystemExit would; CallError if the call was not made or its outcome is
    unknown.
    """
    return result_of(loads(data, **options), **options)


def result_of(outcome: object, **options: Any) -> Any:
    """``loads_outcome`` for an outcome that is loaded already, for example from a
    stream.

    An exception is in a payload of its own and loaded here: pass ``policy``, ``limits``
    and ``renames`` here as well, or they do not apply to it.
    """
    match outcome:
        case {"result": value}:
            return value
        case {
            "raised": {"type": str(), "message": str(), "traceback": str()} as raised
        }:
            raise _load_exception(raised, options)
        case {"failed": {"code": str(code), "detail": str(detail)}}:
            raise CallError(code, detail)
    raise refusal("malformed", "the payload is not the outcome of a call", 0)


#: Options of ``loads`` that apply to the payload of an exception.
_EXCEPTION_OPTIONS = "policy", "limits", "renames"


def _parts_of(call: object) -> tuple[Callable[..., object], Sequence[Any], Any]:
    match call:
        case (function, tuple() as args, dict() as kwargs) if (
            isinstance(call, tuple)
            and callable(function)
            and all(isinstance(name, str) for name in kwargs)
        ):
            return function, args, kwargs
    raise refusal("malformed", "the payload is not a call; dumps_call() makes one", 0)


def _describe(error: BaseException) -> dict[str, object]:
    """An exception as data, and in a payload of its own that policies may refuse."""
    described: dict[str, object] = dict(
        zip(("type", "message", "traceback"), _texts_of(error), strict=True)
    )
    try:
        described["exception"] = dumps(error)
    except BaseException as failure:  # An object that it refers to cannot be sent.
        described["exception"] = None
        described["why"] = f"{type(failure).__name__}: {failure}"
    return described


def _texts_of(error: BaseException) -> tuple[str, str, str]:
    """(full name of the type, message, traceback) of an exception, as text."""
    import traceback

    kind = type(error)
    # Both calls run code of the exception's class, which may raise anything.
    try:
        message = str(error)
    except BaseException as failure:
        message = f"<no message: {type(failure).__name__}>"
    try:
        text = "".join(traceback.format_exception(error))
    except BaseException as failure:
        text = f"<no traceback: {type(failure).__name__}>"
    return f"{kind.__module__}.{kind.__qualname__}", message, text


def _load_exception(raised: Mapping[str, Any], options: Mapping[str, Any]) -> Exception:
    used = {name: options[name] for name in _EXCEPTION_OPTIONS if name in options}
    remote = RemoteError(raised["type"], raised["message"], raised["traceback"])
    if raised.get("exception") is None:
        remote.add_note(
            f"It could not travel: {raised.get('why', 'no reason is given')}"
        )
        return remote
    try:
        error = loads(raised["exception"], **used)
        if isinstance(error, Exception):
            return error
    except KeyboardInterrupt:
        raise
    except BaseException as failure:
        remote.__cause__ = failure
    return remote
