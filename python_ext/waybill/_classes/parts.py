"""Classes by value: describes a class by its parts. `making` makes it from them.

The extension loads these functions once. If memory runs out, CPython 3.11 leaks
closures and generators and crashes in dict.items(), so code that handles every class
uses none of these. Tested by tests/python/classes/test_classes.py and test_slots.py.
"""

from __future__ import annotations

import sys
import types
from _collections_abc import KeysView
from _thread import LockType, RLock

from waybill._classes import declarative, enumerations
from waybill._kinds import derived, structs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Attributes that type(), the metaclass or copyreg adds; the author does not.
IMPLICIT_ATTRIBUTES = frozenset(
    {
        "__dict__",
        "__weakref__",
        "__module__",
        "__qualname__",
        "__slotnames__",
        "__abstractmethods__",
        "_abc_impl",
        "__firstlineno__",  # The line of a definition does not matter.
        # A cell with the names of the class body. type() takes it; NamedTuple does not.
        "__classdictcell__",
    }
)

#: Names of attributes that must be set while the class is made: set later, they would
#: change the interpreter's own attribute of that name, or be refused.
_SET_WHILE_MADE = (
    *("__name__", "__class__", "__bases__", "__base__", "__mro__", "__flags__"),
    *("__basicsize__", "__itemsize__", "__dictoffset__", "__weakrefoffset__"),
    "__text_signature__",
)

#: Types of the attributes that type() adds for ``__slots__`` and instance dicts.
_MADE_OF_SLOTS = types.GetSetDescriptorType, types.MemberDescriptorType


def class_parts(cls: Any) -> Any:
    """The parts of a class: metaclass, name, bases, namespace, attributes.

    The class is made with the namespace; the attributes are set afterwards, so that
    they may refer to the class. For a class whose own names are wrong, the result is
    two str: a module, and the name of the class in it. For a class that a reducer makes
    it is a callable and its arguments.
    """
    found = _foreign_parts(cls)
    if found is not None:
        return found
    own = _own_attributes(cls)
    derived.leave_out(cls, own)
    namespace = {"__module__": _module_of(cls), "__qualname__": cls.__qualname__}
    own = _without_slots(cls, own, namespace)
    _fill_namespace(cls, own, namespace)
    if enumerations.makes_enumerations(type(cls)):
        own = enumerations.enumeration_parts(cls, own, namespace)
    # Where 3.14 stores the function of deferred annotations, and its results.
    annotate = own.pop("__annotate_func__", None)
    evaluated = own.pop("__annotations_cache__", None)
    if _is_empty_dict(own.get("__annotations__")):
        del own["__annotations__"]
    if getattr(annotate, "__module__", None) in ("typing", "dataclasses"):
        # Only this version of the library understands the function of a NamedTuple.
        evaluated, annotate = _evaluated(cls, annotate)
    if annotate is not None:
        own["__annotate__"] = annotate
    elif evaluated is not None and not _is_empty_dict(evaluated):
        own["__annotations__"] = evaluated
    if declarative.is_declarative(cls) or declarative.is_mapped(own):
        declarative.declare_again(cls, own, namespace)
    registered = _registered_in(cls)
    if registered:
        own["_abc_impl"] = registered
    generic = getattr(sys.modules.get("typing"), "Generic", None)
    own = _order_attributes(own, _is_among(generic, cls.__mro__))
    bases = cls.__bases__
    if _is_among(generic, bases):
        bases = _written_bases(bases, own, namespace)
    made_by: Any = type(cls)
    if structs.is_struct(cls):
        made_by = structs.struct_parts(cls, namespace)
    return made_by, cls.__name__, list(bases), namespace, own


def _is_among(cls, classes):
    # By identity: a metaclass may define ==.
    return id(cls) in map(id, classes)


def _is_empty_dict(annotations):
    # Python adds an empty dict when code reads __annotations__ of a class without any.
    return type(annotations) is dict and not annotations


def _own_attributes(cls):
    # A copy does not change: other threads may set attributes of the class, and Python
    # caches annotations in its dict.
    own = vars(cls).copy()
    for name in IMPLICIT_ATTRIBUTES:
        own.pop(name, None)
    return own


def _evaluated(cls, annotate):
    """The annotations of a class and None, or None and the function that makes them."""
    try:
        return cls.__annotations__, None
    except (MemoryError, RecursionError):
        raise
    except Exception:  # A name that is not defined yet.
        return None, annotate


def _foreign_parts(cls):
    """The parts of a class that no class statement can make; None for others."""
    if _is_of_ctypes(cls):
        from waybill._kinds import foreign

        return foreign.ctypes_class_parts(cls, _own_attributes(cls))
    if is_made_in_c(cls):
        return _module_and_name_of(cls)
    if _is_of_unloaded_abc(cls):
        return _ABC, cls.__name__
    if "_ctxdata" in vars(cls):
        from waybill._kinds import mpmath_contexts

        return mpmath_contexts.place_of(cls)
    return None


