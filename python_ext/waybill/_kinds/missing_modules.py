"""Stand-ins for missing modules and for their content, until they are used.

``loads(data, missing="later")`` puts them in place of missing modules; packages by
value have them in place of their extension modules, which do not travel. Tested by
tests/python/imports/test_missing_later.py and
tests/python/modules/test_extensions_by_value.py.
"""

import importlib
import opcode
import operator
import sys
import types

from waybill._api.errors import MissingModuleError


def stand_in_for(name, error):
    """A module in place of one whose import has failed with ``error``."""
    message = str(error)
    parent, _, own_name = name.rpartition(".")
    package = sys.modules.get(parent)
    if isinstance(package, types.ModuleType):
        _attributes_of(package).messages[own_name] = message
    return make_stand_in(name, message)


def make_stand_in(name, message):
    """A stand-in for a module; ``message`` is the text of the error when it is used."""
    module = StandIn(name)
    vars(module)["_message"] = message
    return module


def _import(name, message):
    """Imports a module, which may be available by now."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingModuleError(message, name=error.name or name) from error


class StandIn(types.ModuleType):
    """Stands for a missing module: any use imports the module, or raises."""

    def __getattr__(self, name):
        # Protocol attributes: their absence says what the object does not support.
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
        return make_stand_in, (self.__name__, self._message)

    def _import(self):
        return _import(self.__name__, self._message)


def reduce_to_stand_in(obj, missing, module, path):
    """The result of a reducer for ``missing``, a module in C, or for its content.

    ``obj`` is ``module.path``; ``path`` is None if no module has it.
    """
    if isinstance(obj, types.ModuleType):
        message = f"No module named {missing!r}{_REASON}"
        return make_stand_in, (missing, message)
    kind = StandInClass if isinstance(obj, type) else StandInObject
    return kind, (missing, module, path)


_REASON = (
    "; it is made in C, and cannot travel by value as its package does; install it"
)


def _forwarded(operation):
    """A method that applies an operation to the object that is stood for."""
    return lambda self, *given: operation(self._find(), *given)


class StandInObject:
    """Stands for an object that a module in C made: any use finds it, or raises."""

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
        # A stand-in has no protocol attributes; typing reads some of any object.
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

    __iter__, __len__, __bool__ = _forwarded(iter), _forwarded(len), _forwarded(bool)
    __contains__ = _forwarded(operator.contains)
    __getitem__ = _forwarded(operator.getitem)

    def _find(self):
        missing, module, path = self._place
        found = _import(missing, f"No module named {missing!r}{_REASON}")
        if path is not None:
            found = importlib.import_module(module)
            for part in path.split("."):
                found = getattr(found, part)
            if not isinstance(found, StandInObject):
                return found
        raise MissingModuleError(f"{self!r} did not travel{_REASON}", name=missing)


class StandInClass(StandInObject):
    """Stands for a class, and can be used in annotations, aliases and bounds."""

    __slots__ = ()

    def __bool__(self):
        return True

    def __or__(self, other):
        return importlib.import_module("typing").Union[self, other]

    def __ror__(self, other):
        return importlib.import_module("typing").Union[other, self]


class _Attributes:
    """The ``__getattr__`` of a package some of whose submodules are missing.

    An expression ``package.submodule`` in code of a payload raises an error that names
    the missing module. For all else, such as ``hasattr``, ``from package import
    submodule`` and code of imported modules, the attribute does not exist, as before.
    """

    def __init__(self, package):
        self.package = package.__name__
        #: The error message for each missing submodule.
        self.messages = {}
        own = vars(package).get("__getattr__")
        of_class = getattr(type(package), "__getattr__", None)
        #: The hooks that this object replaces.
        self.hooks = [own] if own else []
        if of_class:
            self.hooks.append(types.MethodType(of_class, package))

    def __call__(self, name):
        for hook in self.hooks:
            try:
                return hook(name)
            except AttributeError:
                continue
        if name in self.messages and _reads_in_payload(sys._getframe(1)):
            return _import(f"{self.package}.{name}", self.messages[name])
        raise AttributeError(f"module {self.package!r} has no attribute {name!r}")


def _attributes_of(package):
    attributes = vars(package).get("__getattr__")
    if type(attributes) is not _Attributes:
        attributes = vars(package)["__getattr__"] = _Attributes(package)
    return attributes


_READS = ("LOAD_ATTR", "LOAD_METHOD")


def _reads_in_payload(frame):
    """Whether a frame runs code of a payload and is at an attribute expression."""
    module = sys.modules.get(frame.f_globals.get("__name__"))
    if getattr(module, "__dict__", None) is frame.f_globals:
        return False
    return opcode.opname[frame.f_code.co_code[frame.f_lasti]] in _READS
