"""Dask distributed: functions, tasks, results and data are sent by waybill.

    client = distributed.Client(...)
    waybill.integrations.dask.install(client)

The scheduler and all workers of the client are changed too, also workers that join
later. ``install()`` without a client is for clusters that this process starts
afterwards. A scheduler or worker that is started by hand takes the option ``--preload
waybill.integrations.dask``.
docs/integrations/dask.md has the details. Tested by tests/engines/test_dask.py.
"""

from __future__ import annotations

import contextlib
import io
import pickle as standard
import sys
from collections.abc import Callable
from types import NoneType
from typing import Any

from waybill import _core
from waybill._api import lazy
from waybill._api.configuration import option_value
from waybill._api.errors import EncodeError
from waybill._api.functions import dumps_with, fingerprint
from waybill.integrations import _following, pickle
from waybill.integrations._failures import Fallback, Raising, error_fallback
from waybill.integrations._patches import Patches

#: Distributed's own `dumps`, while it is replaced.
_original: Callable[..., bytes] | None = None
_patches = Patches()
#: Settings of Dask: modules that schedulers and workers preload.
_PRELOADS = "distributed.scheduler.preload", "distributed.worker.preload"
#: Setting with the options for workers that this process starts.
_OPTIONS = "waybill.options"
#: Setting with the largest graph that needs no warning.
_LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"
#: Types that gain nothing from waybill.
_PLAIN = (str, bytes, int, float, bool, NoneType)


def install(client: Any = None, **options: Any) -> None:
    """Makes this process send by waybill with Dask, and also the scheduler and workers:
    those of the client, or those that this process starts later.

    Options are those of ``waybill.configure``, for all these processes. Raises
    ModuleNotFoundError if waybill is not installed in one of them.
    """
    _following.set_options(options)
    _install_here()
    _set_preloads(__name__)
    options_payload = _following.packed_options()
    if options_payload:
        import dask.config

        dask.config.set({_OPTIONS: options_payload.hex()})
    if client is not None:
        from waybill.integrations import _dask_plugins

        client.register_plugin(_dask_plugins.OnScheduler(options_payload))
        client.register_plugin(_dask_plugins.OnWorkers(options_payload))


def uninstall(client: Any = None) -> None:
    """Undoes ``install``, on the client's scheduler and workers too."""
    if client is not None:
        from waybill.integrations import _dask_plugins

        for unregister, plugin in (
            (client.unregister_worker_plugin, _dask_plugins.OnWorkers),
            (client.unregister_scheduler_plugin, _dask_plugins.OnScheduler),
        ):
            with contextlib.suppress(ValueError):  # The plugin is not registered.
                unregister(plugin.name)
        client.run(_uninstall_here)
        client.run_on_scheduler(_uninstall_here)
    _set_preloads()
    _uninstall_here()


def dask_setup(service: object) -> None:
    """Dask calls it where this module is preloaded."""
    import dask.config

    _following.follow(bytes.fromhex(dask.config.get(_OPTIONS, "")))
    _install_here()


def dumps(
    x: object,
    *,
    buffer_callback: Callable[[standard.PickleBuffer], object] | None = None,
    protocol: int | None = None,
) -> bytes:
    """Replaces ``distributed.protocol.pickle.dumps``.

    Each object is encoded once, whichever module defines it. An object that cannot be
    sent that way is reduced by the reducers that Dask has for its types.
    """
    if type(x) in _PLAIN:
        return standard.dumps(x, protocol=standard.HIGHEST_PROTOCOL)
    fallback = _fallback_of(x, buffer_callback is None)
    if buffer_callback is not None and protocol is not None and protocol < 5:
        buffer_callback = None
    buffers: list[standard.PickleBuffer] = []
    add_buffer = None if buffer_callback is None else buffers.append
    try:
        result = pickle.dumps_with_fallback(x, fallback, add_buffer)
    except Exception as error:
        if isinstance(error, lazy.find("SizeWarning")):
            raise  # A warning filter makes it an error.
        buffers.clear()
        result = _dumps_by_type(x, fallback, add_buffer)
    _check_graph(x, result, add_buffer)
    if buffer_callback is not None:
        for buffer in buffers:
            buffer_callback(buffer)
    return result


