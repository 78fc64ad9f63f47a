"""Replacements of objects that belong to one process: the option ``replace``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Choice = tuple[str, Any]

#: The choices. "error": the object cannot be sent. "fresh": the receiver gets a new one
#: in its initial state. "drop": the receiver gets None.
REPLACEMENTS = ("error", "fresh", "drop")

Replacement = str


def _fresh(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    return lambda obj: (kind, ())


#: The table of fresh_reducers(), filled at its first call.
_reducers: dict[type, Callable[[Any], tuple[Any, ...]] | None] = {}


def fresh_reducers() -> dict[type, Callable[[Any], tuple[Any, ...]] | None]:
    """Reducers that make a fresh object, by type; None if the type has none."""
    if not _reducers:
        _reducers.update(_make_table())
    return _reducers


def _make_table() -> dict[type, Callable[[Any], tuple[Any, ...]] | None]:
    import _thread
    import socket
    import threading
    import types

    return {
        _thread.LockType: lambda lock: (_thread.allocate_lock, ()),
        type(threading.RLock()): lambda lock: (threading.RLock, ()),
        _thread._local: _fresh(_thread._local),
        threading.Event: _fresh(threading.Event),
        threading.Condition: _fresh(threading.Condition),
        threading.Semaphore: lambda obj: (threading.Semaphore, (obj._value,)),
        threading.BoundedSemaphore: lambda obj: (
            threading.BoundedSemaphore,
            (obj._initial_value,),
        ),
        threading.Barrier: lambda obj: (
            threading.Barrier,
            (obj._parties, obj._action, obj._timeout),
        ),
        socket.socket: lambda obj: (socket.socket, (obj.family, obj.type, obj.proto)),
        types.GeneratorType: None,
        types.CoroutineType: None,
        types.AsyncGeneratorType: None,
        types.FrameType: None,
    }


class Replacements:
    """The choices of one call. The extension calls it for each object.

    Returns None if the object is not replaced; else the choice, with the result of a
    reducer for "fresh" and None for "drop".
    """

    def __init__(self, choice: Replacement | Mapping[type, Replacement]) -> None:
        self._reducers = fresh_reducers()
        if isinstance(choice, str):
            _check(choice)
            self._choices = dict.fromkeys(self._reducers, choice)
            return
        self._choices = {}
        for kind, replacement in choice.items():
            _check(replacement)
            if not isinstance(kind, type):
                # threading.Lock and RLock are functions in some versions.
                kind = type(kind())
            self._choices[kind] = replacement

    def __call__(self, obj: object) -> Choice | None:
        kind = type(obj)
        choice = self._choices.get(kind, "error")
        if choice == "error":
            return None
        if choice == "drop":
            return choice, None
        if kind not in self._reducers:
            return choice, (kind, ())
        reduce = self._reducers[kind]
        if reduce is None:
            raise TypeError(f"there is no fresh {kind.__name__!r}; it can be dropped")
        return choice, reduce(obj)


def _check(choice: object) -> None:
    if choice not in REPLACEMENTS:
        choices = ", ".join(REPLACEMENTS)
        raise ValueError(f"replace: {choice!r} should be one of {choices}")
