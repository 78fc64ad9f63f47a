"""Modules by value: which are, and how those that arrive can be imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

#: Names of the modules and packages that register_pickle_by_value named.
REGISTERED: set[str] = set()

_STANDARD_LIBRARY = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def register_pickle_by_value(module: ModuleType) -> None:
    """Sends functions and classes of a module, or package, by value from now on.

    For modules that the receiver cannot import, or has another version of. Raises
    ValueError for what is no imported module. ``dumps(obj, by_value=[module])`` does
    the same for one call.
    """
    if not isinstance(module, ModuleType):
        raise ValueError(f"Input should be a module object, got {module!s} instead")
    if module.__name__ not in sys.modules:
        raise ValueError(
            f"{module} was not imported correctly, have you used an `import` statement "
            "to access it?"
        )
    REGISTERED.add(module.__name__)


def unregister_pickle_by_value(module: ModuleType) -> None:
    """Takes back register_pickle_by_value. Raises ValueError if it was not called."""
    if not isinstance(module, ModuleType):
        raise ValueError(f"Input should be a module object, got {module!s} instead")
    if module.__name__ not in REGISTERED:
        raise ValueError(f"{module} is not registered for pickle by value")
    REGISTERED.remove(module.__name__)


def list_registry_pickle_by_value() -> set[str]:
    """The names that are registered."""
    return set(REGISTERED)


def names_by_value(modules: Iterable[ModuleType | str]) -> set[str] | None:
    """A new set of what is registered and ``modules``; None if that is nothing."""
    names = set(REGISTERED)
    for module in modules:
        name = module if isinstance(module, str) else getattr(module, "__name__", None)
        if not isinstance(name, str) or name not in sys.modules:
            raise ValueError(f"by_value: {module!r} is no imported module")
        names.add(name)
    return names or None


def is_local(module: ModuleType) -> bool:
    """Whether a module's file is neither the standard library's nor installed."""
    file = vars(module).get("__file__")
    if not isinstance(file, str):
        return False
    path = os.path.realpath(file)
    return not (
        path.startswith(_STANDARD_LIBRARY) or any(part in path for part in _INSTALLED)
    )


class _Finder:
    """Finds the modules that came with payloads, after all other finders."""

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> Any | None:
        module = self.modules.get(name)
        if module is None:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self, is_package=hasattr(module, "__path__"))  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> ModuleType:
        return self.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """It came as it is."""


_finder = _Finder()


def receive(obj: object, chain: list[Any]) -> object:
    """The object of a payload, once the modules that came with it can be imported.

    ``chain`` is ``[name, module, chain]``, or ``[]``. A module of this name that can be
    imported without it goes first; one that came earlier is replaced.
    """
    while chain:
        name, module, chain = chain
        if sys.modules.get(name) is _finder.modules.get(name, _finder):
            sys.modules[name] = module
        _finder.modules[name] = module
        if _finder not in sys.meta_path:
            sys.meta_path.append(_finder)
    return obj
