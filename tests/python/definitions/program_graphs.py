"""What of a program a function or class reaches: the same text for programs alike.

A naive oracle: it walks the names that code has, and numbers each object as it is met,
the dict of globals as well. It runs here, and as text in other processes.
"""

import fresh_process
import waybill

WALK = '''
import types

def names_of(code):
    names = list(code.co_names)
    for const in code.co_consts:
        if isinstance(const, types.CodeType): names += names_of(const)
    return names

def parts_of(obj):
    """What is compared of an object: pairs of text and another object."""
    if isinstance(obj, types.FunctionType):
        yield "globals", obj.__globals__
        for name in sorted(set(names_of(obj.__code__))):
            if name in obj.__globals__: yield name, obj.__globals__[name]
        for cell in obj.__closure__ or (): yield "cell", cell.cell_contents
        yield "defaults", obj.__defaults__
        for name, value in sorted(vars(obj).items()): yield name, value
    elif isinstance(obj, type):
        yield from zip(map(str, range(9)), obj.__bases__)
        for name, value in sorted(vars(obj).items()):
            if not name.startswith("__") or name == "__init__": yield name, value
    elif isinstance(obj, (classmethod, staticmethod)):
        yield "function", obj.__func__
    elif isinstance(obj, types.MethodType):
        yield "function", obj.__func__
        yield "self", obj.__self__
    elif isinstance(obj, dict):
        for key in obj: yield repr(key), obj[key]
    elif isinstance(obj, (list, tuple)):
        for number, item in enumerate(obj): yield str(number), item
    elif hasattr(obj, "__dict__"):
        yield "class", type(obj)
        for name, value in sorted(vars(obj).items()): yield name, value

def graph_of(root):
    lines, numbers, todo = [], {}, [("root", root, False)]
    while todo:
        name, obj, is_scope = todo.pop()
        plain = obj is None or type(obj) in (int, str, float, bool, bytes)
        if plain or obj is object or type(obj) is tuple and obj == ():
            lines.append(f"{name} {obj!r}")
            continue
        if isinstance(obj, types.ModuleType):
            lines.append(f"{name} module {obj.__name__}")
            continue
        known = id(obj) in numbers
        number = numbers.setdefault(id(obj), (len(numbers), obj))[0]
        kind = getattr(obj, "__qualname__", "")
        lines.append(f"{name} #{number} {type(obj).__name__} {kind}")
        if not known and not is_scope:
            todo += [(part, it, part == "globals") for part, it in parts_of(obj)]
    return "\\n".join(lines)
'''
exec(WALK)


def graph_in_fresh_process(payload):
    program = f"{WALK}\nanswer = graph_of(waybill.loads(data))"
    return fresh_process.execute(program, payload)


def has_definitions(payload):
    return waybill.inspect(payload)["payload"]["outline"]["kind"] == "definitions"


def definitions_in(payload):
    """How many functions and classes stand before the value."""
    items = waybill.inspect(payload)["payload"]["outline"]["items"]
    return items[1]["count"]


def assert_arrives_alike(obj):
    """The payload, whose graph is that of the object in another process."""
    payload = waybill.dumps(obj)
    assert graph_in_fresh_process(payload) == graph_of(obj)  # noqa: F821
    return payload
