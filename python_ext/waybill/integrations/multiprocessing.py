"""multiprocessing and concurrent.futures: processes send to each other by waybill.

    import waybill.integrations.multiprocessing
    waybill.integrations.multiprocessing.install()

before processes are started. Children follow, with any start method.

Globals that a child finds in its own ``__main__`` are sent by name, as without waybill;
others, lambdas and nested functions above all, by value.
docs/integrations/multiprocessing.md has the details. Tested by
tests/engines/test_multiprocessing.py and test_multiprocessing_main.py.
"""

from __future__ import annotations

import copyreg
import functools
import io
import os
import sys
from collections.abc import Callable
from pickle import dump, loads
from types import FunctionType
from typing import Any, BinaryIO

from waybill._api.errors import EncodeError
from waybill._pickled import load_shared
from waybill.integrations import _following, pickle
from waybill.integrations._failures import MESSAGES, call_fallback, result_fallback
from waybill.integrations._patches import Patches

_patches = Patches()


def install(**options: Any) -> None:
    """Makes this process and its children use waybill in pools, queues, pipes, managers
    and ProcessPoolExecutors. Options are those of ``waybill.configure``, for all."""
    _following.set_options(options)
    if _patches:
        return
    from concurrent.futures import process
    from multiprocessing import connection, pool, queues, reduction

    record_forks()
    # Share the reducers: sharedctypes and others register theirs with either class.
    original: Any = reduction.ForkingPickler
    ForkingPickler._extra_reducers = original._extra_reducers
    # connection and queues have imported the class by name.
    _patches.set(connection, "_ForkingPickler", ForkingPickler)
    _patches.set(queues, "_ForkingPickler", ForkingPickler)
    _patches.set(reduction, "ForkingPickler", ForkingPickler)
    _patches.set(reduction, "dump", _dump)
    from waybill.integrations import _pools

    _patches.set(pool.Pool, "_setup_queues", _pools.set_up_queues)
    _pools.report_lost_tasks(_patches)
    MESSAGES[process._CallItem] = call_fallback
    MESSAGES[process._ResultItem] = result_fallback


def uninstall() -> None:
    """Undoes ``install``; children that have started keep waybill."""
    _patches.undo()


class MainByNamePickler(pickle.Pickler):
    """A Pickler for processes that this one starts, and that share its main module."""

    #: Names of the main module: in the first process, and in its children.
    names_of_main: tuple[str, ...] = ("__main__", "__mp_main__")

    def reducer_override(self, obj: Any) -> Any:
        name, reduction = self._name_of(obj)
        module = getattr(obj, "__module__", None)
        if not isinstance(name, str) or module not in self.names_of_main:
            return reduction
        main = sys.modules["__main__"]
        if _find(main, name) is not obj:
            return reduction
        if self.receiver_has(main, name, obj):
            return _find_in_main, (name,)
        # Children that were forked earlier may have the object nevertheless.
        try:
            return _find_in_main_or_load, (name, pickle.payload(obj))
        except EncodeError as error:
            return _find_in_main, (name, f"it cannot be sent either: {error}")

    def receiver_has(self, main: Any, name: str, obj: object) -> bool:
        """Whether the receiver imports main by name or from its file, and so has all
        globals of this process; False if main was typed at a prompt."""
        file = getattr(main, "__file__", "")
        return bool(getattr(main, "__spec__", None)) or _is_file(file)

    def _name_of(self, obj: Any) -> tuple[Any, Any]:
        """(name, result of ``__reduce__``) of an object that pickle sends by name, such
        as a function, a result of ``lru_cache`` or a type variable. Each is
        NotImplemented if it does not exist or was not needed."""
        if isinstance(obj, (FunctionType, type)):
            return obj.__qualname__, NotImplemented
        kind: Any = type(obj)
        reduce = kind.__reduce__
        registered = getattr(self, "dispatch_table", copyreg.dispatch_table)
        if reduce is object.__reduce__ or kind in registered:
            return NotImplemented, NotImplemented
        if getattr(reduce, "__module__", None) in self.names_of_main:
            reduction = obj.__reduce__()
            return reduction, reduction
        name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
        return name, NotImplemented


class ChildrenPickler(MainByNamePickler):
    """For processes that multiprocessing starts."""

    def receiver_has(self, main: Any, name: str, obj: object) -> bool:
        if _forked.get(name) == _codes(obj):
            return True
        spec = getattr(main, "__spec__", None)
        # Children do not import the main module of a package (`python -m package`).
        if spec is not None and spec.name.rpartition(".")[2] == "__main__":
            return False
        return super().receiver_has(main, name, obj)


#: Functions and classes of main when the last child was forked, with their code; empty
#: if a child was started in another way since then.
_forked: dict[str, list[Any]] = {}


@functools.cache
def record_forks() -> None:
    """Makes ChildrenPickler send the functions and classes that forked children have by
    name, without the data that they refer to. Cannot be undone."""

    def record() -> None:
        global _forked
        kinds = FunctionType, type, functools._lru_cache_wrapper
        main = list(vars(sys.modules["__main__"]).items())
        _forked = {
            name: _codes(obj) for name, obj in main if issubclass(type(obj), kinds)
        }

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=record)


class ForkingPickler(ChildrenPickler):
    """Replaces ``multiprocessing.reduction.ForkingPickler``."""

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
    """Replaces ``multiprocessing.reduction.dump``, which starts children."""
    from multiprocessing.process import BaseProcess

    if isinstance(obj, BaseProcess):
        global _forked
        _forked = {}
        data = ForkingPickler.dumps(obj, protocol)
        first = _start, _following.packed_options()
        file.write(pickle.prepend_call(first, bytes(data)))
    else:
        # The preparation data: after it the child has the path to import waybill from.
        dump(obj, file, protocol)


def _start(options: bytes) -> None:
    """The first call in a child that was not forked."""
    _following.follow(options)
    install()


def _find_in_main(name: str, advice: str = "") -> object:
    found = _find(sys.modules["__main__"], name)
    if found is None:
        advice = advice or (
            "if it is defined under `if __name__ == '__main__':`, define it before "
            f"that, or send waybill.pickled({name})"
        )
        problem = f"module '__main__' of this process has no {name!r}"
        raise AttributeError(f"{problem}; {advice}")
    return found


def _find_in_main_or_load(name: str, payload: bytes) -> object:
    """The global of main, or the object in the payload if main has another one."""
    found, sent = _find(sys.modules["__main__"], name), load_shared(payload)
    if isinstance(sent, type):
        return found if isinstance(found, type) else sent
    is_same = type(found) is type(sent) and _codes(found) == _codes(sent)
    return found if is_same else sent


def _codes(function: Any) -> list[Any]:
    """The code of a function, and of the functions that it wraps."""
    codes: list[Any] = []
    while function is not None and len(codes) < 100:
        codes.append(getattr(function, "__code__", None))
        function = getattr(function, "__wrapped__", None)
    return codes


@functools.cache
def _is_file(path: str) -> bool:
    return os.path.isfile(path)  # False for names such as "<stdin>".


def _find(main: object, name: str) -> object:
    for part in name.split("."):
        main = getattr(main, part, None)
    return main
