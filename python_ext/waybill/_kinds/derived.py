"""What libraries write into a class that follows from its class statement, and that is
another text in each process: it holds addresses, or sets in their order.

It is no part of a class that travels; the receiver writes it again. One row for each:
the attribute that shows whose class it is, what is derived, and how. Tested by
tests/python/classes/test_derived.py.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _doc_of_dataclass(cls: type) -> str:
    """The doc that ``dataclass`` gives to a class without one."""
    import inspect

    try:
        if sys.version_info >= (3, 14):
            import annotationlib

            given = inspect.signature(
                cls, annotation_format=annotationlib.Format.FORWARDREF
            )
        else:
            given = inspect.signature(cls)
    except (TypeError, ValueError):
        return cls.__name__
    return cls.__name__ + str(given).replace(" -> None", "")


_ROWS: tuple[tuple[str, str, Callable[[type], str]], ...] = (
    ("__dataclass_fields__", "__doc__", _doc_of_dataclass),
)


def _may_differ(text: Any) -> bool:
    return type(text) is str and (" at 0x" in text or "{" in text)


def is_derived(cls: type, name: str, value: Any) -> bool:
    """Whether an attribute is one that is left out. Cost: that of one signature where
    its text may differ between processes, else nothing."""
    for shows, derived, make in _ROWS:
        if name == derived and shows in vars(cls) and _may_differ(value):
            return bool(make(cls) == value)
    return False


def is_left_out(attributes: dict[str, Any], name: str) -> bool:
    """Whether this one, if a class comes with these others alone, is written here."""
    # A generator, as any() takes, leaks where memory is too short.
    for shows, derived, _ in _ROWS:  # noqa: SIM110
        if name == derived and shows in attributes:
            return True
    return False


def derive_again(cls: type) -> None:
    """Writes what was left out, once a class has its other attributes."""
    for shows, derived, make in _ROWS:
        if shows in vars(cls) and vars(cls).get(derived) is None:
            type.__setattr__(cls, derived, make(cls))