def _check_graph(
    x: object, result: bytes, add_buffer: Callable[[Any], object] | None
) -> None:
    """Warns of a graph above Dask's limit, unless this process sets ``warn_above``."""
    if not hasattr(type(x), "__dask_graph__") or option_value("warn_above") is not None:
        return
    import dask.config
    from dask.utils import parse_bytes

    limit = parse_bytes(dask.config.get(_LARGE_GRAPH, "10MB"))
    if limit and len(result) > limit:
        pickle.warn_of_large(result, x, None, add_buffer)


def family_dumps(x: object) -> tuple[dict[str, Any], list[Any]]:
    """For ``Client(serializers=["waybill"])``: a bare payload, and its buffers."""
    buffers: list[standard.PickleBuffer] = []
    payload = dumps_with(x, buffer_callback=buffers.append, **pickle.options())
    views = [buffer.raw() for buffer in buffers]
    read_only = [view.readonly for view in views]
    return {"serializer": "waybill", "read-only": read_only}, [payload, *views]


def family_loads(header: dict[str, Any], frames: list[Any]) -> Any:
    """The object of ``family_dumps``."""
    payload, *received = frames
    buffers = []
    for frame, is_read_only in zip(received, header["read-only"], strict=True):
        view = memoryview(frame)
        if is_read_only:
            view = view.toreadonly()
        elif view.readonly:
            view = memoryview(bytearray(view))  # The sender's array was writable.
        buffers.append(view)
    return _core.loads(payload, buffers=buffers)


def _fallback_of(x: Any, is_alone: bool) -> Fallback | None:
    """The fallback of a task or an error: a message that cannot be loaded would close
    the connection, again and again."""
    from dask._task_spec import GraphNode

    if isinstance(x, GraphNode):
        return _failing_task, x.key
    if is_alone and isinstance(x, BaseException):  # Not among data with buffers.
        return error_fallback(x)
    return None


def _failing_task(error: BaseException, key: Any) -> Any:
    from dask._task_spec import Task

    return Task(key, Raising(error))


def _dumps_by_type(
    x: object, fallback: Fallback | None, add_buffer: Callable[[Any], object] | None
) -> bytes:
    from distributed.protocol.pickle import _DaskPickler

    class ByType(pickle.Pickler):
        def fallback_of(self, obj: Any) -> Fallback | None:
            return fallback

        def reducer_override(self, obj: Any) -> Any:
            return _DaskPickler.reducer_override(self, obj)

    file = io.BytesIO()
    ByType(file, buffer_callback=add_buffer).dump(x)
    return file.getvalue()


class _Tokens:
    """Replaces cloudpickle where Dask computes the keys of tasks.

    Dask loads each pickle again, to see whether the result has the same pickle. With
    cloudpickle this replaces the methods of this process's classes by copies, which
    have globals of their own and no file, and so no source for other Pythons.
    """

    def __init__(self, original: Any) -> None:
        self._original = original

    def dumps(self, obj: object, **options: Any) -> bytes:
        try:
            return standard.dumps(fingerprint(obj))
        except EncodeError:
            dumped: bytes = self._original.dumps(obj, **options)
            return dumped


def _install_here() -> None:
    import dask.tokenize
    import distributed.protocol.pickle
    from distributed.protocol.serialize import register_serialization_family

    global _original
    if _original is None:
        register_serialization_family("waybill", family_dumps, family_loads)
        _original = distributed.protocol.pickle.dumps
        _replace(_original, dumps)
        original = getattr(dask.tokenize, "cloudpickle", None)
        if original is not None:
            _patches.set(dask.tokenize, "cloudpickle", _Tokens(original))


def _uninstall_here() -> None:
    global _original
    if _original is not None:
        from distributed.protocol.serialize import families

        _replace(dumps, _original)
        _patches.undo()
        _original = None
        del families["waybill"]


def _replace(old: object, new: object) -> None:
    """Replaces ``dumps`` in all modules of distributed: several import it by name."""
    for name, module in list(sys.modules.items()):
        is_of_dask = name.partition(".")[0] == "distributed"
        if is_of_dask and getattr(module, "dumps", None) is old:
            module.dumps = new  # type: ignore[attr-defined]


def _set_preloads(*own: str) -> None:
    """Makes Dask preload these modules after those of others."""
    import dask.config

    for name in _PRELOADS:
        before = dask.config.get(name)
        if isinstance(before, str):  # Set by an environment variable.
            before = [before]
        after = [*(module for module in before if module != __name__), *own]
        if after != before:
            dask.config.set({name: after})
