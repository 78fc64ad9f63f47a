"""Ray: functions, actor classes, arguments, results, ``ray.put`` travel by waybill.

    import waybill.integrations.ray
    waybill.integrations.ray.install()

in the driver, best before ``ray.init()``. Workers follow with the first function or
actor that they load. Ray's own reducers, those of references and actor handles above
all, stay in use. docs/integrations/ray.md has the details. Tested by
tests/engines/test_ray.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from waybill._api.configuration import option_value
from waybill._api.functions import check_protocol
from waybill.integrations import _following, pickle
from waybill.integrations._patches import Patches

_patches = Patches()

#: Ray warns of larger functions and actor classes; its own constant replaces this.
_LARGE = 10**7


def install(**options: Any) -> None:
    """Makes Ray send by waybill in this process, and in the workers that load its
    pickles. Options are those of ``waybill.configure``."""
    _following.set_options(options)
    if _patches:
        return
    import ray.actor
    import ray.cloudpickle
    from ray._private import ray_constants

    global _LARGE
    _LARGE = getattr(ray_constants, "FUNCTION_SIZE_WARN_THRESHOLD", _LARGE)
    # All modules of Ray look these two up here on each call.
    _patches.set(ray.cloudpickle, "dumps", dumps)
    _patches.set(ray.cloudpickle, "dump", pickle.dump_by(dumps))
    _patches.wrap(ray.actor, "_modify_class", _wrap_modify_class)


def uninstall() -> None:
    """Undoes ``install`` in this process. Workers that have started keep waybill;
    ``pickle.loads`` reads their messages."""
    _patches.undo()


def dumps(
    obj: object,
    protocol: int | None = None,
    buffer_callback: pickle.BufferCallback | None = None,
) -> bytes:
    """Replaces ``ray.cloudpickle.dumps``."""
    check_protocol(protocol, buffer_callback)
    reducers = _reducers()
    data = pickle.dumps_with_hooks(obj, reducers, buffer_callback)
    # Ray takes buffers out of band for values only. A worker that gets a value has
    # loaded the function or class that is called with it.
    if buffer_callback is not None:
        return data
    if len(data) > _LARGE and option_value("warn_above") is None:
        pickle.warn_of_large(data, obj, reducers, None)
    return pickle.prepend_call((follow, _following.packed_options()), data)


def follow(options: bytes) -> None:
    """The first call of a pickled function or class: installs waybill in workers."""
    import ray

    worker = ray._private.worker
    if worker.global_worker.mode == worker.WORKER_MODE:
        _following.follow(options)
        install()


class _Table(NamedTuple):
    """The reducers in use, and copies of the two tables that they come from."""

    reducers: dict[type, pickle.Reducer]
    registered: dict[type, pickle.Reducer]
    of_copyreg: dict[type, pickle.Reducer]


_table = _Table({}, {}, {})


def _reducers() -> dict[type, pickle.Reducer]:
    """The reducers registered with Ray or with copyreg.

    Ray's reducers of references and actor handles count the references in a value, so
    that their objects live as long as the value: they must be used. Their table also
    has reducers of cloudpickle, which waybill does not use.
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


def _wrap_modify_class(modify_class: Callable[[type], type]) -> Callable[[type], type]:
    """Ray derives a class from an actor's class, with its name but not its qualified
    name. cloudpickle does not send that name; with waybill, messages would show it."""

    def _modify_class(cls: type) -> type:
        modified = modify_class(cls)
        modified.__qualname__ = cls.__qualname__
        return modified

    return _modify_class
