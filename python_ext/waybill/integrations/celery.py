"""Celery and kombu: a serializer named ``waybill``, whose messages are payloads.

Nothing is pickled: what arrives is loaded under the options of ``waybill.restrict``.
docs/integrations/celery.md says what changes. Tested by tests/engines/test_celery.py.
"""

from __future__ import annotations

import copyreg
import traceback
from typing import Any
from weakref import WeakKeyDictionary

from waybill._api.configuration import configure
from waybill._api.errors import MissingModuleError, PolicyError, PythonMismatchError
from waybill._core import loads
from waybill._pickled import load_or
from waybill.calls import RemoteError
from waybill.integrations import pickle
from waybill.integrations._failures import Instead, of_raised, unwrapped
from waybill.integrations._patches import Patches

#: Why a worker may be unable to load a payload that it trusts.
_REASONS = MissingModuleError, PythonMismatchError, PolicyError

NAME, CONTENT_TYPE, ENCODING = "waybill", "application/x-waybill", "binary"


def __getattr__(name: str) -> Any:
    """SERIALIZER, for the entry points of kombu: it registers what it finds there."""
    if name == "SERIALIZER":
        # Content of entry points is let in wherever nothing else is said. Programs
        # that merely have waybill installed should not run what somebody sends.
        from kombu.serialization import registry

        registry.disable(CONTENT_TYPE)
        return pickle.payload, loads, CONTENT_TYPE, ENCODING
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


#: Settings of apps, and attributes of Celery, as they were before.
_settings: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()
_patches, _patches_of_worker = Patches(), Patches()
_registered = False


def install(app: Any = None, **options: Any) -> None:
    """Registers the serializer; an ``app`` uses it for its tasks and their results.
    Options are those of ``waybill.configure``, in each process that calls this.

    To be called in the module that makes the app, which clients and workers import,
    after the app was configured and before it is used. What the app accepted before,
    json for example, it still accepts.
    """
    global _registered
    configure(**options)
    from celery import signals
    from celery.backends.base import Backend
    from kombu.serialization import registry

    if NAME not in registry.name_to_type:
        registry.register(NAME, pickle.payload, loads, CONTENT_TYPE, ENCODING)
        registry.disable(CONTENT_TYPE)
        _registered = True
    if not _patches:
        _patches.wrap(Backend, "prepare_exception", _with_whole_exceptions)
        _patches.wrap(Backend, "exception_to_python", _of_whole_exceptions)
        signals.worker_init.connect(_prepare_worker)
        # Where processes of workers are spawned, not forked, they start without what
        # the first has done.
        signals.worker_process_init.connect(_prepare_worker)
    if app is not None and app not in _settings:
        _settings[app] = _use_in(app.conf)


def uninstall(app: Any = None) -> None:
    """Undoes ``install``, in an ``app`` its settings."""
    global _registered
    from billiard.einfo import ExceptionInfo
    from billiard.reduction import ForkingPickler
    from celery import signals
    from kombu.serialization import registry

    if app is not None:
        app.conf.update(_settings.pop(app, {}))
    signals.worker_init.disconnect(_prepare_worker)
    signals.worker_process_init.disconnect(_prepare_worker)
    ForkingPickler._extra_reducers.pop(ExceptionInfo, None)
    _patches_of_worker.undo()
    _patches.undo()
    if _registered:
        registry.unregister(NAME)
        registry.enable(CONTENT_TYPE)  # Takes it off the list of what is disabled.
        _registered = False


def _use_in(settings: Any) -> dict[str, Any]:
    """Sets what ``install`` promises; the settings as they were."""
    changed: dict[str, Any] = {"task_serializer": NAME, "result_serializer": NAME}
    for name in ("accept_content", "result_accept_content"):
        accepted = settings[name]
        # None for results: what is accepted for tasks is accepted for them.
        if accepted is not None and not {NAME, CONTENT_TYPE} & set(accepted):
            changed[name] = [*accepted, NAME]
    before = {name: settings[name] for name in changed}
    settings.update(changed)
    return before


# ---- Exceptions in results. Celery stores names and arguments, and makes a class where
# ---- it finds none; here the exception goes along, with its traceback.


