"""functools, descriptors, context managers; see ``_reducers``."""

import functools
import gc
import types


def reduce_cached_property(obj):
    # Made anew: 3.11 keeps a lock in it, and 3.13 the module of the function.
    state = {k: v for k, v in vars(obj).items() if k not in ("func", "lock")}
    if state.get("__module__") == obj.func.__module__:
        del state["__module__"]
    return functools.cached_property, (obj.func,), state


def reduce_dispatching_method(obj):
    # Made anew: what it keeps to be quick is not the same on all versions.
    state = {k: v for k, v in vars(obj).items() if k not in ("func", "_method_cache")}
    return functools.singledispatchmethod, (obj.func,), state


def reduce_partial_method(obj):
    # Called with what it was made of, from which 3.14 derives more.
    derived = ("func", "args", "_phcount", "_merger")
    state = {k: v for k, v in vars(obj).items() if k not in derived}
    return functools.partialmethod, (obj.func, *obj.args), state


def reduce_comparison_key(obj):
    # The function, which it shows to nobody else, then what it was called with.
    function, *held = (r for r in gc.get_referents(obj) if r is not type(obj))
    made = functools.cmp_to_key(function)
    return (made, tuple(held)) if held else (functools.cmp_to_key, (function,))


def reduce_generator_context(obj):
    # __enter__ forgets what it was made of, unless it serves as a decorator.
    made_of = vars(obj)
    if not {"func", "args", "kwds"} <= made_of.keys() or _has_begun(obj.gen):
        raise TypeError("a context manager that was entered cannot be sent")
    return type(obj), (obj.func, obj.args, obj.kwds)


def _has_begun(generator):
    import inspect

    if isinstance(generator, types.AsyncGeneratorType):
        frame = generator.ag_frame
        return frame is None or generator.ag_running or frame.f_lasti > _first(frame)
    return inspect.getgeneratorstate(generator) != inspect.GEN_CREATED


def _first(frame):
    """Where a generator stands that did not begin: behind RETURN_GENERATOR."""
    import dis

    for instruction in dis.get_instructions(frame.f_code):
        if instruction.opname in ("RESUME", "RETURN_GENERATOR"):
            first = instruction.offset
        if instruction.opname == "RESUME":
            return first
    return -1


def reduce_super(obj):
    bound = () if obj.__self__ is None else (obj.__self__,)
    return super, (obj.__thisclass__, *bound)


def reduce_class_descriptor(obj):
    """Descriptors of C that getattr() would bind or call."""
    return own_attribute, (obj.__objclass__, obj.__name__)


def own_attribute(cls, name):
    """What a class itself has under a name, as it is."""
    return vars(cls)[name]


def protocol_hook(cls, other):
    """Stands for what typing keeps for protocols under a name that it lacks here."""
    return NotImplemented


def replace_fields(self, /, **changes):
    """What ``dataclasses._replace`` is where there is one."""
    import dataclasses

    return dataclasses.replace(self, **changes)


class SignatureAsDoc:
    """The ``__doc__`` of a dataclass without one of its own, where dataclasses has no
    such: made when it is asked for."""

    def __get__(self, instance, cls):
        from inspect import signature

        try:
            return cls.__name__ + str(signature(cls)).replace(" -> None", "")
        except (TypeError, ValueError):
            return cls.__name__
