"""Ray: functions, actor classes, arguments, results and ``ray.put`` go by waybill.

    import waybill.integrations.ray
    waybill.integrations.ray.install()

in the driver, best before ``ray.init()``. Workers follow with the first function or
actor that they load. What Ray says about its own objects, references and actor handles
first of all, holds as before. docs/integrations/ray.md has the details. Tested by
tests/engines/test_ray.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pickle import PickleBuffer
from typing import Any, BinaryIO, NamedTuple

from waybill._api.configuration import chosen
from waybill._api.functions import check_protocol
from waybill._streams.files import write_all
from waybill.integrations import _following
from waybill.integrations._patches import Patches
from waybill.integrations.pickle import calling_first, dumps_with_hooks, tell_size

_patches = Patches()

#: Bytes of a function or an actor class from which on Ray warns, by its constant
#: FUNCTION_SIZE_WARN_THRESHOLD, while it is installed here.
_LARGE = 10**7


def install(**options: Any) -> None:
    """From now on, Ray pickles with waybill in this process, and in the workers that
    load what it has pickled. Options are those of ``waybill.configure``."""
    _following.take(options)
    if _patches:
        return
    import ray.actor
    import ray.cloudpickle
    from ray._private import ray_constants

    global _LARGE
    _LARGE = getattr(ray_constants, "FUNCTION_SIZE_WARN_THRESHOLD", _LARGE)
    # All of Ray looks these two up here each time.
    _patches.set(ray.cloudpickle, "dumps", dumps)
    _patches.set(ray.cloudpickle, "dump", dump)
    _patches.wrap(ray.actor, "_modify_class", _modifying)


def uninstall() -> None:
    """Puts back what was there, in this process. Workers that have started keep
    waybill; ``pickle.loads`` reads what they send."""
    _patches.undo()


def dumps(
    obj: object,
    protocol: int | None = None,
    buffer_callback: Callable[[PickleBuffer], object] | None = None,
) -> bytes:
    """In the place of ``ray.cloudpickle.dumps``."""
    check_protocol(protocol, buffer_callback)
    reducers = _reducers()
    data = dumps_with_hooks(obj, None, reducers, buffer_callback)
    # Ray takes buffers out of band for values only. A worker that gets one has loaded
    # the function or class that is called with it.
    if buffer_callback is not None:
        return data
    if len(data) > _LARGE and chosen("warn_above") is None:
        tell_size(data, obj, reducers, None)
    return calling_first((follow, _following.packed()), data)


def dump(
    obj: object,
    file: BinaryIO,
    protocol: int | None = None,
    buffer_callback: Callable[[PickleBuffer], object] | None = None,
) -> None:
    """In the place of ``ray.cloudpickle.dump``."""
    write_all(file.write, dumps(obj, protocol, buffer_callback))


def follow(told: bytes) -> None:
    """What pickles of functions and classes call first: installs in workers."""
    import ray

    worker = ray._private.worker
    if worker.global_worker.mode == worker.WORKER_MODE:
        _following.follow(told)
        install()


class _Table(NamedTuple):
    """Reducers to be used, and the two tables that they were taken from."""

    reducers: dict[type, Callable[[Any], Any]]
    registered: dict[type, Callable[[Any], Any]]
    of_copyreg: dict[type, Callable[[Any], Any]]


_table = _Table({}, {}, {})


def _reducers() -> dict[type, Callable[[Any], Any]]:
    """What was registered with Ray or with copyreg.

    Ray's reducers of references and actor handles count what is in a value, so that it
    lives as long as the value: no others will do. They stand in one table with those
    of cloudpickle, which waybill does without.
    """
    global _table
    from ray.cloudpickle import CloudPickler

    registered, of_copyreg = CloudPickler.dispatch_table.maps
    if registered != _table.registered or of_copyreg != _table.of_copyreg:
        reducers = of_copyreg | {
            kind: reducer
            for kind, reducer in registered.items()
            if getattr(reducer, "__module__", "") != "ray.cloudpickle.cloudpickle"
        }
        _table = _Table(reducers, registered.copy(), of_copyreg.copy())
    return _table.reducers


def _modifying(modify_class: Callable[[type], type]) -> Callable[[type], type]:
    """Ray derives a class from an actor's, and gives it the name of that, but not the
    qualified name, which cloudpickle does not send. Here messages would show it."""

    def _modify_class(cls: type) -> type:
        modified = modify_class(cls)
        modified.__qualname__ = cls.__qualname__
        return modified

    return _modify_class
