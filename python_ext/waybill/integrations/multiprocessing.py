"""multiprocessing and concurrent.futures: what goes between processes goes by waybill.

    import waybill.integrations.multiprocessing
    waybill.integrations.multiprocessing.install()

before processes are started. Children follow, whatever their start method.

What a child finds in its own ``__main__``, as it did without waybill, is sent by name;
what it would not find, lambdas and nested functions first of all, by value. docs/
integrations/multiprocessing.md has the details. Tested by
tests/engines/test_multiprocessing.py and test_multiprocessing_main.py.
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

from waybill._api.errors import EncodeError
from waybill._pickled import load_shared
from waybill.integrations import _following, pickle
from waybill.integrations._failures import MESSAGES, of_call, of_result
from waybill.integrations._patches import Patches

_patches = Patches()


def install(**options: Any) -> None:
    """From now on, processes of this one, pools, queues, pipes and managers use
    waybill; and so do ProcessPoolExecutors. Options are those of ``waybill.configure``,
    for children too."""
    _following.take(options)
    if _patches:
        return
    from concurrent.futures import process
    from multiprocessing import connection, pool, queues, reduction

    note_forks()
    # Who registers a reducer with either class, as sharedctypes does, means both.
    original: Any = reduction.ForkingPickler
    ForkingPickler._extra_reducers = original._extra_reducers
    # connection and queues took the class by its name when they were imported.
    _patches.set(connection, "_ForkingPickler", ForkingPickler)
    _patches.set(queues, "_ForkingPickler", ForkingPickler)
    _patches.set(reduction, "ForkingPickler", ForkingPickler)
    _patches.set(reduction, "dump", _dump)
    from waybill.integrations import _pools

    _patches.set(pool.Pool, "_setup_queues", _pools.set_up_queues)
    _pools.watch_workers(_patches)
    MESSAGES[process._CallItem] = of_call
    MESSAGES[process._ResultItem] = of_result


def uninstall() -> None:
    """Puts back what was there; children that have started keep waybill."""
    _patches.undo()


class MainByNamePickler(pickle.Pickler):
    """A Pickler for processes that are started from this one, and share its main."""

    #: The module's name in the process that was started by hand, and in its children.
    names_of_main: tuple[str, ...] = ("__main__", "__mp_main__")

    def reducer_override(self, obj: Any) -> Any:
        name: Any
        answer: Any = NotImplemented
        if isinstance(obj, (FunctionType, type)):
            name = obj.__qualname__
        else:
            name, answer = self._name_of_other(obj)
        module = getattr(obj, "__module__", None)
        if not isinstance(name, str) or module not in self.names_of_main:
            return answer
        main = sys.modules["__main__"]
        if _find(main, name) is not obj:
            return answer
        if self.receiver_has(main, name, obj):
            return _of_main, (name,)
        # Older children, that were forked, may have it all the same.
        try:
            return _of_main_if_there, (name, pickle.payload(obj))
        except EncodeError as error:
            return _of_main, (name, f"it cannot be sent either: {error}")

    def receiver_has(self, main: Any, name: str, obj: object) -> bool:
        """Whether it imports main by its name or from its file, and then finds all that
        this process has found there; not if main was typed in by hand."""
        file = getattr(main, "__file__", "")
        return bool(getattr(main, "__spec__", None)) or _is_file(file)

    def _name_of_other(self, obj: Any) -> tuple[Any, Any]:
        """The name of what pickle sends by name though it is no function and no class:
        what ``lru_cache`` makes, type variables, whatever says so in ``__reduce__``;
        and what ``__reduce__`` said, where it was asked."""
        kind: Any = type(obj)
        reduce = kind.__reduce__
        registered = getattr(self, "dispatch_table", copyreg.dispatch_table)
        if reduce is object.__reduce__ or kind in registered:
            return NotImplemented, NotImplemented
        if getattr(reduce, "__module__", None) in self.names_of_main:
            answer = obj.__reduce__()
            return answer, answer
        name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
        return name, NotImplemented


class ChildrenPickler(MainByNamePickler):
    """For processes that multiprocessing starts."""

    def receiver_has(self, main: Any, name: str, obj: object) -> bool:
        if _forked.get(name) == _codes(obj):
            return True
        spec = getattr(main, "__spec__", None)
        # The main of a package, of `python -m`, is not imported in children.
        if spec is not None and spec.name.rpartition(".")[2] == "__main__":
            return False
        return super().receiver_has(main, name, obj)


#: The functions and classes that main had when the last child was forked, and their
#: code; none if a child was started otherwise since then.
_forked: dict[str, list[Any]] = {}


@functools.cache
def note_forks() -> None:
    """From now on, for good, ChildrenPickler knows what forked children have. What they
    have need not be sent, with all the data that it refers to."""

    def note() -> None:
        global _forked
        kinds = FunctionType, type, functools._lru_cache_wrapper
        main = list(vars(sys.modules["__main__"]).items())
        _forked = {
            name: _codes(obj) for name, obj in main if issubclass(type(obj), kinds)
        }

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=note)


class ForkingPickler(ChildrenPickler):
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
        global _forked
        _forked = {}
        data = ForkingPickler.dumps(obj, protocol)
        first = _start, _following.packed()
        file.write(pickle.calling_first(first, bytes(data)))
    else:
        # What comes before: only after this has the child the path to find waybill on.
        import pickle as standard

        standard.dump(obj, file, protocol)


def _start(told: bytes) -> None:
    """What a child calls first that was not forked."""
    _following.follow(told)
    install()


def _of_main(name: str, advice: str = "") -> object:
    found = _find(sys.modules["__main__"], name)
    if found is None:
        advice = advice or (
            "if it is defined under `if __name__ == '__main__':`, define it before "
            f"that, or send waybill.pickled({name})"
        )
        told = f"module '__main__' of this process has no {name!r}"
        raise AttributeError(f"{told}; {advice}")
    return found


def _of_main_if_there(name: str, payload: bytes) -> object:
    """Main's own, or what is in the payload if main has another one by that name."""
    found, sent = _find(sys.modules["__main__"], name), load_shared(payload)
    if isinstance(sent, type):
        return found if isinstance(found, type) else sent
    is_same = type(found) is type(sent) and _codes(found) == _codes(sent)
    return found if is_same else sent


def _codes(function: Any) -> list[Any]:
    """The code of a function, and of those that its decorators have wrapped."""
    codes: list[Any] = []
    while function is not None and len(codes) < 100:
        codes.append(getattr(function, "__code__", None))
        function = getattr(function, "__wrapped__", None)
    return codes


@functools.cache
def _is_file(path: str) -> bool:
    return os.path.isfile(path)  # There are those like "<stdin>", too.


def _find(main: object, name: str) -> object:
    for part in name.split("."):
        main = getattr(main, part, None)
    return main
