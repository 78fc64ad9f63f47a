"""Reducers of contextvars; see ``_reducers``."""

import contextvars
import sys


def reduce_context_variable(obj, by_value=frozenset()):
    found = _find_in_modules(obj, by_value)
    if found is not None:
        return getattr, found
    try:
        default = (contextvars.Context().run(obj.get),)
    except LookupError:
        default = ()
    return make_context_variable, (obj.name, *default)


def _find_in_modules(variable, by_value):
    """(module, name) of an importable module that has a variable, or None.

    Of several the first in sorted order: processes differ in the order of imports.
    """
    found = [
        (own_name, name, module)
        for own_name, module in _modules_to_search(by_value)
        for name, value in list(vars(module).items())
        if value is variable and isinstance(name, str)
    ]
    if not found:
        return None
    _, name, module = min(found, key=lambda place: place[:2])
    return module, name


def _modules_to_search(by_value):
    for own_name, module in list(sys.modules.items()):
        if any(f"{own_name}.".startswith(f"{name}.") for name in by_value):
            continue
        if type(getattr(module, "__dict__", None)) is not dict:
            continue
        is_main = module is sys.modules.get("__main__")
        if not is_main and vars(module).get("__spec__") is not None:
            yield own_name, module


def make_context_variable(name, *default):
    """A new context variable, with a default if one is given."""
    return contextvars.ContextVar(name, **dict(zip(["default"], default, strict=False)))


def reduce_context(obj):
    pairs = sorted(obj.items(), key=lambda pair: pair[0].name)
    return contextvars.Context, (), pairs, None, None, set_context


def set_context(context, pairs):
    """Sets variables in a context."""
    for variable, value in pairs:
        context.run(variable.set, value)
