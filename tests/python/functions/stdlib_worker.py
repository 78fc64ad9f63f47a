"""Sends the functions of standard modules by value, and compares what arrives.

    python stdlib_worker.py send FOLDER MODULE       writes FOLDER/MODULE.sent
    python stdlib_worker.py receive FOLDER MODULE    prints what differs

Both ends give functions names by the same walk, so the receiver knows what each payload
must be equal to: the function that its own import of the module holds.
"""

import importlib
import marshal
import sys
import types
from pathlib import Path

import waybill

NOWHERE = "module_that_is_nowhere"
# Globals that two processes do not share anyway: times.
DIFFERS = {"_startTime"}
# Functions whose globals cannot be built anew, because of what their own classes do:
# the metaclass of typing._NamedTuple refuses to make it a second time.
CANNOT_ARRIVE = {("typing", "AssertionError")}
LIMIT = 100_000  # Functions; a walk that finds more has lost its way.


def functions_of(module):
    """{name: function} of all that the module's functions and classes lead to."""
    found, seen, todo = {}, set(), list(_sorted(vars(module), ""))
    while todo:
        name, value = todo.pop()
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        if id(value) in seen or len(found) > LIMIT:
            continue
        seen.add(id(value))
        if isinstance(value, property):
            parts = {"get": value.fget, "set": value.fset, "del": value.fdel}
            todo += _sorted(parts, name + "/")
        elif isinstance(value, type) and value.__module__ == module.__name__:
            todo += _sorted(vars(value), name + ".")
        elif isinstance(value, types.FunctionType):
            if value.__globals__ is vars(module):
                found[name] = value
            todo += _sorted(closure_of(value), name + "^")
    return found


def _sorted(mapping, prefix):
    names = (name for name in mapping if isinstance(name, str))
    return [(prefix + name, mapping[name]) for name in sorted(names)]


def closure_of(function):
    content = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            content[name] = cell.cell_contents
        except ValueError:
            pass
    return content


def copy_of(function):
    copy = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__, copy.__doc__ = NOWHERE, function.__doc__
    return copy


def send(folder, name):
    sent, refused = {}, {}
    file = Path(folder, f"{name}.sent")
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        file.write_bytes(marshal.dumps(str(error)))
        return
    for function_name, function in functions_of(module).items():
        try:
            sent[function_name] = waybill.dumps(copy_of(function))
        except waybill.EncodeError as error:
            refused[function_name] = f"{error.path} ({error.type})"
    file.write_bytes(marshal.dumps((sent, refused)))


def receive(folder, name):
    sent, refused = marshal.loads(Path(folder, f"{name}.sent").read_bytes())
    complaints, arrived = [], {}
    for function_name, data in sent.items():
        try:
            arrived[function_name] = waybill.loads(data)
        except Exception as error:
            if (name, type(error).__name__) in CANNOT_ARRIVE:
                refused[function_name] = f"{type(error).__name__} (at load)"
                continue
            complaints.append(f"{function_name}: {type(error).__name__}: {error}")
    own = functions_of(importlib.import_module(name))
    for function_name, function in arrived.items():
        if function_name not in own:
            complaints.append(f"{function_name}: the receiver has no such function")
            continue
        for difference in differences(own[function_name], function):
            complaints.append(f"{function_name}: {difference}")
    answer = {"arrived": len(arrived), "refused": refused, "complaints": complaints}
    print(repr(answer))


# ---- Comparison

CODE_FIELDS = """
co_code co_names co_varnames co_freevars co_cellvars co_argcount co_posonlyargcount
co_kwonlyargcount co_flags co_stacksize co_name co_qualname co_filename co_firstlineno
co_linetable co_exceptiontable
""".split()


