"""Attributes that an integration replaces, and puts back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Patches:
    """What was there before, for each attribute replaced. Not for several threads."""

    def __init__(self) -> None:
        self._before: list[tuple[object, str, object]] = []

    def __bool__(self) -> bool:
        """Whether anything is replaced."""
        return bool(self._before)

    def set(self, owner: object, name: str, value: object) -> Any:
        """Replaces an attribute; gives what it was."""
        before = getattr(owner, name)
        # A static method comes out of its class as a function.
        kept = vars(owner).get(name, before)
        setattr(owner, name, value)
        self._before.append((owner, name, kept))
        return before

    def wrap(self, owner: object, name: str, wrapper: Callable[[Any], Any]) -> None:
        """Replaces an attribute by what ``wrapper`` makes of it."""
        self.set(owner, name, wrapper(getattr(owner, name)))

    def undo(self) -> None:
        """All is as it was, in the order opposite to that of the changes."""
        while self._before:
            owner, name, before = self._before.pop()
            setattr(owner, name, before)
