"""Class parts of ctypes classes that travel by value; see ``_classes/parts.py``."""

import ctypes
import types

# Set before _fields_, whose layout depends on them; each can be set only once.
_LAYOUT = ("_swappedbytes_", "_pack_", "_align_", "_layout_", "_anonymous_", "_fields_")
# Attributes that ctypes reads when it makes a class.
_NEEDED = ("_type_", "_length_", "_flags_", "_restype_", "_argtypes_")
_SWAPPED_TYPES = ("__ctype_be__", "__ctype_le__")
_GENERATED = (types.GetSetDescriptorType, types.ClassMethodDescriptorType)


def ctypes_class_parts(cls, own):
    """The result of class_parts for a class of ctypes; ``own`` are its attributes."""
    name = _name_of_swapped_type(cls)
    if name is not None:
        return name
    derived = _derived_parts(cls)
    if derived is not None:
        return make_derived_class, cls.__name__, [], derived, {}
    own = {k: v for k, v in own.items() if not _is_generated(v)}
    namespace = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
    for name in (*_NEEDED, "__slots__", "__doc__"):
        if name in own and not (name == "__doc__" and own[name] is None):
            namespace[name] = own[name]
        own.pop(name, None)
    for name in _SWAPPED_TYPES:
        own.pop(name, None)
    layout = {name: own.pop(name) for name in _LAYOUT if name in own}
    # The metaclass follows from the bases; it cannot be found by name.
    return type, cls.__name__, list(cls.__bases__), namespace, {**layout, **own}


def _is_generated(value):
    return isinstance(value, _GENERATED) or type(value).__name__ == "CField"


def _name_of_swapped_type(cls):
    for base in cls.__mro__[1:]:
        if base.__module__ != "_ctypes":
            break
        plain = getattr(ctypes, cls.__name__, None)
        for name in _SWAPPED_TYPES:
            if plain is not None and vars(plain).get(name) is cls:
                return f"{cls.__name__}.{name}"
    return None


def _derived_parts(cls):
    """The ``parts`` for ``make_derived_class`` of a class that a call of ctypes makes
    once, and returns again for the same arguments; None for any other class."""
    if issubclass(cls, ctypes.Array) and hasattr(cls, "_length_"):
        if cls._type_ * cls._length_ is cls:
            return {"array": cls._type_, "length": cls._length_}
    elif issubclass(cls, ctypes._Pointer) and hasattr(cls, "_type_"):
        if ctypes.POINTER(cls._type_) is cls:
            return {"pointer": cls._type_}
    elif cls.__module__ == "ctypes" and "_argtypes_" in vars(cls):
        signature = [cls._restype_, *cls._argtypes_]
        return {"function": signature, "flags": cls._flags_}
    return None


def make_derived_class(name, bases, parts):
    """The array, pointer or function type of ctypes that has these parts."""
    if "array" in parts:
        return parts["array"] * parts["length"]
    if "pointer" in parts:
        return ctypes.POINTER(parts["pointer"])
    flags = parts["flags"]
    return ctypes.CFUNCTYPE(
        *parts["function"],
        use_errno=bool(flags & ctypes._FUNCFLAG_USE_ERRNO),
        use_last_error=bool(flags & ctypes._FUNCFLAG_USE_LASTERROR),
    )
