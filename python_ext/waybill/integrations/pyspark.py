"""PySpark: functions, and data with functions or classes of main, are sent by waybill.

    import waybill.integrations.pyspark
    waybill.integrations.pyspark.install()

in the driver. Workers follow with the first function that they load. Data that pickle
can carry stays a plain pickle, since Spark's JVM reads such data as well.
docs/integrations/pyspark.md has the details. Tested by tests/engines/test_pyspark.py.
"""

from __future__ import annotations

import io
import os
from functools import cache
from types import FunctionType
from typing import Any

from waybill._api.errors import EncodeError
from waybill._api.functions import check_protocol
from waybill.integrations import _following, pickle
from waybill.integrations._patches import Patches

_patches = Patches()


def install(**options: Any) -> None:
    """Makes PySpark send by waybill in this process, and in the workers that load its
    pickles. Options are those of ``waybill.configure``."""
    _following.set_options(options)
    if _patches:
        return
    from pyspark import cloudpickle

    # CloudPickleSerializer, which is also CPickleSerializer, looks them up here.
    _patches.set(cloudpickle, "dumps", dumps)
    _patches.set(cloudpickle, "dump", pickle.dump_by(dumps))


def uninstall() -> None:
    """Undoes ``install`` in this process. Workers that have started keep waybill;
    ``pickle.loads`` reads their messages."""
    _patches.undo()


def dumps(
    obj: object,
    protocol: int | None = None,
    buffer_callback: pickle.BufferCallback | None = None,
) -> bytes:
    """Replaces ``pyspark.cloudpickle.dumps``."""
    check_protocol(protocol, buffer_callback)
    if buffer_callback is None:
        try:
            return _dumps_plain(obj, protocol)
        except Exception:
            # The object travels by value; or it cannot be sent: raise waybill's error.
            pass
    data = pickle.dumps_with_hooks(obj, None, buffer_callback)
    return pickle.prepend_call((follow, _following.packed_options()), data)


def follow(options: bytes) -> None:
    """The first call of each pickle: installs waybill in workers."""
    if os.environ.get("SPARK_PYTHON_RUNTIME") == "PYTHON_WORKER":
        _following.follow(options)
        install()


def _dumps_plain(obj: object, protocol: int | None) -> bytes:
    """A pickle with all functions and classes by name. Raises anything without one."""
    file = io.BytesIO()
    pickler = _plain_pickler()(file, protocol)
    pickler.by_value = tuple(f"{name}." for name in pickle.modules_by_value() or ())
    pickler.dump(obj)
    return file.getvalue()


@cache
def _plain_pickler() -> Any:
    """PySpark's Pickler, with its reducers, for pickles that the JVM can read."""
    from pyspark.cloudpickle import cloudpickle

    is_importable = cloudpickle._should_pickle_by_reference

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        by_value: tuple[str, ...]  # Names of modules, each with a dot behind it.

        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, (FunctionType, type)) and (
                not is_importable(obj) or f"{obj.__module__}.".startswith(self.by_value)
            ):
                raise EncodeError("a function or class that travels by value")
            return NotImplemented

    return Pickler
