"""What stands for modules that are missing and for what they have, until it is used.

``loads(data, missing="later")`` puts it where a module is missing; packages by value
have it for their extension modules, which do not travel.

Tested by tests/python/imports/test_missing_later.py and
tests/python/modules/test_extensions_by_value.py.
"""

import importlib
import opcode
import sys
import types

from waybill._api.errors import MissingModuleError


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


def stand_in_answer(obj, missing, module, path):
    """A reducer's answer for what the module ``missing``, made in C, is or has made.

    ``module`` has it under ``path``; that is None for what is found nowhere.
    """
    if isinstance(obj, types.ModuleType):
        told = f"No module named {missing!r}{_WHY}"
        return make_stand_in, (missing, told)
    kind = StandInClass if isinstance(obj, type) else StandInObject
    return kind, (missing, module, path)


_WHY = "; it is made in C and does not travel, as its package, by value"


class StandInObject:
    """Stands for what a module in C made; whoever uses it finds it or fails."""

    __slots__ = "__weakref__", "_place"

    def __init__(self, missing, module, path):
        self._place = missing, module, path

    def __reduce__(self):
        return type(self), self._place

    def __eq__(self, other):
        return isinstance(other, StandInObject) and self._place == other._place

    def __hash__(self):
        return hash(self._place)

    def __repr__(self):
        _, module, path = self._place
        return f"<{f'{module}.{path}' if path else f'object of {module}'} (missing)>"

    def __getattr__(self, name):
        # As of modules; typing asks such of all that it gets.
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        return getattr(self._find(), name)

    def __call__(self, *arguments, **keywords):
        return self._find()(*arguments, **keywords)

    def __mro_entries__(self, bases):
        return (self._find(),)

    def __instancecheck__(self, obj):
        return isinstance(obj, self._find())

    def __subclasscheck__(self, cls):
        return issubclass(cls, self._find())

    def __iter__(self):
        return iter(self._find())

    def __len__(self):
        return len(self._find())

    def __contains__(self, item):
        return item in self._find()

    def __getitem__(self, key):
        return self._find()[key]

    def __bool__(self):
        return bool(self._find())

    def _find(self):
        missing, module, path = self._place
        found = _import(missing, f"No module named {missing!r}{_WHY}")
        if path is not None:
            found = importlib.import_module(module)
            for part in path.split("."):
                found = getattr(found, part)
            if not isinstance(found, StandInObject):
                return found
        raise MissingModuleError(f"{self!r} did not travel{_WHY}", name=missing)


class StandInClass(StandInObject):
    """Stands for a class: annotations, aliases and bounds can be made of it."""

    __slots__ = ()

    def __bool__(self):
        return True

    def __or__(self, other):
        return _typing().Union[self, other]

    def __ror__(self, other):
        return _typing().Union[other, self]


def _typing():
    return importlib.import_module("typing")


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
