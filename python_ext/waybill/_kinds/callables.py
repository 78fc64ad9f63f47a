"""Reducers of functools, descriptors, context managers; see ``_reducers``."""

import functools
import gc
import types


def reduce_cached_property(obj):
    # The receiver makes a new property: 3.11 stores a lock in it, and 3.13 the module
    # of the function.
    state = {k: v for k, v in vars(obj).items() if k not in ("func", "lock")}
    if state.get("__module__") == obj.func.__module__:
        del state["__module__"]
    return functools.cached_property, (obj.func,), state


def reduce_dispatching_method(obj):
    # The receiver makes a new method, because caches differ between versions.
    state = {k: v for k, v in vars(obj).items() if k not in ("func", "_method_cache")}
    return functools.singledispatchmethod, (obj.func,), state


def reduce_partial_method(obj):
    # Made from its arguments: 3.14 derives more attributes from them.
    derived = ("func", "args", "_phcount", "_merger")
    state = {k: v for k, v in vars(obj).items() if k not in derived}
    return functools.partialmethod, (obj.func, *obj.args), state


def reduce_comparison_key(obj):
    # No attribute has the function. gc returns it, and then the argument of its call.
    function, *arguments = (r for r in gc.get_referents(obj) if r is not type(obj))
    key = functools.cmp_to_key(function)
    return (key, tuple(arguments)) if arguments else (functools.cmp_to_key, (function,))


def reduce_generator_context(obj):
    # __enter__ deletes these attributes, unless the manager serves as a decorator.
    attributes = vars(obj)
    if not {"func", "args", "kwds"} <= attributes.keys() or _has_begun(obj.gen):
        raise TypeError("a context manager that was entered cannot be sent")
    return type(obj), (obj.func, obj.args, obj.kwds)


def _has_begun(generator):
    import inspect

    if isinstance(generator, types.AsyncGeneratorType):
        frame = generator.ag_frame
        return (
            frame is None
            or generator.ag_running
            or frame.f_lasti > _initial_offset(frame)
        )
    return inspect.getgeneratorstate(generator) != inspect.GEN_CREATED


def _initial_offset(frame):
    """The offset of a generator that has not begun: that of RETURN_GENERATOR."""
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
    """For descriptors in C, on which getattr() would call ``__get__``."""
    return own_attribute, (obj.__objclass__, obj.__name__)


def own_attribute(cls, name):
    """The attribute of the class itself, without its ``__get__``."""
    return vars(cls)[name]


def protocol_hook(cls, other):
    """A ``__subclasshook__`` in place of typing's, on a version without that name."""
    return NotImplemented


def replace_fields(self, /, **changes):
    """``dataclasses._replace``, for versions without it."""
    import dataclasses

    return dataclasses.replace(self, **changes)


class SignatureAsDoc:
    """The computed ``__doc__`` of a dataclass, for versions that have no such class."""

    def __get__(self, instance, cls):
        from waybill._kinds.derived import doc_of_dataclass

        return doc_of_dataclass(cls)


#: The one that all dataclasses of such a version share.
SIGNATURE_AS_DOC = SignatureAsDoc()
