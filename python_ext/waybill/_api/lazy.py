"""Modules of this package that are loaded when something of them is first needed.

Some need modules of Python that take longer to load than the rest of the package: the
exceptions are also those of pickle. Others are for few programs. Tested by
tests/python/api/test_import_time.py.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

#: What the package has of such a module, and its name there; "" for the module itself.
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

#: The package that this module is of. Who takes that out of sys.modules may go on using
#: what he has of it.
_package = sys.modules[__name__.partition(".")[0]]
_loaded: dict[str, ModuleType] = {}


def load(topic: str) -> ModuleType:
    """A module of this package: one and the same, whatever sys.modules holds by now, in
    all threads. The extension calls it, too."""
    module = _loaded.get(topic)
    if module is None:
        # Of two threads at once the import lock lets one load it.
        module = _loaded.setdefault(topic, _import(topic))
    return module


def find(name: str) -> Any:
    """What the package has under a name. AttributeError if it is none of NAMES."""
    if name not in NAMES:
        raise AttributeError(
            f"module {_package.__name__!r} has no attribute {name!r}",
            name=name,
            obj=_package,
        )
    topic, name_there = NAMES[name]
    module = load(topic)
    return getattr(module, name_there) if name_there else module


def _import(topic: str) -> ModuleType:
    name = f"{_package.__name__}.{topic}"
    if sys.modules.get(_package.__name__) is _package:
        return __import__(name, fromlist=[topic])
    # An import would begin with the package, and be of another one or of none.
    from importlib.util import module_from_spec

    *folders, _ = topic.split(".")
    path = ["/".join((entry, *folders)) for entry in _package.__path__]
    specs = (finder.find_spec(name, path) for finder in sys.meta_path)
    spec = next(filter(None, specs), None)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
