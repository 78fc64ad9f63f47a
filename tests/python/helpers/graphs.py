"""Object graphs from blueprints, and whether two graphs have the same form.

A blueprint is plain data: a list of nodes, each a kind and what it refers to. A
reference is the number of a node or ("leaf", value). Building one twice, here or
elsewhere, gives two graphs that are equal in everything.
"""

import collections
import functools
import types

SOURCE = """
class Labelled:
    __slots__ = ()
    def __repr__(self): return self.label
class Plain(Labelled):
    def method(self): return self
class Slotted(Labelled):
    __slots__ = ("label", "a", "b", "__c")
class Mixed(Slotted):
    def __init__(self): self.kept = []
class Error(Exception): pass
class List(list): pass
class Dict(dict): pass
class Set(set): pass
class Tuple(tuple): pass
class Frozen(frozenset): pass
class Text(str): pass
def make():
    a = b = None
    def function(*args, **kwargs): return a, b, shared, args, kwargs
    return function
"""
CODE = compile(SOURCE, "graphs_source.py", "exec", dont_inherit=True)
CLASS_SOURCE = """
class K{number}(Labelled):
    kinds = ["k"]
    def method(self): return self, __class__, shared
    @classmethod
    def make(cls): return cls()
"""

#: Kinds that are made without content, by what makes them.
EMPTY = {
    "list": list,
    "dict": dict,
    "set": set,
    "bytearray": bytearray,
    "deque": lambda: collections.deque(maxlen=50),
    "ordered": collections.OrderedDict,
    "default": lambda: collections.defaultdict(list),
    "namespace": types.SimpleNamespace,
    "cell": types.CellType,
}
OWN = {"List", "Dict", "Set", "Plain", "Slotted", "Mixed", "Error"}
#: Kinds that are made with their content, which may refer to earlier nodes of them.
COMPLETE = ["tuple", "frozenset", "Tuple", "Frozen", "partial", "method", "Text"]
KINDS = [*EMPTY, *sorted(OWN), "function", "class", "object", *COMPLETE]


def build(blueprint):
    """The graph of a blueprint, as the list of its nodes."""
    return _Builder(blueprint).nodes


class _Builder:
    def __init__(self, blueprint):
        self.scope = {"__name__": "module_that_is_nowhere", "shared": []}
        exec(CODE, self.scope)
        self.nodes = [None] * len(blueprint)
        for wanted in ("class", "", "complete"):
            for number, (kind, _) in enumerate(blueprint):
                if wanted == (
                    "complete" if kind in COMPLETE else kind * (kind == "class")
                ):
                    self.nodes[number] = self.make(number, *blueprint[number])
        for number, (kind, content) in enumerate(blueprint):
            if kind not in COMPLETE:
                self.fill(number, kind, [self.target(r) for r in content])

    def target(self, reference):
        if isinstance(reference, tuple):
            return reference[1]
        return self.nodes[reference % len(self.nodes)]

    def make(self, number, kind, content):
        scope, label = self.scope, f"n{number}"
        if kind in EMPTY:
            return EMPTY[kind]()
        if kind in OWN:
            made = scope[kind]()
            if hasattr(made, "method") or kind in ("Slotted", "Mixed"):
                made.label = label
            return made
        if kind == "class":
            exec(compile(CLASS_SOURCE.format(number=number), "k.py", "exec"), scope)
            return scope.pop(f"K{number}")
        if kind == "function":
            made = scope["make"]()
            made.__name__ = made.__qualname__ = label
            return made
        found = [self.target(reference) for reference in content]
        if kind == "object":
            classes = [f for f in found if isinstance(f, type)] or [scope["Plain"]]
            made = classes[0]()
            made.label = label
            return made
        if kind in ("tuple", "Tuple"):
            return scope.get(kind, tuple)(found)
        if kind in ("frozenset", "Frozen"):
            return scope.get(kind, frozenset)(filter(is_hashable, found))
        if kind == "Text":
            return scope["Text"](label)
        functions = [f for f in found if isinstance(f, types.FunctionType)]
        function = functions[0] if functions else scope["make"]()
        if kind == "method":
            owners = [f for f in found if f is not None] or [label]
            return types.MethodType(function, owners[0])
        return functools.partial(function, *found, key=label)

    def fill(self, number, kind, found):
        node = self.nodes[number]
        if kind in ("list", "List", "deque"):
            node.extend(found)
        elif kind in ("dict", "Dict", "ordered", "default"):
            for place, value in enumerate(found):
                node[value if is_hashable(value) else f"key{place}"] = found[place - 1]
        elif kind in ("set", "Set"):
            node.update(filter(is_hashable, found))
        elif kind == "bytearray":
            node.extend(b"%d" % number)
        elif kind == "cell":
            if found:
                node.cell_contents = found[0]
        elif kind == "Error":
            node.args = tuple(found)
            node.extra = found[:1]
        elif kind == "function":
            self.fill_function(node, found)
        elif kind == "Slotted":
            for name, value in zip(("a", "b", "_Slotted__c"), found):
                setattr(node, name, value)
        else:
            for place, value in enumerate(found):
                setattr(node, f"attribute{place}", value)

    def fill_function(self, node, found):
        for cell, value in zip(node.__closure__, found):
            cell.cell_contents = value
        node.__defaults__ = tuple(found[2:4]) or None
        for value in found:
            if isinstance(value, types.CellType):
                # Another function, with this cell and the first cell of `node`.
                closure = value, node.__closure__[0]
                node.twin = types.FunctionType(
                    node.__code__, self.scope, "twin", (node,), closure
                )
        self.scope["shared"].extend(found[:1])