def differences(own, arrived):
    yield from code_differences(own.__code__, arrived.__code__)
    if arrived.__module__ != NOWHERE:
        yield f"__module__ is {arrived.__module__}"
    for field in ("__name__", "__defaults__", "__kwdefaults__", "__doc__"):
        if not same(getattr(own, field), getattr(arrived, field)):
            yield f"{field}: {getattr(own, field)!r} != {getattr(arrived, field)!r}"
    here, there = closure_of(own), closure_of(arrived)
    if here.keys() != there.keys():
        yield f"closure: {sorted(here)} != {sorted(there)}"
    for name in here.keys() & there.keys():
        if not same(here[name], there[name]):
            yield f"closure {name}: {here[name]!r} != {there[name]!r}"
    yield from global_differences(own, arrived)


def code_differences(own, arrived):
    for field in CODE_FIELDS:
        if getattr(own, field) != getattr(arrived, field):
            yield f"{own.co_qualname} {field} differs"
    if len(own.co_consts) != len(arrived.co_consts):
        yield f"{own.co_qualname} has another number of constants"
    for here, there in zip(own.co_consts, arrived.co_consts):
        if isinstance(here, types.CodeType) and isinstance(there, types.CodeType):
            yield from code_differences(here, there)
        elif type(here) is not type(there) or constant_key(here) != constant_key(there):
            yield f"{own.co_qualname} constant: {here!r} != {there!r}"


def constant_key(constant):
    """Tells apart what == does not: 1, 1.0 and True; 0.0 and -0.0."""
    if isinstance(constant, tuple):
        return tuple(map(constant_key, constant))
    if isinstance(constant, frozenset):
        return frozenset(map(constant_key, constant))
    return type(constant).__name__, repr(constant)


def global_names(code):
    """Names that instructions read from globals, in this code and what is nested."""
    import dis

    names = {
        instruction.argval
        for instruction in dis.get_instructions(code)
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        or instruction.opname == "LOAD_FROM_DICT_OR_GLOBALS"
    }
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= global_names(constant)
    return names


def global_differences(own, arrived):
    for name in sorted(global_names(own.__code__) - {"__builtins__"} - DIFFERS):
        here, there = own.__globals__, arrived.__globals__
        if name == "__name__" and here[name] != there.get(name):
            yield "another __name__"
        if name.startswith("__") and name.endswith("__") and name not in there:
            continue  # What import sets, __spec__ and the like, stays at home.
        if (name in here) != (name in there):
            yield f"global {name} is {'missing' if name in here else 'there'}"
        elif name in here and not same(here[name], there[name]):
            yield f"global {name}: {here[name]!r} != {there[name]!r}"
    # Functions by value that this one leads to may have brought more of the module.
    surplus = arrived.__globals__.keys() - own.__globals__.keys()
    if surplus:
        yield f"surplus globals {sorted(surplus)}"


def has_a_name(kind):
    """Whether an import finds this class again."""
    found = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        # Not by getattr: a module's __getattr__ must not be asked.
        found = getattr(found, "__dict__", {}).get(part)
    return found is kind


def same(own, arrived):
    """Whether a copy is faithful, as far as this can be told from outside."""
    if own is arrived:
        return True
    if isinstance(own, type) and isinstance(arrived, type):
        return own.__qualname__ == arrived.__qualname__ and not has_a_name(own)
    if not same(type(own), type(arrived)) or isinstance(own, types.ModuleType):
        return False
    if isinstance(own, types.FunctionType):
        return not list(code_differences(own.__code__, arrived.__code__))
    if isinstance(
        own, (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)
    ):
        return own.__name__ == arrived.__name__ and same(own.__self__, arrived.__self__)
    if isinstance(own, (list, tuple)):
        return len(own) == len(arrived) and all(map(same, own, arrived))
    if isinstance(own, dict):
        pairs = zip(own.items(), arrived.items())
        return len(own) == len(arrived) and all(same(a, b) for a, b in pairs)
    if type(own).__eq__ is not object.__eq__:
        return bool(own == arrived) or repr(own) == repr(arrived)
    return True  # Of one type, with nothing else to compare.


if __name__ == "__main__":
    {"send": send, "receive": receive}[sys.argv[1]](*sys.argv[2:])
