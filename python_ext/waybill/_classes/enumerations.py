"""Enumerations by value, for ``_classes/parts.py`` and ``_classes/making.py``.

A member is made from its value and the content of its data type. ``__new__`` and
``__init__`` of the author are not called.
"""

from __future__ import annotations

import copyreg
import sys
import types

from waybill._state.snapshots import ABSENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: Attributes that EnumType derives from members and bases, in all supported Pythons.
DERIVED = frozenset(
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
# The attributes among these that list members or their values.
_TABLES = (
    "_hashable_values_",
    "_member_map_",
    "_member_names_",
    "_unhashable_values_",
    "_unhashable_values_map_",
    "_value2member_map_",
)
#: Attributes of members that EnumType sets; a flag caches its complement.
MEMBER_ATTRIBUTES = frozenset(
    {"_value_", "_name_", "__objclass__", "_sort_order_", "_inverted_"}
)

# Data types whose content is the value of the member.
_SIMPLE = (int, str, bytes, float)


def makes_enumerations(metaclass: type) -> bool:
    # Another thread may be importing enum.
    kind = getattr(sys.modules.get("enum"), "EnumMeta", None)
    return kind is not None and issubclass(metaclass, kind)


def enumeration_parts(cls, own, namespace):
    """Adds the members to the namespace, and returns the attributes.

    The attributes are those that the author defined besides the members, and, under
    ``_member_map_``, the state that __init__ or __new__ gave to each member.
    """
    kind = _data_type_of(cls)
    contents, states = {}, {}
    for name, member in cls.__members__.items():
        content = _content(kind, member)
        if not _is_default_content(kind, content, member._value_):
            contents[name] = content
        if state := _state(member):
            states[name] = state
    own = {n: v for n, v in own.items() if not _is_derived(cls, n, v)}
    own["_member_map_"] = states
    if _is_flag(cls):
        namespace["_boundary_"] = cls._boundary_
    if contents:
        namespace["_contents_"] = contents
    for name, member in cls.__members__.items():
        namespace[name] = member._value_
    return own


def _data_type_of(cls):
    """The data type of the members: the first base whose __new__ is in C."""
    made_in_c = types.BuiltinFunctionType
    return next(c for c in cls.__mro__ if type(vars(c).get("__new__")) is made_in_c)


def _content(kind, member):
    """The arguments of the data type's __new__ for the content of a member."""
    if kind is object:
        return ()
    if hasattr(kind, "__getnewargs__"):
        return kind.__getnewargs__(member)
    made, arguments = kind.__reduce_ex__(member, 2)[:2]
    return arguments[1:] if made is copyreg.__newobj__ else arguments


def _is_default_content(kind, content, value):
    if kind is object:
        return True
    return kind in _SIMPLE and type(value) is kind and content == (value,)


def _state(member):
    state = {k: v for k, v in vars(member).items() if k not in MEMBER_ATTRIBUTES}
    for name in copyreg._slotnames(type(member)):
        if hasattr(member, name):
            state[name] = getattr(member, name)
    return state


def _is_derived(cls, name, value):
    if name in cls.__members__ or name in DERIVED:
        return True
    if name == "_generate_next_value_":
        inherited = getattr(cls.__bases__[-1], name, None)
        return getattr(value, "__func__", value) is inherited
    if name == "_iter_member_":
        return getattr(value, "__self__", None) is cls
    enum = sys.modules["enum"]
    kinds = (enum.Enum, enum.Flag, enum.IntEnum, enum.IntFlag)
    if value is None or isinstance(value, (int, type)):
        # The same object under another name is a coincidence.
        return any(name in vars(kind) and vars(kind)[name] is value for kind in kinds)
    return any(value is other for kind in kinds for other in vars(kind).copy().values())


def body_of_members(namespace):
    """The namespace of a class statement that makes the members; None without any."""
    contents = namespace.pop("_contents_", {})
    values = values_in(namespace)
    if not values:
        return None
    to_make = iter(values.items())

    def __new__(cls, *given):
        name, value = next(to_make)
        return _make_member(cls, value, contents.get(name))

    def __init__(self, *given):
        pass

    # Functions and classes become members only if member() marks them.
    as_member = sys.modules["enum"].member
    members = {name: as_member(value) for name, value in values.items()}
    return {**namespace, **members, "__new__": __new__, "__init__": __init__}


def values_in(namespace: dict[str, Any]) -> dict[str, Any]:
    """The values of the members in the namespace of a class statement, by name."""
    return {n: v for n, v in namespace.items() if not _is_reserved(n)}


def names_in(cls: Any, namespace: dict[str, Any]) -> frozenset[str]:
    """The names of the members in the namespace of a class statement; empty if the
    class is not an enumeration."""
    is_enumeration = isinstance(cls, type) and makes_enumerations(type(cls))
    return frozenset(values_in(namespace) if is_enumeration else ())


def _is_reserved(name):
    return len(name) > 2 and name[0] == name[-1] == "_"


def _make_member(cls, value, content):
    kind = _data_type_of(cls)
    default_content = () if kind is object else (value,)
    member = kind.__new__(cls, *default_content if content is None else content)
    object.__setattr__(member, "_value_", value)
    return member


def add_members(
    cls: Any, namespace: dict[str, Any], removed: frozenset[str]
) -> dict[str, Any]:
    """Adds the members in the namespace of a class statement that the class lacks.

    Returns the names of the added members, each with the attribute of that name that
    the class had before. Existing members stay, whatever their values. Names in
    ``removed``, which were members at an earlier payload, are not added again.
    """
    contents = namespace.get("_contents_", {})
    values, added = values_in(namespace), {}
    for name in values:
        if name not in cls._member_map_ and name not in removed:
            added[name] = vars(cls).get(name, ABSENT)
            _add_member(cls, name, values[name], contents.get(name))
    return added


def _add_member(cls, name, value, content):
    # Does what EnumType does, and runs no code of the author.
    member = _member_with(cls, value)
    if member is None:
        member = _make_member(cls, value, content)
        object.__setattr__(member, "__objclass__", cls)
    if cls._member_map_.get(getattr(member, "_name_", None)) is not member:
        # The member is new, or is a combination of flags without a name.
        object.__setattr__(member, "_name_", name)
        object.__setattr__(member, "_sort_order_", len(cls._member_names_))
        if not _is_flag(cls) or _is_single_bit(value):
            cls._member_names_.append(name)
    cls._member_map_[name] = member
    try:
        cls._value2member_map_.setdefault(value, member)
        if value not in getattr(cls, "_hashable_values_", (value,)):
            cls._hashable_values_.append(value)
    except TypeError:  # EnumType searches unhashable values in a list.
        getattr(cls, "_unhashable_values_", []).append(value)
        getattr(cls, "_unhashable_values_map_", {}).setdefault(name, []).append(value)
    _set_masks(cls)
    type.__setattr__(cls, name, _attribute_for(cls, name, member))


def _attribute_for(cls, name, member):
    """The attribute for a member; a redirect if a base has a property of its name."""
    hidden = [vars(base)[name] for base in cls.__mro__[1:] if name in vars(base)]
    if not hidden or not isinstance(hidden[0], (property, types.DynamicClassAttribute)):
        return member
    redirect = sys.modules["enum"].property(hidden[0].fget)
    redirect.member = member
    redirect.__set_name__(cls, name)
    return redirect


def remove_members(
    cls: Any, names: list[str]
) -> tuple[Callable[..., object], tuple[Any, ...]]:
    """Removes names of members. A member that has another name stays.

    Returns a function, with its arguments, that undoes it.
    """
    before = {name: vars(cls)[name].copy() for name in _TABLES if name in vars(cls)}
    attributes = {name: vars(cls)[name] for name in names if name in vars(cls)}
    for name in names:
        member = cls._member_map_.pop(name, None)
        if member is None:
            continue
        shown = vars(cls).get(name)
        if isinstance(shown, types.DynamicClassAttribute):
            shown = getattr(shown, "member", None)  # That of a redirect.
        if shown is member:
            type.__delattr__(cls, name)
        aliases = [n for n, other in cls._member_map_.items() if other is member]
        if member._name_ == name and aliases:
            object.__setattr__(member, "_name_", aliases[0])
        if name in cls._member_names_:
            at = cls._member_names_.index(name)
            cls._member_names_[at : at + 1] = aliases[:1]
        getattr(cls, "_unhashable_values_map_", {}).pop(name, None)
        if aliases:
            continue
        for value in [v for v, m in cls._value2member_map_.items() if m is member]:
            del cls._value2member_map_[value]
        for table in ("_hashable_values_", "_unhashable_values_"):
            values = getattr(cls, table, [])
            values[:] = [value for value in values if value is not member._value_]
    _set_masks(cls)
    return _undo_removal, (cls, before, attributes)


def _undo_removal(cls, tables, attributes):
    for name, table in tables.items():
        held = vars(cls)[name]
        held.clear()
        (held.update if isinstance(held, dict) else held.extend)(table)
    named = {}
    for name, member in cls._member_map_.items():
        object.__setattr__(member, "_name_", named.setdefault(id(member), name))
    for name, value in attributes.items():
        type.__setattr__(cls, name, value)
    _set_masks(cls)


def _member_with(cls, value):
    try:
        return cls._value2member_map_.get(value)
    except TypeError:
        members = cls._member_map_.values()
        return next((m for m in members if m._value_ == value), None)


def _is_flag(cls):
    return issubclass(cls, sys.modules["enum"].Flag)


def _is_single_bit(value):
    return value > 0 and value & (value - 1) == 0


def _set_masks(cls):
    if not _is_flag(cls):
        return
    every = singles = 0
    for member in cls._member_map_.values():
        value = member._value_
        every |= value
        singles |= value if _is_single_bit(value) else 0
    type.__setattr__(cls, "_flag_mask_", every)
    type.__setattr__(cls, "_singles_mask_", singles)
    type.__setattr__(cls, "_all_bits_", 2 ** every.bit_length() - 1)
    # Cached complements have other bits now.
    for member in cls._value2member_map_.values():
        if "_inverted_" in vars(member):
            object.__setattr__(member, "_inverted_", None)


def finish_members(cls):
    """Removes the methods that body_of_members added."""
    for name in ("__init__", "__new_member__"):
        type.__delattr__(cls, name)
    found = type(cls)._find_new_({}, cls._member_type_, cls.__bases__[-1])
    _set_member_constructor(cls, found[0], found[2])


def set_enumeration_attribute(cls, name, value):
    """Sets an attribute that has effects on members."""
    if name == "_member_map_":
        set_states(cls, value)
    else:
        setattr(cls, name, value)
        if name == "__new_member__":
            _set_member_constructor(cls, value, True)


def set_states(cls: Any, states: dict[str, Any]) -> None:
    """Sets the attributes of members, by name of member. Skips unknown names."""
    for name in states:
        if name in cls._member_map_:
            _set_state(cls._member_map_[name], states[name])


def _set_member_constructor(cls, function, takes_value):
    # EnumType makes derived classes and pseudo-members with these attributes.
    type.__setattr__(cls, "_new_member_", function)
    type.__setattr__(cls, "_use_args_", takes_value)


def _set_state(member, state):
    slots = copyreg._slotnames(type(member))
    for name, value in state.items():
        if name in slots:
            object.__setattr__(member, name, value)
        else:
            vars(member)[name] = value
