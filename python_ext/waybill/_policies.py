"""What stands for objects that belong to one process, if the caller says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

#: What a policy may be. "error": the object cannot travel. "fresh": the receiver gets a
#: new one, in its first state. "drop": the receiver gets None.
POLICIES = ("error", "fresh", "drop")

Policy = str
Choice = tuple[str, Any]


def _plain(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    return lambda obj: (kind, ())


def _table() -> dict[type, Callable[[Any], tuple[Any, ...]] | None]:
    """How a fresh one is made, by type; None where there is no such thing."""
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


class Policies:
    """One call's choice, as the extension asks for it.

    Called with an object, answers None if it travels as it is, else the policy and
    either a reducer's answer or, for "drop", None.
    """

    def __init__(self, choice: Policy | Mapping[type, Policy]) -> None:
        self._makers = _table()
        if isinstance(choice, str):
            _check(choice)
            self._policies = dict.fromkeys(self._makers, choice)
            return
        self._policies = {}
        for kind, policy in choice.items():
            _check(policy)
            if not isinstance(kind, type):
                # threading.Lock and RLock are functions in some versions.
                kind = type(kind())
            self._policies[kind] = policy

    def __call__(self, obj: object) -> Choice | None:
        kind = type(obj)
        policy = self._policies.get(kind, "error")
        if policy == "error":
            return None
        if policy == "drop":
            return policy, None
        if kind not in self._makers:
            return policy, (kind, ())
        maker = self._makers[kind]
        if maker is None:
            raise TypeError(f"there is no fresh {kind.__name__!r}; it can be dropped")
        return policy, maker(obj)


def _check(policy: object) -> None:
    if policy not in POLICIES:
        raise ValueError(f"{policy!r} is no policy: choose from {', '.join(POLICIES)}")