def _fill_namespace(cls, own, namespace):
    """Moves attributes that the class needs while it is made to the namespace."""
    if _needs_keywords(cls):
        namespace["__init_subclass__"] = False
    for name in _properties_of(type(cls)):
        if name in own:
            namespace[name] = own.pop(name)
    for name in _SET_WHILE_MADE:
        if name in own:
            namespace[name] = own.pop(name)
    scope = vars(cls)
    if "__dict__" in scope and type(scope["__dict__"]) not in _MADE_OF_SLOTS:
        namespace["__dict__"] = scope["__dict__"]
    doc = own.pop("__doc__", None)
    if doc is not None:
        namespace["__doc__"] = doc


def _order_attributes(own, is_generic):
    """The attributes in the order in which they are set."""
    places = {}
    for name in own:
        # Attributes that typing and pydantic add come last in their group. In the dict
        # of a received class they come first, since the receiver sets all others later.
        is_added = is_generic and _is_of_typing(name, own[name])
        is_added = is_added or name.startswith(
            ("__pydantic_", "__private_attributes__")
        )
        places[name] = _group_of(own[name]), is_added, name if is_added else ""
    ordered = {}
    for name in sorted(places, key=places.get):
        ordered[name] = own[name]
    return ordered


def _written_bases(bases, own, namespace):
    """The bases of the class statement, such as Generic[T], not Generic."""
    written = own.pop("__orig_bases__", bases)
    if types.resolve_bases(written) == bases:
        return written
    # NamedTuple and TypedDict replace the bases.
    namespace["__orig_bases__"] = written
    return bases


def _properties_of(metaclass):
    """Names of properties without a setter: only a class statement can set them."""
    bases = [base for base in metaclass.__mro__ if base not in (type, object)]
    return {
        name: None
        for base in bases
        for name, value in vars(base).copy().items()
        if isinstance(value, property) and value.fset is None
    }


_ABC = "collections.abc"


def _is_of_unloaded_abc(cls):
    """Whether a class belongs to collections.abc, and that is not loaded. The class is
    in _collections_abc, from which collections.abc will take it."""
    if _module_of(cls) != _ABC or _ABC in sys.modules:
        return False
    return vars(sys.modules["_collections_abc"]).get(cls.__name__) is cls


def _module_of(cls):
    # A class has no __module__ if it was made without a global __name__.
    return getattr(cls, "__module__", None)


def _module_and_name_of(cls):
    """The module and the name of a class made in C.

    View and iterator types have wrong names, and most of them are in no module.
    """
    # The interpreter makes types of typing for the syntax of PEP 695 without loading
    # typing, which has each of them under its name.
    if _module_of(cls) == "typing" and "typing" not in sys.modules:
        return "typing", cls.__name__
    for home in (_module_of(cls), "_collections_abc", _UNNAMED_TYPES):
        if home is _UNNAMED_TYPES:
            __import__(home)
        module = sys.modules.get(home)
        for name, value in vars(module).copy().items() if module is not None else ():
            if value is cls:
                return home, name
    raise TypeError(f"{cls!r} is made in C and no module has it under a name")


_UNNAMED_TYPES = "waybill._kinds.unnamed_types"

_MAX_PLAIN_ITEMS = 100
_LOCKS = LockType, RLock
LEAVES = frozenset({type(None), bool, int, float, complex, str, bytes})


def _group_of(value):
    """The group of an attribute; groups are set in their order.

    An attribute, or an object that a method uses, may be an instance of the class, and
    building that instance may need the attributes of earlier groups.
    """
    if _is_plain(value) or type(value) in _LOCKS:
        return 0
    methods = types.FunctionType, classmethod, staticmethod, property
    return 1 if isinstance(value, methods) else 2


def _is_plain(value):
    kind = type(value)
    if kind not in (dict, list, tuple, set, frozenset):
        return _is_leaf(value)
    # A long container may be a cache that other threads fill.
    if len(value) > _MAX_PLAIN_ITEMS:
        return False
    return all(map(_is_leaf, list(value))) and (
        kind is not dict or all(map(_is_leaf, list(value.values())))
    )


def _is_leaf(value):
    return type(value) in LEAVES


def _is_of_typing(name, value):
    """Whether typing adds the attribute to generic classes and protocols."""
    # A classmethod that type() made has no copy of the __module__ of its function, and
    # other callables may have none.
    function = value.__func__ if type(value) is classmethod else value
    if type(function) is types.FunctionType:
        return function.__module__ == "typing"
    return name in _FROM_TYPING


_FROM_TYPING = frozenset(
    {
        "__annotations__",
        "__callable_proto_members_only__",
        "__non_callable_proto_members__",
        "__orig_bases__",
        "__parameters__",
        "__protocol_attrs__",
        "_is_protocol",
        "_is_runtime_protocol",
    }
)


