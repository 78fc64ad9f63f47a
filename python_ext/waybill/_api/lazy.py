"""Modules of this package that are loaded on first use.

Some import modules of Python that load more slowly than the rest of the package, such
as `pickle`, whose exceptions are base classes. Others are used by few programs. Tested
by tests/python/api/test_import_time.py.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

#: {name in the package: (module, name there)}; the second is "" for the module itself.
NAMES = {
    "DecodeError": ("_api.errors", "DecodeError"),
    "EncodeError": ("_api.errors", "EncodeError"),
    "Error": ("_api.errors", "Error"),
    "MissingModuleError": ("_api.errors", "MissingModuleError"),
    "PicklingError": ("_api.errors", "EncodeError"),
    "PolicyError": ("_api.errors", "PolicyError"),
    "PythonMismatchError": ("_api.errors", "PythonMismatchError"),
    "SignatureError": ("_api.errors", "SignatureError"),
    "SizeWarning": ("_explain.size_warnings", "SizeWarning"),
    "UnpicklingError": ("_api.errors", "DecodeError"),
    "calls": ("calls", ""),
    "environment": ("environment", ""),
    "Opaque": ("_kinds.opaque", "Opaque"),
    "Explanation": ("_explain.explanation", "Explanation"),
    "explain": ("_explain.explanation", "explain"),
    "missing": ("environment", "missing"),
    "open": ("_streams.parts", "open"),
    "pickled": ("_pickled", "pickled"),
}

#: The package of this module. Code that holds it may go on using it after it was
#: removed from sys.modules.
_package = sys.modules[__name__.partition(".")[0]]
_loaded: dict[str, ModuleType] = {}


def load(submodule: str) -> ModuleType:
    """A module of this package, the same one even if sys.modules has changed. The
    extension calls it, too."""
    module = _loaded.get(submodule)
    if module is None:
        # The import lock lets only one of several threads load it.
        module = _loaded.setdefault(submodule, _import(submodule))
    return module


def find(name: str) -> Any:
    """The object of a name in NAMES. Raises AttributeError for any other name."""
    if name not in NAMES:
        raise AttributeError(
            f"module {_package.__name__!r} has no attribute {name!r}",
            name=name,
            obj=_package,
        )
    submodule, name_there = NAMES[name]
    module = load(submodule)
    return getattr(module, name_there) if name_there else module


def _import(submodule: str) -> ModuleType:
    name = f"{_package.__name__}.{submodule}"
    if sys.modules.get(_package.__name__) is _package:
        return __import__(name, fromlist=[submodule])
    # An import would use the package in sys.modules, which is another one or missing.
    from importlib.util import module_from_spec

    *folders, _ = submodule.split(".")
    path = ["/".join((entry, *folders)) for entry in _package.__path__]
    specs = (finder.find_spec(name, path) for finder in sys.meta_path)
    spec = next(filter(None, specs), None)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
