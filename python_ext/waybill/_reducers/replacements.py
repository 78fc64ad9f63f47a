"""What stands for objects that belong to one process, if the caller says so."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Choice = tuple[str, Any]

#: What may be chosen. "error": the object cannot travel. "fresh": the receiver gets a
#: new one, in its first state. "drop": the receiver gets None.
REPLACEMENTS = ("error", "fresh", "drop")

Replacement = str


def _plain(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    return lambda obj: (kind, ())


#: What makers() gives, once somebody has asked.
_made: dict[type, Callable[[Any], tuple[Any, ...]] | None] = {}


def makers() -> dict[type, Callable[[Any], tuple[Any, ...]] | None]:
    """How a fresh one is made, by type; None where there is no such thing."""
    if not _made:
        _made.update(_make_table())
    return _made


def _make_table() -> dict[type, Callable[[Any], tuple[Any, ...]] | None]:
    import _thread
    import socket
    import threading
    import types

    return {
        _thread.LockType: lambda lock: (_thread.allocate_lock, ()),
        type(threading.RLock()): lambda lock: (threading.RLock, ()),
        _thread._local: _plain(_thread._local),
        threading.Event: _plain(threading.Event),
        threading.Condition: _plain(threading.Condition),
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
    """One call's choice, as the extension asks for it.

    Called with an object, answers None if it travels as it is, else the choice and
    either a reducer's answer or, for "drop", None.
    """

    def __init__(self, choice: Replacement | Mapping[type, Replacement]) -> None:
        self._makers = makers()
        if isinstance(choice, str):
            _check(choice)
            self._chosen = dict.fromkeys(self._makers, choice)
            return
        self._chosen = {}
        for kind, replacement in choice.items():
            _check(replacement)
            if not isinstance(kind, type):
                # threading.Lock and RLock are functions in some versions.
                kind = type(kind())
            self._chosen[kind] = replacement

    def __call__(self, obj: object) -> Choice | None:
        kind = type(obj)
        chosen = self._chosen.get(kind, "error")
        if chosen == "error":
            return None
        if chosen == "drop":
            return chosen, None
        if kind not in self._makers:
            return chosen, (kind, ())
        maker = self._makers[kind]
        if maker is None:
            raise TypeError(f"there is no fresh {kind.__name__!r}; it can be dropped")
        return chosen, maker(obj)


def _check(choice: object) -> None:
    if choice not in REPLACEMENTS:
        raise ValueError(f"replace: {choice!r} is none of {', '.join(REPLACEMENTS)}")
