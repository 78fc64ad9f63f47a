"""Celery and kombu: a serializer named ``waybill``, whose messages are payloads.

Nothing is pickled: messages are loaded under the options of ``waybill.restrict``.
docs/integrations/celery.md says what changes. Tested by tests/engines/test_celery.py.
"""

from __future__ import annotations

import copyreg
import traceback
from types import NoneType
from typing import Any
from weakref import WeakKeyDictionary

from waybill._api.configuration import configure
from waybill._api.errors import MissingModuleError, PolicyError, PythonMismatchError
from waybill._core import loads
from waybill._pickled import load_or
from waybill.calls import RemoteError
from waybill.integrations import pickle
from waybill.integrations._failures import Fallback, error_fallback, unwrapped
from waybill.integrations._patches import Patches

#: Types of data that any policy allows.
_PLAIN = str, bytes, bool, int, float, NoneType
#: Errors of loading a payload that the worker trusts.
_REASONS = MissingModuleError, PythonMismatchError, PolicyError

NAME, CONTENT_TYPE, ENCODING = "waybill", "application/x-waybill", "binary"


def __getattr__(name: str) -> Any:
    """SERIALIZER, which kombu registers from its entry points."""
    if name == "SERIALIZER":
        # kombu accepts content of entry points by default. A program that merely has
        # waybill installed must not run code from received messages.
        from kombu.serialization import registry

        registry.disable(CONTENT_TYPE)
        return pickle.payload, loads, CONTENT_TYPE, ENCODING
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


#: Original settings of apps, and original attributes of Celery.
_settings: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()
_patches, _patches_of_worker = Patches(), Patches()
_is_registered = False


def install(app: Any = None, **options: Any) -> None:
    """Registers the serializer; an ``app`` uses it for its tasks and their results.
    Options are those of ``waybill.configure``, in each process that calls this.

    Call it in the module that makes the app, which clients and workers import, after
    the app is configured and before it is used. Other content that the app accepts, for
    example json, it still accepts.
    """
    global _is_registered
    configure(**options)
    from celery import signals
    from celery.backends.base import Backend
    from kombu.serialization import registry

    if NAME not in registry.name_to_type:
        registry.register(NAME, pickle.payload, loads, CONTENT_TYPE, ENCODING)
        registry.disable(CONTENT_TYPE)
        _is_registered = True
    if not _patches:
        _patches.wrap(Backend, "prepare_exception", _wrap_prepare_exception)
        _patches.wrap(Backend, "exception_to_python", _wrap_exception_to_python)
        signals.worker_init.connect(_prepare_worker)
        # Spawned processes, unlike forked ones, lack the changes of their parent.
        signals.worker_process_init.connect(_prepare_worker)
    if app is not None and app not in _settings:
        _settings[app] = _apply_settings(app.conf)


def uninstall(app: Any = None) -> None:
    """Undoes ``install``, and restores the settings of an ``app``."""
    global _is_registered
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
    if _is_registered:
        registry.unregister(NAME)
        registry.enable(CONTENT_TYPE)  # Removes it from the disabled types.
        _is_registered = False


def _apply_settings(settings: Any) -> dict[str, Any]:
    """Sets the settings that ``install`` describes; returns their old values."""
    changed: dict[str, Any] = {"task_serializer": NAME, "result_serializer": NAME}
    for name in ("accept_content", "result_accept_content"):
        accepted = settings[name]
        # None for results means that the setting for tasks applies.
        if accepted is not None and not {NAME, CONTENT_TYPE} & set(accepted):
            changed[name] = [*accepted, NAME]
    before = {name: settings[name] for name in changed}
    settings.update(changed)
    return before


# ---- Exceptions in results. Celery stores the name and arguments of an exception, and
# ---- makes a new class if it does not find the class. Here the result also has the
# ---- exception itself, with its traceback.


def _wrap_prepare_exception(original: Any) -> Any:
    def prepare_exception(
        backend: Any, error: BaseException, serializer: str | None = None
    ) -> Any:
        stored = original(backend, error, serializer)
        if (serializer or backend.serializer) != NAME:
            return stored
        try:
            payload = pickle.payload(error)
        except Exception:  # Raised by objects in it: leave it to Celery.
            return stored
        # Only data beside the payload, so that a client whose policy allows only data
        # can still read what was raised.
        args = [arg if type(arg) in _PLAIN else repr(arg) for arg in error.args]
        return {**stored, "exc_message": args, NAME: payload}

    return prepare_exception


