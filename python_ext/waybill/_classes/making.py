"""Classes by value: makes a class from the parts that `parts` describes.

The extension loads these functions once.
"""

from __future__ import annotations

import sys
import types

from waybill._classes import declarative, enumerations
from waybill._classes.hooks import make_by_hooks, plain_method
from waybill._classes.identity import TRACKER
from waybill._classes.parts import needs_further_arguments
from waybill._kinds import derived

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def make_class(metaclass, name, bases, namespace, is_base_open):
    """A new class, without the attributes that set_class_attribute sets.

    No hook of the bases is called if the namespace has ``__init_subclass__: False``, or
    if a base has not got its attributes yet (``is_base_open``): the effects of the hook
    at the sender are attributes of the class and its bases.
    """
    if metaclass is type and len(bases) == 1 and bases[0] is object:
        namespace.pop("__init_subclass__", None)  # There is no hook.
        return type(name, (object,), namespace)
    if not isinstance(metaclass, type):
        return metaclass(name, tuple(bases), namespace)
    if metaclass.__name__ == "_TypedDictMeta":
        # The attributes include those that the metaclass computes.
        return type.__new__(metaclass, name, tuple(bases), namespace)
    is_hooked = namespace.pop("__init_subclass__", True) and not is_base_open
    keywords = {"metaclass": _maker(metaclass)}
    if "_boundary_" in namespace:
        keywords["boundary"] = namespace.pop("_boundary_")
    members = None
    if enumerations.makes_enumerations(metaclass):
        members = enumerations.body_of_members(namespace)
        namespace = members or namespace

    def body(scope):
        # One by one: the namespace of an enumeration observes each item.
        for key, value in namespace.items():
            scope[key] = value

    bases = tuple(bases)
    made = make_by_hooks(name, bases, keywords, body, is_hooked)
    if members:
        enumerations.finish_members(made)
    return made


def _maker(metaclass):
    """A callable that makes classes of a metaclass.

    Returns the metaclass itself if it was imported and needs no keywords; otherwise a
    function that calls the methods of the nearest base of which both are true. The
    effects of the other bases at the sender are attributes of the class.
    """
    for base in metaclass.__mro__:
        own = [vars(base).get(name) for name in ("__new__", "__init__")]
        made = [getattr(hook, "__func__", hook) for hook in own]
        if not any(
            isinstance(m, types.FunctionType)
            and (TRACKER.has_id(base) or needs_further_arguments(m, 4))
            for m in made
        ):
            break
    if base is metaclass:
        return metaclass

    def make(name, bases, namespace, **keywords):
        made = base.__new__(metaclass, name, bases, namespace, **keywords)
        base.__init__(made, name, bases, namespace, **keywords)
        return made

    make.__prepare__ = base.__prepare__
    return make


def set_class_attribute(cls: Any, name: str, value: Any) -> None:
    """Sets one of the attributes that class_parts lists."""
    if type(cls) is type and name != "_sa_class_manager":
        setattr(cls, name, value)
    elif name == "_abc_impl":
        for registered in value:
            cls.register(registered)
    elif name in (
        "_member_map_",
        "__new_member__",
    ) and enumerations.makes_enumerations(type(cls)):
        enumerations.set_enumeration_attribute(cls, name, value)
    elif name == "__mapper__" and declarative.is_declarative(cls):
        declarative.finish_mapping(cls, value)
    elif name == "_sa_class_manager":
        declarative.map_again(cls, value)
    elif declarative.is_declarative(cls):
        setattr(cls, name, value)
    else:
        plain_method(type(cls), "__setattr__")(cls, name, value)


def delete_class_attribute(cls: Any, name: str) -> None:
    """Deletes an attribute without code of the metaclass."""
    plain_method(type(cls), "__delattr__")(cls, name)


def finish_class(cls: Any) -> None:
    """Completes a class whose attributes are all set."""
    # Libraries generate some methods of a class from another Python again.
    generated = sys.modules.get("waybill._source.generated")
    if generated is not None:
        generated.finish_generated(cls)
    update = getattr(sys.modules.get("abc"), "update_abstractmethods", None)
    if update is not None:
        _update_abstract_methods(update, cls)
    derived.derive_again(cls)


def _update_abstract_methods(update: Any, cls: Any) -> None:
    attempts = 0
    while True:
        try:
            update(cls)
            return
        except RuntimeError:
            # It iterates over the dict of the class, which another thread may change.
            attempts += 1
            if attempts == 100:
                raise