def _is_of_ctypes(cls):
    metaclasses = type(cls).__mro__
    return len(metaclasses) > 2 and any(m.__module__ == "_ctypes" for m in metaclasses)


def is_made_in_c(cls: type) -> bool:
    kinds = (
        types.MethodDescriptorType,
        types.WrapperDescriptorType,
        types.ClassMethodDescriptorType,
    )
    for value in vars(cls).copy().values():
        if type(value) in kinds and value.__objclass__ is cls:
            return True
    return False


def _needs_keywords(cls):
    """Whether an __init_subclass__ needs keywords, which a class does not keep."""
    for base in cls.__mro__[1:]:
        hook = vars(base).get("__init_subclass__")
        if hasattr(getattr(hook, "__func__", None), "__code__"):
            return needs_further_arguments(hook.__func__, 1)
    return False


def needs_further_arguments(function, count):
    """Whether a function requires arguments besides its first ``count``."""
    code = function.__code__
    names = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    defaults = function.__kwdefaults__ or {}
    required = code.co_argcount - count - len(function.__defaults__ or ())
    return required > 0 or any(name not in defaults for name in names)


def _registered_in(cls):
    """The virtual subclasses that were registered with an abstract class."""
    if "_abc_impl" not in vars(cls):
        return []
    from _abc import _get_dump

    found = [reference() for reference in _get_dump(cls)[0]]
    alive = [found_class for found_class in found if found_class is not None]
    return sorted(alive, key=lambda c: (str(_module_of(c)), c.__qualname__))


def _without_slots(cls, own, namespace):
    """The attributes of a class besides its slots; the slots go into the namespace."""
    slots = []
    for name in own:
        if _is_slot(cls, name, own[name]):
            slots.append(name)
    if "__slots__" not in own and not slots:
        return own
    return _move_slots(cls, own, sorted(slots), namespace)


def _move_slots(cls, own, slots, namespace):
    """The attributes besides these slots, which go into the namespace.

    The layout of instances shows which slots the class statement declared. __slots__
    may have been set or deleted since, and then is an ordinary attribute.
    """
    own = {name: own[name] for name in own if name not in slots}
    # An attribute that has replaced a slot comes after __static_attributes__ here, but
    # before it in a received class. So __static_attributes__ is always put first.
    static = "__static_attributes__"
    if static in own:
        own = {static: own[static], **own}
    declared = own.pop("__slots__", None)
    names = _names_in(cls, declared)
    added = [name for name in OFFSETS if adds_attribute(cls, name, cls.__bases__)]
    count = len(added) + _count_slots(cls)
    is_whole = names is not None and len(names) == count
    if is_whole and names.issuperset((*slots, *added)):
        namespace["__slots__"] = declared
        return own
    # Without __slots__, instances have a dict and, unless they vary in size, weak
    # references.
    has_places = cls.__dictoffset__ and (cls.__weakrefoffset__ or cls.__itemsize__)
    if slots or not has_places:
        namespace["__slots__"] = (*slots, *added)
    # __slots__ comes first, as in a class statement that declares it.
    return own if declared is None else {"__slots__": declared, **own}


#: Offsets in a type, which are 0 if its instances do not have these attributes.
OFFSETS = {"__dict__": "__dictoffset__", "__weakref__": "__weakrefoffset__"}


def _is_slot(cls, name, value):
    kind = types.MemberDescriptorType
    return type(value) is kind and (value.__objclass__, value.__name__) == (cls, name)


def _names_in(cls, slots):
    """The attributes that a __slots__ names; None if it is invalid or used up."""
    if not isinstance(slots, str | tuple | list | dict | set | frozenset | KeysView):
        return None
    names = [slots] if isinstance(slots, str) else list(slots)
    if not all(isinstance(name, str) for name in names):
        return None
    return {mangle(name, cls.__name__) for name in names}


def mangle(name: str, class_name: str | None) -> str:
    """A name as the compiler mangles it in a class."""
    around = (class_name or "").lstrip("_")
    if around and name.startswith("__") and not name.endswith("__"):
        return f"_{around}{name}"
    return name


def adds_attribute(cls: type, name: str, bases: Any) -> bool:
    """Whether instances have the attribute, and those of no base have it."""
    offset = OFFSETS[name]
    if not getattr(cls, offset):
        return False
    return not any(getattr(base, offset) for base in bases)


def _count_slots(cls):
    """How many slots instances have besides those of the bases."""
    base = cls.__base__
    size = tuple.__itemsize__
    room = cls.__basicsize__ - base.__basicsize__
    # Before 3.12 the weak references, and the dict of variable-sized objects, take the
    # room of a slot.
    room -= size * (cls.__weakrefoffset__ > 0 == base.__weakrefoffset__)
    room -= size * (cls.__dictoffset__ == -size != base.__dictoffset__)
    return room // size