def _with_whole_exceptions(original: Any) -> Any:
    def prepare_exception(
        backend: Any, error: BaseException, serializer: str | None = None
    ) -> Any:
        told = original(backend, error, serializer)
        if (serializer or backend.serializer) != NAME:
            return told
        try:
            payload = pickle.payload(error)
        except Exception:  # Whatever its parts raise: then Celery's way has to do.
            return told
        # Only data beside the payload, so that a client which lets nothing else in
        # still learns what was raised.
        args = [arg if _is_plain(arg) else repr(arg) for arg in error.args]
        return {**told, "exc_message": args, NAME: payload}

    return prepare_exception


def _of_whole_exceptions(original: Any) -> Any:
    def exception_to_python(backend: Any, told: Any) -> Any:
        if not isinstance(told, dict) or NAME not in told:
            return original(backend, told)
        try:
            error = loads(told[NAME])
        except Exception as problem:
            error = original(backend, told)
            error.add_note(f"The exception itself cannot be loaded here: {problem}")
            return error
        if not isinstance(error, BaseException):
            return original(backend, told)
        # Celery raises it without its traceback.
        if lines := traceback.format_tb(error.__traceback__):
            error.add_note("It was raised there:\n" + "".join(lines).rstrip())
        return error

    return exception_to_python


def _is_plain(value: object) -> bool:
    return value is None or type(value) in (str, bytes, bool, int, float)


# ---- Within a worker, Celery pickles what it exchanges with its processes.


def _prepare_worker(**_: Any) -> None:
    """Lets through what has come in payloads, or goes out in them."""
    from billiard.einfo import ExceptionInfo
    from billiard.reduction import ForkingPickler
    from celery.app import trace
    from celery.worker.consumer import Consumer
    from celery.worker.request import Request

    if _patches_of_worker:
        return
    name, wrapped = "get_pickleable_exception", _also_what_waybill_carries
    _patches_of_worker.wrap(Request, "request_dict", _without_arguments)
    _patches_of_worker.wrap(Consumer, "on_decode_error", _answering)
    _patches_of_worker.wrap(trace, name, wrapped)
    ForkingPickler.register(ExceptionInfo, _reduce_failure)


def _without_arguments(original: Any) -> Any:
    """``Request.request_dict`` without the decoded arguments: the process that runs the
    task gets them from the body, which goes along."""

    def request_dict(request: Any) -> Any:
        told = original.fget(request)
        if request.content_type == CONTENT_TYPE:
            told = {**told, "args": None, "kwargs": None}
        return told

    return property(request_dict)


def _answering(original: Any) -> Any:
    """``Consumer.on_decode_error``, which drops messages and logs it; here who waits
    for the result learns of it, too. Not of bad signatures: those who cannot sign
    should not bring about results, which the worker signs."""

    def on_decode_error(consumer: Any, message: Any, error: Exception) -> None:
        from celery.app.task import Context

        original(consumer, message, error)
        cause = error.__context__  # What kombu has wrapped.
        request = Context({**message.properties, **message.headers})
        if isinstance(cause, _REASONS) and request.id:
            consumer.app.backend.mark_as_failure(
                request.id,
                cause,
                request=request,
                store_result=not request.ignore_result,
            )

    return on_decode_error


def _also_what_waybill_carries(original: Any) -> Any:
    def get_pickleable_exception(error: BaseException) -> Any:
        told = original(error)
        if told is not error:
            try:
                loads(pickle.payload(error))  # Celery tries pickle in the same way.
            except Exception:
                return told
        return error

    return get_pickleable_exception


def _reduce_failure(failure: Any) -> tuple[Any, ...]:
    """How a process of a worker tells what a task raised."""
    state = dict(vars(failure))
    error: Any = state["exception"]
    if _also_what_waybill_carries(lambda error: None)(error) is error:
        words = of_raised(unwrapped(error))
        state["exception"] = _Whole(error, words)
        state["type"] = _Whole(state["type"], (_type_of_raised,))
    return copyreg.__newobj__, (type(failure),), state  # type: ignore[attr-defined]


class _Whole:
    """An object as a payload; arrives as itself, or as what is made of the error: the
    main process of a worker need not have all that its others have."""

    def __init__(self, obj: object, instead: Instead) -> None:
        self._parts = pickle.payload(obj), instead

    def __reduce__(self) -> tuple[Any, ...]:
        return load_or, self._parts


def _type_of_raised(_: BaseException) -> type:
    return RemoteError
