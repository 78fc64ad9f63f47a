"""What ``loads(data, missing="later")`` puts where a module is missing.

Tested by tests/python/test_missing_later.py.
"""

import importlib
import opcode
import sys
import types

from waybill._errors import MissingModuleError


def stand_in_for(name, error):
    """A module in place of one whose import has failed with ``error``."""
    told = str(error)
    parent, _, own_name = name.rpartition(".")
    package = sys.modules.get(parent)
    if isinstance(package, types.ModuleType):
        _attributes_of(package).told[own_name] = told
    return make_stand_in(name, told)


def make_stand_in(name, told):
    module = StandIn(name)
    vars(module)["_told"] = told
    return module


def _import(name, told):
    """The module, if it has come meanwhile."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingModuleError(told, name=error.name or name) from error


class StandIn(types.ModuleType):
    """Stands for a module that is missing; whoever uses it imports it or fails."""

    def __getattr__(self, name):
        # Those are asked for to find out what can be done with an object.
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        return getattr(self._import(), name)

    def __setattr__(self, name, value):
        setattr(self._import(), name, value)

    def __delattr__(self, name):
        delattr(self._import(), name)

    def __repr__(self):
        return f"<module {self.__name__!r} (missing)>"

    def __reduce__(self):
        return make_stand_in, (self.__name__, self._told)

    def _import(self):
        return _import(self.__name__, self._told)


class _Attributes:
    """The ``__getattr__`` of a package that lacks submodules.

    What reads ``package.submodule`` in code that came in a payload is told what is
    missing. All else, such as ``hasattr``, ``from package import submodule`` and code
    of modules that are here, finds that there is no such attribute, as ever.
    """

    def __init__(self, package):
        self.package = package.__name__
        #: By the name of the submodule.
        self.told = {}
        own = vars(package).get("__getattr__")
        of_class = getattr(type(package), "__getattr__", None)
        #: Who was asked before.
        self.others = [own] if own else []
        if of_class:
            self.others.append(types.MethodType(of_class, package))

    def __call__(self, name):
        for ask in self.others:
            try:
                return ask(name)
            except AttributeError:
                continue
        if name in self.told and _reads_in_payload(sys._getframe(1)):
            return _import(f"{self.package}.{name}", self.told[name])
        raise AttributeError(f"module {self.package!r} has no attribute {name!r}")


def _attributes_of(package):
    attributes = vars(package).get("__getattr__")
    if type(attributes) is not _Attributes:
        attributes = vars(package)["__getattr__"] = _Attributes(package)
    return attributes


_READS = ("LOAD_ATTR", "LOAD_METHOD")


def _reads_in_payload(frame):
    """Whether code of a payload reads an attribute, by an expression."""
    module = sys.modules.get(frame.f_globals.get("__name__"))
    if getattr(module, "__dict__", None) is frame.f_globals:
        return False
    return opcode.opname[frame.f_code.co_code[frame.f_lasti]] in _READS
