"""Reducers of exceptions with causes, contexts and tracebacks; see ``_reducers``."""

import copyreg
import linecache
import types

_HOOKS = ("__reduce_ex__", "__reduce__", "__getstate__", "__setstate__")
_LINKS = ("__cause__", "__context__", "__suppress_context__", "__traceback__")


def reduce_exception(obj, names=_LINKS):
    """Makes the exception without calling __init__, unless its class reduces itself.

    pickle calls the class with the args of Exception.__init__, which need not be those
    of the class's own __init__.
    """
    cls = type(obj)
    links = {name: getattr(obj, name) for name in names}
    links = {n: v for n, v in links.items() if v is not None and v is not False}
    base = _c_class(cls)
    if any(getattr(cls, n, None) is not getattr(base, n, None) for n in _HOOKS):
        return _with_links(obj.__reduce_ex__(4), links)
    args = _creation_args(obj)
    try:
        make_exception(cls, *args)
    except TypeError:  # Made in C, with a layout of its own.
        return _with_links(obj.__reduce_ex__(4), links)
    state = {**_slots(obj), **_c_attributes(obj, base), **vars(obj), **links}
    if not args:
        state = {"args": obj.args, **state}
    return make_exception, (cls, *args), state, None, None, set_exception_state


def reduce_without_causes(obj):
    """Reduces an exception whose cause or context cannot be sent."""
    return reduce_exception(obj, ("__suppress_context__", "__traceback__"))


def _with_links(reduction, links):
    if not links or isinstance(reduction, str) or reduction[5:]:
        return reduction
    made = (*reduction, None, None, None)
    return *made[:2], (made[2], links), *made[3:5], set_linked_state


def _c_class(cls):
    """The builtin class that determines an exception's layout in C."""
    return next(c for c in cls.__mro__ if c.__module__ == "builtins")


def _creation_args(obj):
    # Only __new__ can set the exceptions of a group.
    if isinstance(obj, BaseExceptionGroup):
        return obj.message, list(obj.exceptions)
    return ()


def make_exception(cls, *args):
    """An exception, made without a call of __init__."""
    return _c_class(cls).__new__(cls, *args)


def set_exception_state(error, state):
    """Sets attributes, even if the class forbids it."""
    for name, value in state.items():
        object.__setattr__(error, name, value)


def set_linked_state(error, state):
    """Sets the state of the exception's own reducer, then cause, context, traceback."""
    own, links = state
    if hasattr(type(error), "__setstate__") and own is not None:
        error.__setstate__(own)
    set_exception_state(error, links)


def _slots(obj):
    names = copyreg._slotnames(type(obj))
    return {name: getattr(obj, name) for name in names if hasattr(obj, name)}


def _c_attributes(obj, base):
    """The attributes of OSError, SyntaxError and similar types besides their args."""
    found = {}
    if base is BaseExceptionGroup or base is ExceptionGroup:
        return found
    for cls in reversed(base.__mro__):
        if cls in (BaseException, object):
            continue
        for name, kind in vars(cls).items():
            if type(kind) in (types.MemberDescriptorType, types.GetSetDescriptorType):
                value = getattr(obj, name, None)
                if value is not None and kind.__name__ not in ("__dict__", "obj"):
                    found[name] = value
    held = getattr(obj, "obj", None) if base is AttributeError else None
    if isinstance(held, (type, types.ModuleType, types.FunctionType, str, int)):
        # Other objects may be large, or impossible to send.
        found["obj"] = held
    return found


# ---- Tracebacks: sent as rows of places; the receiver makes frames that end there


def reduce_traceback(obj):
    rows = []
    shared = {}
    while obj is not None:
        row = _row(obj)
        rows.append(shared.setdefault(row, row))  # Recursion repeats its rows.
        obj = obj.tb_next
    return make_traceback, (rows,)


def _row(traceback):
    code = traceback.tb_frame.f_code
    scope = traceback.tb_frame.f_globals
    place = _place(code, traceback)
    line = linecache.getline(code.co_filename, place[0], scope).rstrip("\n")
    module = scope.get("__name__")
    return (
        code.co_filename,
        code.co_name,
        code.co_qualname,
        module if isinstance(module, str) else None,
        place,
        line,
    )


def _place(code, traceback):
    """(line, last line, column, end column), as code.co_positions() gives them."""
    line = traceback.tb_lineno or code.co_firstlineno
    place = (line, line, None, None)
    for index, found in enumerate(code.co_positions()):
        if index == traceback.tb_lasti // 2:
            return found if None not in found and found[0] == line else place
    return place


# Compiled once: the compiler is slow, and crashes in 3.11 if memory runs out.
_RAISE = compile("raise error", "", "exec")


def make_traceback(rows):
    """A traceback of frames that ran nothing, with the places of the rows."""
    traceback = None
    for file, name, qualname, module, place, line in reversed(rows):
        code = _RAISE.replace(
            co_filename=file,
            co_name=name,
            co_qualname=qualname,
            co_firstlineno=place[0],
            co_linetable=_line_table(place),
        )
        scope = {"error": ValueError(), "__name__": module or "__main__"}
        if line:
            scope["__loader__"] = _Lines("\n" * (place[0] - 1) + line)
        try:
            exec(code, scope)
        except ValueError as error:
            own = error.__traceback__.tb_next
        del scope["error"]
        traceback = types.TracebackType(traceback, own.tb_frame, own.tb_lasti, place[0])
    return traceback


class _Lines:
    """A loader that gives linecache a line whose file is not on this machine."""

    def __init__(self, source):
        self.source = source

    def get_source(self, name):
        return self.source


def _line_table(place):
    """A line table with one place for all instructions; see CPython's
    Objects/locations.md. The 0 says that the place is in the first line of the code."""
    line, end_line, column, end_column = place
    if column is None:
        entry = bytes([0x80 | 13 << 3 | 7, 0])
    else:
        numbers = (end_line - line, column + 1, end_column + 1)
        entry = bytes([0x80 | 14 << 3 | 7, 0])
        for number in numbers:
            entry += bytes(_unsigned(number))
    return entry * 8  # Each entry covers eight code units.


def _unsigned(number):
    while number >= 64:
        yield 64 | number & 63
        number >>= 6
    yield number