def _wrap_exception_to_python(original: Any) -> Any:
    def exception_to_python(backend: Any, stored: Any) -> Any:
        if not isinstance(stored, dict) or NAME not in stored:
            return original(backend, stored)
        try:
            error = loads(stored[NAME])
        except Exception as problem:
            error = original(backend, stored)
            error.add_note(f"The exception itself cannot be loaded here: {problem}")
            return error
        if not isinstance(error, BaseException):
            return original(backend, stored)
        # Celery raises it without its traceback.
        if lines := traceback.format_tb(error.__traceback__):
            error.add_note("Raised in the worker:\n" + "".join(lines).rstrip())
        return error

    return exception_to_python


# ---- Celery pickles the messages between a worker and its processes.


def _prepare_worker(**_: Any) -> None:
    """Lets messages hold objects that only payloads can carry."""
    from billiard.einfo import ExceptionInfo
    from billiard.reduction import ForkingPickler
    from celery.app import trace
    from celery.worker.consumer import Consumer
    from celery.worker.request import Request

    if _patches_of_worker:
        return
    _patches_of_worker.wrap(Request, "request_dict", _wrap_request_dict)
    _patches_of_worker.wrap(Consumer, "on_decode_error", _wrap_on_decode_error)
    _patches_of_worker.wrap(
        trace, "get_pickleable_exception", _wrap_get_pickleable_exception
    )
    ForkingPickler.register(ExceptionInfo, _reduce_failure)


def _wrap_request_dict(original: Any) -> Any:
    """``Request.request_dict`` without decoded arguments: the process that runs the
    task decodes them from the body, which is in the message too."""

    def request_dict(request: Any) -> Any:
        message = original.fget(request)
        if request.content_type == CONTENT_TYPE:
            message = {**message, "args": None, "kwargs": None}
        return message

    return property(request_dict)


def _wrap_on_decode_error(original: Any) -> Any:
    """``Consumer.on_decode_error``, which drops a message and logs that. Here it also
    fails the task, so that no client waits for it, but not after a bad signature: a
    sender without a key must not cause results, which the worker signs."""

    def on_decode_error(consumer: Any, message: Any, error: Exception) -> None:
        from celery.app.task import Context

        original(consumer, message, error)
        cause = error.__context__  # kombu raises an error of its own.
        request = Context({**message.properties, **message.headers})
        if isinstance(cause, _REASONS) and request.id:
            consumer.app.backend.mark_as_failure(
                request.id,
                cause,
                request=request,
                store_result=not request.ignore_result,
            )

    return on_decode_error


def _wrap_get_pickleable_exception(original: Any) -> Any:
    def get_pickleable_exception(error: BaseException) -> Any:
        pickleable = original(error)
        if pickleable is not error:
            try:
                loads(pickle.payload(error))  # Celery tries pickle in the same way.
            except Exception:
                return pickleable
        return error

    return get_pickleable_exception


def _reduce_failure(failure: Any) -> tuple[Any, ...]:
    """Reduces the failure of a task, which a worker's process sends to its parent."""
    state = dict(vars(failure))
    error: Any = state["exception"]
    if _wrap_get_pickleable_exception(lambda error: None)(error) is error:
        fallback = error_fallback(unwrapped(error))
        state["exception"] = _WithFallback(error, fallback)
        state["type"] = _WithFallback(state["type"], (_type_of_raised,))
    return copyreg.__newobj__, (type(failure),), state  # type: ignore[attr-defined]


class _WithFallback:
    """A payload with a fallback: the main process of a worker may lack modules that its
    child processes have."""

    def __init__(self, obj: object, fallback: Fallback) -> None:
        self._parts = pickle.payload(obj), fallback

    def __reduce__(self) -> tuple[Any, ...]:
        return load_or, self._parts


def _type_of_raised(_: BaseException) -> type:
    return RemoteError
