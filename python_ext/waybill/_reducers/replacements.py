"""Replacements of objects that belong to one process: the option ``replace``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Choice = tuple[str, Any]
    Reducer = Callable[[Any], tuple[Any, ...]]

#: The choices. "error": the object cannot be sent. "fresh": the receiver gets a new one
#: in its initial state. "drop": the receiver gets None.
REPLACEMENTS = ("error", "fresh", "drop")

Replacement = str


def _fresh(make: Callable[..., Any], *attributes: str) -> Reducer:
    """Reduces an object to a new one, which is made from these attributes."""
    return lambda obj: (make, tuple(getattr(obj, name) for name in attributes))


#: The table of fresh_reducers(), filled at its first call.
_reducers: dict[type, Reducer | None] = {}


def fresh_reducers() -> dict[type, Reducer | None]:
    """Reducers that make a fresh object, by type; None if the type has none."""
    if not _reducers:
        _reducers.update(_make_table())
    return _reducers


def _make_table() -> dict[type, Reducer | None]:
    import _thread
    import socket
    import threading
    import types

    return {
        _thread.LockType: _fresh(_thread.allocate_lock),
        type(threading.RLock()): _fresh(threading.RLock),
        _thread._local: _fresh(_thread._local),
        threading.Event: _fresh(threading.Event),
        threading.Condition: _fresh(threading.Condition),
        threading.Semaphore: _fresh(threading.Semaphore, "_value"),
        threading.BoundedSemaphore: _fresh(
            threading.BoundedSemaphore, "_initial_value"
        ),
        threading.Barrier: _fresh(threading.Barrier, "_parties", "_action", "_timeout"),
        socket.socket: _fresh(socket.socket, "family", "type", "proto"),
        types.GeneratorType: None,
        types.CoroutineType: None,
        types.AsyncGeneratorType: None,
        types.FrameType: None,
    }


class Replacements:
    """The choices of one call. The extension calls an instance for each object.

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
            raise TypeError(f'cannot make a fresh {kind.__name__!r}: use "drop"')
        return choice, reduce(obj)


def _check(choice: object) -> None:
    if choice not in REPLACEMENTS:
        choices = ", ".join(REPLACEMENTS)
        raise ValueError(f"replace: {choice!r} should be one of {choices}")
