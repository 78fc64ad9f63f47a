"""multiprocessing and concurrent.futures: what goes between processes goes by waybill.

    import waybill.integrations.multiprocessing
    waybill.integrations.multiprocessing.install()

before processes are started. Children follow, whatever their start method.

What a child finds in its own ``__main__``, as it did without waybill, is sent by name;
what it would not find, lambdas and nested functions first of all, by value. docs/
integrations/multiprocessing.md has the details. Tested by
tests/engines/test_multiprocessing.py.
"""

from __future__ import annotations

import copyreg
import functools
import io
import os
import sys
from collections.abc import Callable
from pickle import loads
from types import FunctionType
from typing import Any, BinaryIO

from waybill._core import dumps
from waybill._pickled import load_shared
from waybill.integrations import pickle
from waybill.integrations._patches import Patches

_patches = Patches()


def install() -> None:
    """From now on, processes of this one, pools, queues, pipes and managers use
    waybill; and so do ProcessPoolExecutors."""
    if _patches:
        return
    from multiprocessing import connection, queues, reduction

    # Who registers a reducer with either class, as sharedctypes does, means both.
    original: Any = reduction.ForkingPickler
    ForkingPickler._extra_reducers = original._extra_reducers
    # connection and queues took the class by its name when they were imported.
    _patches.set(connection, "_ForkingPickler", ForkingPickler)
    _patches.set(queues, "_ForkingPickler", ForkingPickler)
    _patches.set(reduction, "ForkingPickler", ForkingPickler)
    _patches.set(reduction, "dump", _dump)


def uninstall() -> None:
    """Puts back what was there; children that have started keep waybill."""
    _patches.undo()


class MainByNamePickler(pickle.Pickler):
    """A Pickler for processes that are started from this one, and share its main."""

    #: The module's name in the process that was started by hand, and in its children.
    names_of_main: tuple[str, ...] = ("__main__", "__mp_main__")

    def reducer_override(self, obj: Any) -> Any:
        if not isinstance(obj, (FunctionType, type)):
            return NotImplemented
        if obj.__module__ not in self.names_of_main:
            return NotImplemented
        main = sys.modules["__main__"]
        if _find(main, obj.__qualname__) is not obj:
            return NotImplemented
        # A child imports main by its name or from its file, and finds all that this
        # process has found there.
        if getattr(main, "__spec__", None) or _is_file(getattr(main, "__file__", "")):
            return _of_main, (obj.__qualname__,)
        # Typed in by hand: a forked child has what was there when it was forked.
        return _of_main_if_there, (obj.__qualname__, dumps(obj))


class ForkingPickler(MainByNamePickler):
    """In the place of ``multiprocessing.reduction.ForkingPickler``."""

    _extra_reducers: dict[type, Callable[[Any], Any]] = {}

    def __init__(self, file: BinaryIO, protocol: int | None = None) -> None:
        super().__init__(file, protocol)
        self.dispatch_table = {**copyreg.dispatch_table, **self._extra_reducers}

    @classmethod
    def register(cls, type: type, reduce: Callable[[Any], Any]) -> None:
        """Registers a reduce function for a type."""
        cls._extra_reducers[type] = reduce

    @classmethod
    def dumps(cls, obj: object, protocol: int | None = None) -> memoryview:
        buffer = io.BytesIO()
        cls(buffer, protocol).dump(obj)
        return buffer.getbuffer()

    loads = staticmethod(loads)


def _dump(obj: object, file: BinaryIO, protocol: int | None = None) -> None:
    """In the place of ``multiprocessing.reduction.dump``, which starts children."""
    from multiprocessing.process import BaseProcess

    if isinstance(obj, BaseProcess):
        ForkingPickler(file, protocol).dump(_Starting(obj))
    else:
        # What comes before: only after this has the child the path to find waybill on.
        import pickle as standard

        standard.dump(obj, file, protocol)


class _Starting:
    """A process that installs waybill where it is started."""

    def __init__(self, process: object) -> None:
        self._process = process

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _started, (self._process,)


def _started(process: object) -> object:
    install()
    return process


def _of_main(name: str) -> object:
    found = _find(sys.modules["__main__"], name)
    if found is None:
        raise AttributeError(
            f"module '__main__' of this process has no {name!r}; if it is defined "
            "under `if __name__ == '__main__':`, define it before that, or send "
            f"waybill.pickled({name})"
        )
    return found


def _of_main_if_there(name: str, payload: bytes) -> object:
    """Main's own, or what is in the payload if main has another one by that name."""
    found, sent = _find(sys.modules["__main__"], name), load_shared(payload)
    if isinstance(sent, FunctionType):
        return found if getattr(found, "__code__", None) == sent.__code__ else sent
    return found if isinstance(found, type) else sent


@functools.cache
def _is_file(path: str) -> bool:
    return os.path.isfile(path)  # There are those like "<stdin>", too.


def _find(main: object, name: str) -> object:
    for part in name.split("."):
        main = getattr(main, part, None)
    return main
