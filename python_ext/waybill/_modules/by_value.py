"""Modules by value: which ones are sent, and how imports find received ones."""

from __future__ import annotations

import errno
import os
import sys
from types import ModuleType

from waybill._api.named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from typing import Any, NoReturn, TypeAlias

    #: Values of ``by_value``: one module or package, or several; objects or names.
    ByValue: TypeAlias = ModuleType | str | Iterable[ModuleType | str]

#: A reserved name in ``by_value``, for "all modules that are not installed".
RESERVED = "local"

#: Names of the modules and packages that register_pickle_by_value named.
REGISTERED: set[str] = set()

_STANDARD_LIBRARY = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
_INSTALL_FOLDERS = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def register_pickle_by_value(module: ModuleType) -> None:
    """Sends functions and classes of a module, or package, by value from now on.

    For modules that the receiver cannot import, or has another version of. Raises
    ValueError if the argument is not an imported module. ``dumps(obj,
    by_value=[module])`` does the same for one call.
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
    """Undoes register_pickle_by_value. Raises ValueError if it was not called."""
    if not isinstance(module, ModuleType):
        raise ValueError(f"Input should be a module object, got {module!s} instead")
    if module.__name__ not in REGISTERED:
        raise ValueError(f"{module} is not registered for pickle by value")
    REGISTERED.remove(module.__name__)


def list_registry_pickle_by_value() -> set[str]:
    """The names of the registered modules."""
    return set(REGISTERED)


def with_registered(names: Sequence[str] | None) -> set[str] | None:
    """A new set of the registered names and these; None if there are none."""
    return {*REGISTERED, *(names or ())} if REGISTERED or names else None


def names_of(by_value: ByValue) -> tuple[str, ...]:
    """The names of the modules. ValueError for one that is not imported."""
    is_one = isinstance(by_value, (str, ModuleType))
    modules: Iterable[Any] = (by_value,) if is_one else by_value
    names: list[str] = []
    for module in modules:
        if isinstance(module, str) and module == RESERVED:
            raise ValueError(
                f'by_value: "{RESERVED}" is a reserved word; for a module of that '
                "name, give the module itself"
            )
        name = module if isinstance(module, str) else getattr(module, "__name__", None)
        if not isinstance(name, str) or name not in sys.modules:
            raise ValueError(f"by_value: {module!r} is not an imported module")
        names.append(name)
    return tuple(names)


def is_local(module: ModuleType) -> bool:
    """Whether a module's file is neither the standard library's nor installed."""
    file = vars(module).get("__file__")
    if not isinstance(file, str):
        return False
    path = os.path.realpath(file)
    return not (
        path.startswith(_STANDARD_LIBRARY)
        or any(part in path for part in _INSTALL_FOLDERS)
    )


def is_found(name: str, spec: ModuleSpec | None) -> bool:
    """Whether an import of a name finds the file of `spec`, which made a module.

    Workflow engines and test runners load files by their paths, and put them into
    ``sys.modules`` under names that no import finds. Nothing is imported. True where
    it cannot be known: without a file, for a second name of a module, as of a vendored
    one, and where a finder fails.
    """
    origin = getattr(spec, "origin", None)
    if not isinstance(origin, str) or getattr(spec, "name", None) != name:
        return True
    try:
        return _is_origin(name, origin)
    except Exception:  # A finder raised it.
        return True


def _is_origin(name: str, origin: str) -> bool:
    """Whether an import of the name loads this file."""
    parent, _, tail = name.rpartition(".")
    path: Any = sys.path
    if parent:
        package = vars(sys.modules[parent])
        if not is_found(parent, package.get("__spec__")):
            return False
        path = package["__path__"]
    entries = [entry for entry in path if isinstance(entry, str)]
    if any(_is_in(entry, tail, origin) for entry in entries):
        return True
    for finder in sys.meta_path:
        find_spec = getattr(finder, "find_spec", None)
        spec = find_spec and find_spec(name, path if parent else None, None)
        if spec is not None:
            return bool(os.path.realpath(spec.origin) == os.path.realpath(origin))
    return not parent and any(
        _is_in(entry, tail, origin) for entry in _folders_once_searched()
    )


def _folders_once_searched() -> Iterator[str]:
    """Searched folders that are no packages: they may have been in ``sys.path``."""
    for finder in list(sys.path_importer_cache.values()):
        path = getattr(finder, "path", None)
        if isinstance(path, str) and not os.path.exists(f"{path}{os.sep}__init__.py"):
            yield path


def _is_in(entry: str, tail: str, origin: str) -> bool:
    """Whether the finder of a path entry would find a module in this file."""
    start = os.path.join(entry, tail)
    rest = origin[len(start) :].removeprefix(f"{os.sep}__init__")
    return origin.startswith(start) and rest.startswith(".") and os.sep not in rest


class _Finder:
    """Finds received modules. The last finder of ``sys.meta_path``."""

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> Any | None:
        module = self.modules.get(name)
        return None if module is None else self.spec_of(name, module)

    def spec_of(self, name: str, module: ModuleType) -> Any:
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self, is_package=hasattr(module, "__path__"))  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> ModuleType:
        return self.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Only sets ``__file__``, which pkgutil reads before get_data."""
        if "__path__" in vars(module):
            file = f"<{module.__name__} by value>/__init__.py"
            vars(module).setdefault("__file__", file)

    def get_resource_reader(self, name: str) -> NoReturn:
        """Called by importlib.resources, which finds no files in a package whose loader
        has no such method."""
        raise _no_data(f"the data of the package {name!r}")

    def get_data(self, path: str) -> NoReturn:
        """Called by pkgutil.get_data."""
        raise _no_data(repr(path))


def _no_data(what: str) -> FileNotFoundError:
    return FileNotFoundError(
        errno.ENOENT,
        f"{what} was not sent: the package was sent by value, without its files; "
        "install it here, or send the content as bytes",
    )


_finder = _Finder()


class Service(NamedTuple):
    """A received module that imports find."""

    name: str
    module: ModuleType
    #: The module that was received under this name before, and what was added to it.
    before: ModuleType | None
    added: dict[str, object]


def serve(name: str, module: ModuleType) -> Service:
    """Lets imports find a module while its payload is built.

    A module of this name that was received earlier stays, since other threads may run
    its code; it is given the names that it lacks.
    """
    before = _finder.modules.setdefault(name, module)
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)
    if before is module:
        return Service(name, module, None, {})
    added: dict[str, object] = {}
    for key, value in vars(module).items():
        if key not in vars(before):
            added[key] = vars(before)[key] = value
    return Service(name, module, before, added)


def take_back(service: Service) -> None:
    """Undoes ``serve`` for a payload that failed."""
    if service.before is not None:
        # Another payload may have brought an object of its own under the name since.
        own = vars(service.before)
        for key in service.added:
            if own.get(key) is service.added[key]:
                own.pop(key, None)
    elif _finder.modules.get(service.name) is service.module:
        del _finder.modules[service.name]
        if sys.modules.get(service.name) is service.module:
            del sys.modules[service.name]


def settle(service: Service) -> None:
    """Replaces the module of the same name that was received earlier.

    A module of this name that was imported from elsewhere stays in ``sys.modules``.
    """
    name, module = service.name, service.module
    if sys.modules.get(name) is _finder.modules.get(name, _finder):
        sys.modules[name] = module
    _finder.modules[name] = module
    if "__path__" in vars(module) and vars(module).get("__spec__") is None:
        # importlib.resources uses the package itself, which is not imported yet.
        _finder.exec_module(module)
        module.__spec__ = _finder.spec_of(name, module)
