"""Type variables; asked by ``_reducers.py``.

Imports nothing: from 3.12 on a program has them without ``typing``.
"""

import gc
import sys
import types

from waybill import _reducers


def reduce_type_variable(obj):
    options = {}
    for option in ("covariant", "contravariant", "infer_variance"):
        if getattr(obj, f"__{option}__", False):
            options[option] = True
    try:
        bound = getattr(obj, "__bound__", None)
    except Exception:
        # PEP 695 evaluates bounds when they are asked for; this one cannot be, yet.
        parts = obj.__name__, _evaluator_of(obj)
        return _reducers.make_deferred_type_variable, parts
    if bound is not None:
        options["bound"] = bound
    kind = type(obj)
    if hasattr(obj, "has_default") and obj.has_default():
        options["default"] = obj.__default__
        # Before 3.13 typing_extensions makes such of typing's type.
        kind = kind if sys.version_info >= (3, 13) else _extended(kind)
    constraints = getattr(obj, "__constraints__", ())
    return _reducers.make_type_variable, (kind, obj.__name__, constraints, options)


def _extended(kind):
    return getattr(sys.modules["typing_extensions"], kind.__name__)


def _evaluator_of(variable):
    found = [r for r in gc.get_referents(variable) if type(r) is types.FunctionType]
    if len(found) != 1:
        raise TypeError(f"the bound of {variable!r} cannot be evaluated")
    return found[0]
