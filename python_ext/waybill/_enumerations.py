"""Enumerations by value; asked by ``_class_parts.py`` and ``_classes.py``,
in their terms.

A member is made from its value and from what its type in C holds. Nothing that the
author wrote to make members is called again.
"""

import copyreg
import sys
import types

# What EnumType derives from members and bases, in any of the supported Pythons.
_DERIVED = frozenset(
    {
        "_all_bits_",
        "_boundary_",
        "_flag_mask_",
        "_hashable_values_",
        "_inverted_",
        "_member_map_",
        "_member_names_",
        "_member_type_",
        "_new_member_",
        "_singles_mask_",
        "_unhashable_values_",
        "_unhashable_values_map_",
        "_use_args_",
        "_value2member_map_",
        "_value_repr_",
        "__new__",
    }
)
# What each member gets from EnumType; a flag keeps its complement once it was asked.
_OF_MEMBERS = ("_value_", "_name_", "__objclass__", "_sort_order_", "_inverted_")

# Content that is the value of the member, as nearly always.
_SIMPLE = (int, str, bytes, float)


def makes_enumerations(metaclass):
    enum = sys.modules.get("enum")
    return enum is not None and issubclass(metaclass, enum.EnumMeta)


def enumeration_parts(cls, own, namespace):
    """Adds to the namespace what makes the members; answers the attributes.

    These are what the author put beside the members, and under ``_member_map_`` what
    __init__ or __new__ gave to each.
    """
    kind = _type_in_c(cls)
    contents, states = {}, {}
    for name, member in cls.__members__.items():
        content = _content(kind, member)
        if not _is_usual(kind, content, member._value_):
            contents[name] = content
        if state := _state(member):
            states[name] = state
    own = {n: v for n, v in own.items() if not _is_derived(cls, n, v)}
    own["_member_map_"] = states
    enum = sys.modules["enum"]
    if issubclass(cls, enum.Flag):
        namespace["_boundary_"] = cls._boundary_
    if contents:
        namespace["_contents_"] = contents
    for name, member in cls.__members__.items():
        namespace[name] = member._value_
    return own


def _type_in_c(cls):
    """The first type that makes objects in C: the data type, or object."""
    made_in_c = types.BuiltinFunctionType
    return next(c for c in cls.__mro__ if type(vars(c).get("__new__")) is made_in_c)


def _content(kind, member):
    """What a type in C holds of a member, as arguments of its __new__."""
    if kind is object:
        return ()
    if hasattr(kind, "__getnewargs__"):
        return kind.__getnewargs__(member)
    made, arguments = kind.__reduce_ex__(member, 2)[:2]
    return arguments[1:] if made is copyreg.__newobj__ else arguments


def _is_usual(kind, content, value):
    if kind is object:
        return True
    return kind in _SIMPLE and type(value) is kind and content == (value,)


def _state(member):
    state = {k: v for k, v in vars(member).items() if k not in _OF_MEMBERS}
    for name in copyreg._slotnames(type(member)):
        if hasattr(member, name):
            state[name] = getattr(member, name)
    return state


def _is_derived(cls, name, value):
    if name in cls.__members__ or name in _DERIVED:
        return True
    if name == "_generate_next_value_":
        inherited = getattr(cls.__bases__[-1], name, None)
        return getattr(value, "__func__", value) is inherited
    if name == "_iter_member_":
        return getattr(value, "__self__", None) is cls
    enum = sys.modules["enum"]
    kinds = (enum.Enum, enum.Flag, enum.IntEnum, enum.IntFlag)
    return any(value is other for kind in kinds for other in vars(kind).copy().values())


def body_of_members(namespace):
    """The namespace of a class statement that makes the members; None if there are
    none to make."""
    contents = namespace.pop("_contents_", {})
    values = {n: v for n, v in namespace.items() if not _is_reserved(n)}
    if not values:
        return None
    to_make = iter(values.items())

    def __new__(cls, *given):
        name, value = next(to_make)
        kind = _type_in_c(cls)
        usual = () if kind is object else (value,)
        member = kind.__new__(cls, *contents.get(name, usual))
        member._value_ = value
        return member

    def __init__(self, *given):
        pass

    # Functions and classes are members only where that is said.
    is_member = sys.modules["enum"].member
    members = {name: is_member(value) for name, value in values.items()}
    return {**namespace, **members, "__new__": __new__, "__init__": __init__}


def _is_reserved(name):
    return len(name) > 2 and name[0] == name[-1] == "_"


def finish_members(cls):
    """Takes back what body_of_members added."""
    for name in ("__init__", "__new_member__"):
        type.__delattr__(cls, name)
    found = type(cls)._find_new_({}, cls._member_type_, cls.__bases__[-1])
    _set_way_to_make(cls, found[0], found[2])


def set_enumeration_attribute(cls, name, value):
    """Sets what is more than an attribute."""
    if name == "_member_map_":
        slots = copyreg._slotnames(cls)
        for member, state in value.items():
            _set_state(cls.__members__[member], state, slots)
    else:
        setattr(cls, name, value)
        if name == "__new_member__":
            _set_way_to_make(cls, value, True)


def _set_way_to_make(cls, function, takes_value):
    # What classes derived from this one, and pseudo-members, are made with.
    type.__setattr__(cls, "_new_member_", function)
    type.__setattr__(cls, "_use_args_", takes_value)


def _set_state(member, state, slots):
    for name, value in state.items():
        if name in slots:
            object.__setattr__(member, name, value)
        else:
            vars(member)[name] = value