def is_hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


# ---- Comparison


class Different(Exception):
    """Two graphs differ in form. The message says where."""


ATOMS = (int, float, complex, str, bytes, bool, type(None), type(...))
#: Attributes that Python adds to classes.
_PASSED_OVER = {"__dict__", "__weakref__", "__slotnames__", "__abstractmethods__"}
_PASSED_OVER |= {"_abc_impl", "__firstlineno__", "__static_attributes__"}


def demand_same_form(first, second):
    """Raises Different unless the graphs are equal, object by object.

    Each object of one corresponds to one object of the other, and to the same one
    at each reference. A class that is one object in both is not compared.
    """
    second_of, first_of = {}, {}
    stack = [(first, second, None)]
    while stack:
        a, b, path = stack.pop()
        if _is_plain(a) or _is_plain(b):
            if type(a) is not type(b) or _key(a) != _key(b):
                raise Different(f"{_text(path)}: {a!r} and {b!r}")
            continue
        if id(a) in second_of or id(b) in first_of:
            if second_of.get(id(a)) is not b or first_of.get(id(b)) is not a:
                raise Different(f"{_text(path)}: shared here and not there: {type(a)}")
            continue
        if a is b and isinstance(a, (type, types.BuiltinFunctionType)):
            continue
        # These references keep all objects alive, so that no address is used again.
        second_of[id(a)], first_of[id(b)] = b, a
        parts, others = dict(_parts(a)), dict(_parts(b))
        if list(parts) != list(others):
            raise Different(f"{_text(path)}: {list(parts)} and {list(others)}")
        stack += [(v, others[k], (path, k)) for k, v in parts.items()]


def _is_plain(obj):
    """Whether only id() can distinguish equal objects of this sort."""
    if type(obj) in (tuple, frozenset):
        return all(map(_is_plain, obj))
    return type(obj) in ATOMS


def _text(path):
    names = []
    while path:
        path, name = path
        names.append(str(name))
    return " ".join(reversed(names)) or "root"


def _parts(obj):
    """Names and parts of an object, in an order that does not depend on addresses."""
    if isinstance(obj, type):
        yield "name", obj.__qualname__
        for number, base in enumerate(obj.__bases__):
            yield ("base", number), base
        for name, value in sorted(vars(obj).items()):
            if name not in _PASSED_OVER and not _is_slot(value):
                yield name, value
        return
    yield "type", type(obj)
    if isinstance(obj, types.FunctionType):
        yield "name", obj.__qualname__
        yield "code", obj.__code__.co_code
        yield "defaults", obj.__defaults__
        for number, cell in enumerate(obj.__closure__ or ()):
            yield ("cell", number), cell
        for name in obj.__code__.co_names:
            if name in obj.__globals__:
                yield ("global", name), obj.__globals__[name]
    elif isinstance(obj, types.CellType):
        try:
            yield "content", obj.cell_contents
        except ValueError:
            yield "empty", None
    elif isinstance(obj, types.MethodType):
        yield "function", obj.__func__
        yield "self", obj.__self__
        return
    elif isinstance(obj, (classmethod, staticmethod)):
        yield "function", obj.__func__
        return
    elif isinstance(obj, functools.partial):
        yield "function", obj.func
        for number, value in enumerate(obj.args):
            yield ("argument", number), value
        for name, value in obj.keywords.items():
            yield ("keyword", name), value
    elif isinstance(obj, dict):
        for number, (key, value) in enumerate(obj.items()):
            yield ("key", number), key
            yield ("value", number), value
        yield "factory", getattr(obj, "default_factory", None)
    elif isinstance(obj, (list, tuple, collections.deque)):
        for number, value in enumerate(obj):
            yield ("item", number), value
    elif isinstance(obj, (set, frozenset)):
        for number, value in enumerate(sorted(obj, key=_key)):
            yield ("element", number), value
    elif isinstance(obj, BaseException):
        for number, value in enumerate(obj.args):
            yield ("argument", number), value
    elif isinstance(obj, (bytearray, str)):
        yield "bytes", bytes(obj, "utf-8") if isinstance(obj, str) else bytes(obj)
    for name, value in _attributes(obj):
        yield ("attribute", name), value


def _is_slot(value):
    return isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType))


def _attributes(obj):
    for cls in type(obj).__mro__:
        if cls.__module__ == "module_that_is_nowhere":
            for name, value in vars(cls).items():
                if isinstance(value, types.MemberDescriptorType) and hasattr(obj, name):
                    yield name, getattr(obj, name)
    yield from getattr(obj, "__dict__", {}).items()


def _key(obj):
    """A text that is equal for corresponding elements of sets."""
    if isinstance(obj, (tuple, frozenset)):
        keys = list(map(_key, obj))
        if isinstance(obj, frozenset):
            keys.sort()
        return f"{type(obj).__name__}{keys}"
    if isinstance(obj, (types.FunctionType, type)):
        return obj.__qualname__
    if isinstance(obj, types.MethodType):
        return f"{_key(obj.__func__)} of {_key(obj.__self__)}"
    if isinstance(obj, functools.partial):
        return f"partial {obj.keywords}"
    if isinstance(obj, BaseException):
        return f"error {obj.args}"
    return f"{type(obj).__name__} {obj!r}"
