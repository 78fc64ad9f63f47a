"""Functions and classes that no module holds, so that they travel by value."""

import contextlib
import importlib.machinery
import linecache
import sys
import textwrap
import types

import waybill

NOWHERE = "module_that_is_nowhere"
_COUNT = 0


def define(source, name=NOWHERE, **given):
    """The globals of a module with this source, which cannot be imported."""
    global _COUNT
    _COUNT += 1
    file = f"<source {_COUNT}>"
    text = textwrap.dedent(source)
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {"__name__": name, "__builtins__": __builtins__, **given}
    exec(compile(text, file, "exec", dont_inherit=True), scope)
    return types.SimpleNamespace(**scope)


def round_trip(value):
    return waybill.loads(waybill.dumps(value))


def run(statement):
    """A function that executes a statement in the namespace that it is given."""
    return lambda scope: exec(statement, scope)


def write_files(folder, files):
    """Writes texts, without their indentation, to paths in a folder; returns it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return folder


def copy_by_value(function, module=NOWHERE):
    """A copy of a function in a module that cannot be imported: it travels by value."""
    copy = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__ = module
    return copy


@contextlib.contextmanager
def imported(name, **attributes):
    """A module of this name in sys.modules during the block, as if it had a file."""
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    vars(module).update(attributes)
    sys.modules[name] = module
    try:
        yield module
    finally:
        sys.modules.pop(name, None)
