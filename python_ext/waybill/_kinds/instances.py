"""Instances that ``object.__reduce_ex__`` does not describe; see ``_reducers``."""

import copyreg
import sys
import types


def reduce_by_type(obj):
    """What ``object.__reduce_ex__`` would return if ``__class__`` were the type."""
    cls = type(obj)
    if not _is_reduced_by_object(cls):
        return obj.__reduce_ex__(5)
    made, arguments = _creation(cls, obj)
    if not _has_content(cls, arguments) and _has_state_of_object(cls):
        _demand_plain_layout(cls, copyreg._slotnames(cls))
    return made, arguments, cls.__getstate__(obj), *_items(cls, obj)


def reduce_by_members(obj):
    """What ``object.__reduce_ex__`` would return if ``__slots__`` named the slots.

    The slots are those that the type has descriptors for, whatever ``__slots__`` is
    now. None if the class defines how its instances are reduced.
    """
    cls = type(obj)
    if not (_is_reduced_by_object(cls) and _has_state_of_object(cls)):
        return None
    made, arguments = _creation(cls, obj)
    slots = _slots(cls)
    if not _has_content(cls, arguments):
        _demand_plain_layout(cls, slots)
    state = getattr(obj, "__dict__", None) or None
    values = _values(obj, slots)
    if values:
        state = state, values
    return made, arguments, state, *_items(cls, obj)


def reduce_without_class(obj):
    """The content of an object that is made before its class is complete.

    No code of the class runs. The content is that of object.__reduce_ex__ without the
    arguments. None if the class defines its state: it may leave out content that is
    specific to the process, such as hashes. The sole instance of a class, which its
    ``__new__`` returns, is an exception: it cannot be made in another way.
    """
    cls = type(obj)
    if cls.__name__ == "_GenericAlias":
        from waybill._kinds import annotations

        return annotations.make_generic_alias, (obj.__origin__, obj.__args__)
    has_full_state = _has_state_of_object(cls) or _has_state_of_fields(cls)
    if not has_full_state and not _is_held_by_its_new(obj):
        return None
    base = next(b for b in cls.__mro__ if not b.__flags__ & _HEAP_TYPE_FLAG)
    if base is not object and base not in _COPYING_TYPES:
        return None
    slots = _slots(cls)
    if base is object:
        _demand_plain_layout(cls, slots)
    content = None if base is object else base(obj)
    members = getattr(obj, "__dict__", None) or None, _values(obj, slots)
    made = copyreg._reconstructor, (cls, base, content)
    return *made, members, None, None, set_members


def _is_held_by_its_new(obj):
    constructor = type(obj).__new__
    cells = getattr(constructor, "__closure__", None) or ()
    return any(_content(cell) is obj for cell in cells)


def _content(cell):
    try:
        return cell.cell_contents
    except ValueError:  # Empty.
        return None


#: Types in C whose constructor copies the content of an instance.
_COPYING_TYPES = frozenset({int, float, complex, str, bytes})


def set_members(obj, members):
    """Sets the content that `reduce_without_class` gives, without code of the class."""
    attributes, values = members
    if attributes:
        obj.__dict__.update(attributes)
    slots = _slots(type(obj))
    for name, value in values.items():
        slots[name].__set__(obj, value)


def _values(obj, slots):
    values = {}
    for name, slot in slots.items():
        try:
            values[name] = slot.__get__(obj, type(obj))
        except AttributeError:  # Not set.
            pass
    return values


def _is_reduced_by_object(cls):
    own = cls.__reduce_ex__, cls.__reduce__
    return own == (object.__reduce_ex__, object.__reduce__)


def _has_state_of_object(cls):
    return cls.__getstate__ is object.__getstate__


def _has_state_of_fields(cls):
    """Whether a class is a dataclass with slots: the state then has all fields."""
    dataclasses = sys.modules.get("dataclasses")
    own = getattr(dataclasses, "_dataclass_getstate", None)
    return own is not None and cls.__getstate__ is own


def _creation(cls, obj):
    if hasattr(cls, "__getnewargs_ex__"):
        arguments, keywords = cls.__getnewargs_ex__(obj)
        return copyreg.__newobj_ex__, (cls, arguments, keywords)
    arguments = cls.__getnewargs__(obj) if hasattr(cls, "__getnewargs__") else ()
    return copyreg.__newobj__, (cls, *arguments)


def _has_content(cls, arguments):
    """Whether an instance has content besides its state."""
    return len(arguments) > 1 or issubclass(cls, (list, dict))


def _items(cls, obj):
    items = iter(obj) if issubclass(cls, list) else None
    pairs = iter(cls.items(obj)) if issubclass(cls, dict) else None
    return items, pairs


def _slots(cls):
    """The descriptors of slots, by attribute name."""
    slots = {}
    for base in reversed(cls.__mro__):
        if not base.__flags__ & _HEAP_TYPE_FLAG:
            continue
        for name, slot in vars(base).items():
            if type(slot) is types.MemberDescriptorType and slot.__objclass__ is base:
                slots[name] = slot
    return slots


#: Py_TPFLAGS_HEAPTYPE.
_HEAP_TYPE_FLAG = 1 << 9


def _demand_plain_layout(cls, slots):
    """Raises TypeError for an instance with more memory than a dict and these slots:
    its class is made in C and does not support pickling."""
    pointer = tuple.__itemsize__
    fields = [cls.__dictoffset__ > 0, cls.__weakrefoffset__ > 0]
    size = object.__basicsize__ + pointer * (sum(fields) + len(slots))
    if cls.__basicsize__ > size:
        raise TypeError(f"cannot pickle {cls.__name__!r} object")
