"""Replaces attributes of other packages, and restores them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Patches:
    """The original value of each replaced attribute. Not thread-safe."""

    def __init__(self) -> None:
        self._before: list[tuple[object, str, object]] = []

    def __bool__(self) -> bool:
        """Whether anything is replaced."""
        return bool(self._before)

    def set(self, owner: object, name: str, value: object) -> Any:
        """Replaces an attribute; returns its old value."""
        before = getattr(owner, name)
        # getattr() gives a static method as a function.
        stored = vars(owner).get(name, before)
        setattr(owner, name, value)
        self._before.append((owner, name, stored))
        return before

    def wrap(self, owner: object, name: str, wrapper: Callable[[Any], Any]) -> None:
        """Replaces an attribute by ``wrapper(old value)``."""
        self.set(owner, name, wrapper(getattr(owner, name)))

    def undo(self) -> None:
        """Restores all attributes, the last one first."""
        while self._before:
            owner, name, before = self._before.pop()
            setattr(owner, name, before)
