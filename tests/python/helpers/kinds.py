"""One object of each kind that travels, for tests that treat all of them alike.

    value, dumps, loads = kinds.make("partial")

Each row is a program that sets `value`, and `dumps` or `loads` if those of waybill do
not suffice.
"""

import sys
import textwrap

import waybill

IMPORTS = """
import abc, argparse, array, collections, contextlib, contextvars, ctypes, dataclasses
import datetime, decimal, enum, fractions, functools, inspect, io, ipaddress, itertools
import json, logging, operator, os, pathlib, pickle, queue, random, re, socket, string
import struct, sys, tempfile, textwrap, threading, types, typing, uuid, weakref
import xml.dom
import waybill
from typing import *
class C:
    def __init__(self, x=None): self.x = x
    def m(self): return self.x
    @classmethod
    def c(cls): return cls
    @staticmethod
    def s(): return 7
    @property
    def p(self): return self.x
def f(*args, **kwargs): return args, kwargs
def helper(x=(1, 'a'), y=[2]): return x, json
def helped(rows, *, by=[1], also={'k': [2]}): return helper(rows), by, also
"""

#: Kinds that one expression makes.
EXPRESSIONS = {
    # Plain values and containers.
    "leaves": "[None, 1.5, 2**80, '\\udc80', b'b', 1j, ..., slice(1, [2]), range(3)]",
    "containers": "{'a': [1, (2, {3})], frozenset('x'): bytearray(b'y'), 2**70: ()}",
    "set of all sorts": "{1, 'a', (2, 'b'), frozenset('xyz'), C, f, len}",
    "deque": "collections.deque([1, [2]], maxlen=5)",
    "ordered dict": "collections.OrderedDict(a=[1], b=2)",
    "default dict": "collections.defaultdict(lambda: [7], a=1)",
    "counter": "collections.Counter('abca')",
    "chain map": "collections.ChainMap({1: [2]}, {1: 3})",
    "user containers": "collections.UserDict(a=1), collections.UserList([1])",
    "named tuple": "collections.namedtuple('P', 'x y', defaults=[5])([1])",
    "array": "array.array('h', [1, -2])",
    "namespaces": "types.SimpleNamespace(a=[1]), argparse.Namespace(a=1, b=[2])",
    "dict views": "{1: [2]}.keys(), {1: [2]}.values(), {1: [2]}.items()",
    "ordered views": "[getattr(collections.OrderedDict(a=[1]), n)()"
                     " for n in ('keys', 'values', 'items')]",
    "mapping proxies": "types.MappingProxyType({1: [2]}),"
                       " types.MappingProxyType(collections.ChainMap({1: 2}))",
    "subclasses of containers": "[type(b.__name__, (b,), {})([(1, 2)])"
                                " for b in (list, dict, set, frozenset, tuple)]",
    "subclasses of values": "[type('S', (b,), {'x': 1})(1)"
                            " for b in (int, float, str, complex)]",
    # Functions and what surrounds them.
    "lambda": "lambda x, y=[1], *, z={'a', 'b'}: (x, json, xml.dom)",
    "closure": "(lambda a: lambda: (a, f, C))([1])",
    "task": "helped, ([1], {'a': (2, 'x')}), {'by': [C('y')]}",
    "builtins": "[len, int, dict.fromkeys, [3].index, 'a'.split, int.__add__,"
                " object.__init__, list.__new__, type.__dict__['__dict__']]",
    "by reference": "json.dumps, json, xml.dom.Node, os.path.join, math_sqrt",
    "methods": "C([1]).m, C.m, C.c, C.s, C().c",
    "descriptors": "[vars(C)['c'], vars(C)['s'], vars(C)['p'],"
                   " property(lambda s: 3, doc='d')]",
    "super": "super(C, C([1]))",
    "partial": "functools.partial(f, [1], key=C())",
    "partial method": "functools.partialmethod(f, 1, b=[2])",
    "cached function": "functools.lru_cache(maxsize=3)(lambda x: [x])",
    "comparison key": "functools.cmp_to_key(lambda a, b: b - a)",
    "operators": "operator.itemgetter(1, 2), operator.attrgetter('a', 'b.c'),"
                 " operator.methodcaller('split', sep=[1])",
    "code": "(lambda x: [y for y in x]).__code__",
    "cells": "types.CellType([1]), types.CellType()",
    "context managers": "[contextlib.nullcontext([3]), contextlib.suppress(KeyError),"
                        " contextlib.contextmanager(lambda x: (yield x))(1)]",
    "types of views and iterators": "[type({}.values()), type(iter([])),"
                                    " type(reversed({})), type(sys.flags)]",
    # Iterators.
    "iterators": "[iter([1, [2]]), reversed([1]), iter((1,)), iter({1: 2}),"
                 " iter({1}), iter(range(3)), iter('ab'), iter(b'ab')]",
    "iterators of callables": "[iter(C, 5), enumerate('ab'), zip([1], 'a'),"
                              " map(f, [1]), filter(None, [1])]",
    "itertools": "itertools.count(5, 2), itertools.repeat([1], 3)",
    # Classes.
    "class": "C",
    "instances": "[C(1), C([2])]",
    "class with slots": "type('S', (), {'__slots__': ('a', '__b'), 'x': [1]})",
    "metaclass": "type('Meta', (type,), {'x': 1})('K', (), {'y': [2]})",
    "enumeration": "enum.Enum('E', 'A B')",
    "member": "enum.Enum('E', 'A B').B",
    "flags": "[enum.Flag('F', 'A B C')(3), enum.IntFlag('G', 'A B')(1)]",
    "dataclass": "dataclasses.make_dataclass('D', [('x', int),"
                 " ('y', list, dataclasses.field(default_factory=list))])([1])",
    "typed named tuple": "NamedTuple('N', [('x', int), ('y', str)])([1], 'a')",
    "typed dict": "TypedDict('T', {'x': int, 'y': 'C'})",
    # typing.
    "type variables": "TypeVar('T', bound=C), ParamSpec('P'), TypeVarTuple('Ts')",
    "type forms": "[Union[int, list[str]], Literal['a', 1], Annotated[int, [1]],"
                  " Callable[[int], str], List['Later'], dict[str, int], int | str]",
    "new type": "NewType('N', C)",
    # The standard library.
    "times": "datetime.datetime(2024, 3, 1, 2, fold=1, tzinfo=datetime.timezone.utc),"
             " datetime.timedelta(1), datetime.date(2024, 1, 1)",
    "numbers": "decimal.Decimal('1.5'), fractions.Fraction(1, 3), uuid.UUID(int=5)",
    "paths": "pathlib.PurePosixPath('/a'), pathlib.Path('a/b')",
    "patterns": "re.compile('(a)', re.I), re.compile('a').fullmatch",
    "addresses": "ipaddress.ip_address('::1'), ipaddress.ip_network('10.0.0.0/8')",
    "templates": "string.Template('$a'), struct.Struct('<hI'), textwrap.TextWrapper()",
    "streams in memory": "io.StringIO('ab'), io.BytesIO(b'ab')",
    "parts of json": "[json.JSONDecoder(), json.encoder.c_make_encoder("
                     "None, str, repr, None, ':', ',', False, False, True)]",
    "random generator": "random.Random(3)",
    "signature": "inspect.signature(lambda a, /, b=[1], *c, d, **e: 0)",
    "context variable": "contextvars.ContextVar('v', default=[5])",
    "loggers": "logging.getLogger('a.b'), logging.Formatter('%(name)s'),"
               " logging.StreamHandler(sys.__stderr__), logging.NullHandler()",
    "standard streams": "sys.__stdout__, sys.__stderr__",
    # Weak references.
    "weak reference": "(lambda c: (weakref.ref(c), c))(C())",
    "dead weak reference": "weakref.ref(C())",
    "weak collections": "(lambda c: (weakref.WeakSet([c]), weakref.proxy(c), c,"
                        " weakref.WeakKeyDictionary({c: 1}),"
                        " weakref.WeakValueDictionary(a=c),"
                        " weakref.WeakMethod(c.m)))(C())",
    # Errors.
    "errors": "[OSError(2, 'gone', 'a'), KeyError([1]), StopIteration(3),"
              " ExceptionGroup('m', [KeyError(1)]), ImportError('m', name='n'),"
              " UnicodeDecodeError('utf-8', b'\\xff', 0, 1, 'why')]",
    # ctypes.
    "numbers of ctypes": "ctypes.c_int(5), (ctypes.c_int * 3)(1, 2, 3),"
                         " ctypes.create_string_buffer(b'abc')",
}  # fmt: skip

#: Kinds that take statements.
PROGRAMS = {
    "cycle": """
        value = ([], {})
        value[0].append(value)
        value[1]["f"] = lambda: value
        value[1]["self"] = value[1]
    """,
    "object with another __class__": """
        class Proxy:
            __slots__ = ("target",)
            __class__ = property(lambda self: int)
            def __getattr__(self, name): return getattr(self.target, name)
            def __setattr__(self, name, value): setattr(self.target, name, value)
        value = Proxy()
        object.__setattr__(value, "target", [1])
    """,
    "annotations that are text": """
        def f(a: "list['C']", b: "xml.dom.Node", c: List["C"], d: "no expression"): pass
        value = f
    """,
    "functions that share a cell": """
        def make():
            n = 0
            def step():
                nonlocal n
                n += 1
                return step
            def read(): return n
            read.note = {"x": (1, step)}
            return step, read
        value = make()
    """,
    "coroutines and generators": """
        def one(): yield 1
        async def two(): await two()
        async def three(): yield three
        value = one, two, three
    """,
    "annotated function": """
        def value(a: int, b: "Later" = "x", *c: list[str]) -> C: "doc"
    """,
    "single dispatch": """
        @functools.singledispatch
        def value(x): return "object"
        @value.register
        def _(x: int): return "int"
        @value.register(C)
        def _(x): return "own"
    """,
    "single dispatch in a class": """
        class D:
            @functools.singledispatchmethod
            def f(self, x): return "object"
            @f.register
            def _(self, x: int): return "int"
            @functools.cached_property
            def p(self): return [1]
            g = functools.partialmethod(f, 1)
        value = D()
        value.p
    """,
    "chain of wraps": """
        def twice(g):
            @functools.wraps(g)
            def h(x): return g(g(x))
            return h
        value = twice(twice(C.m))
    """,
    "class that refers to itself": """
        class D(C):
            def m(self): return super().m(), __class__, D
            def __init_subclass__(cls): cls.made = [1]
        D.me, D.instance, D.x = D, D(), {D: [D]}
        class E(D): pass
        value = E
    """,
    "enumeration with methods": """
        class Color(enum.Enum):
            RED = 1, "r"
            BLUE = 2, "b"
            def __init__(self, number, letter): self.letter = letter
            def m(self): return Color.RED
        value = {Color.RED: Color, "x": Color.BLUE}
    """,
    "slots that were set later": """
        class S: __slots__ = ("a", "b")
        S.__slots__ = ("a",)
        class D: pass
        D.__slots__ = ("x",)
        class E: __slots__ = ("a",)
        del E.__slots__
        value = [S, D(), E]
        value[1].x = [1]
    """,
    "dataclasses": """
        @dataclasses.dataclass(frozen=True, slots=True)
        class Point:
            x: int
            y: list = dataclasses.field(default_factory=list, compare=False)
        value = [Point(1), Point(2, [3]), Point]
    """,
    "abstract classes": """
        class A(abc.ABC):
            @abc.abstractmethod
            def m(self): pass
            @property
            @abc.abstractmethod
            def p(self): pass
        class B(A):
            m = p = None
        A.register(C)
        value = A, B()
    """,
    "protocol": """
        @runtime_checkable
        class P(Protocol):
            x: int
            def read(self): ...
        value = P
    """,
    "generic classes": """
        T = TypeVar("T")
        class G(Generic[T]):
            def m(self, x: T) -> T: return x
        class H(G[int]): pass
        value = G, H(), G[str], T
    """,
    "generic classes with hooks": """
        T = TypeVar("T")
        class G(Generic[T]):
            def __init_subclass__(cls, *, tag, **kw): cls.tag = tag
            def __class_getitem__(cls, key): return super().__class_getitem__(key)
        class H(G[int], tag=1): pass
        value = G, H(), G[str]
    """,
    "named tuples and typed dicts": """
        class P(NamedTuple):
            x: int
            y: str = "d"
            def m(self): return self
        class D(TypedDict, total=False):
            x: int
        value = P(1), P, D
    """,
    "exception with all it has": """
        class Own(ValueError): pass
        def inner(): return 1 / 0
        def outer():
            try: inner()
            except ZeroDivisionError as error:
                error.add_note("look")
                raise Own("a", [2]) from error
        try: outer()
        except Own as error: value = error
    """,
    "structures": """
        class Point(ctypes.Structure):
            _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_double)]
            def m(self): return self.x
        class Either(ctypes.Union):
            _fields_ = [("i", ctypes.c_uint32), ("b", ctypes.c_uint8 * 4)]
        value = Point(1, 2.5), Either(5)
    """,
    "context": """
        v = contextvars.ContextVar("v")
        value = contextvars.Context(), v
        value[0].run(v.set, [1])
    """,
    "module": """
        value = types.ModuleType("made", "doc")
        exec("x = [1]\\ndef f(): return x\\nclass D: y = f", vars(value))
    """,
    "files": """
        text = tempfile.NamedTemporaryFile("w+")
        text.write("first\\nsecond")
        text.flush()
        binary = open(text.name, "rb")
        value = text, binary, open(text.name)
        value[2].readline()
    """,
    "reducers": """
        class R:
            def __init__(self, *parts): self.parts = parts
            def __reduce__(self): return R, self.parts, {"me": self}
        class G:
            __slots__ = "x",
            def __getnewargs_ex__(self): return (), {}
            def __getstate__(self): return [1]
            def __setstate__(self, state): self.x = state
        class I(list):
            def __reduce__(self): return I, (), None, iter(self)
        value = R(1, [2]), G(), I([1, [2]])
    """,
    # Ways to send and to load.
    "module by value": """
        module = sys.modules["module_of_kinds"] = types.ModuleType("module_of_kinds")
        exec("x = [1]\\nclass D: pass\\ndef f(): return x, D()", vars(module))
        value = module.f, module.D()
        def dumps(value): return waybill.dumps(value, by_value=[module])
    """,
    "stream": """
        value = [C(1), [2], lambda: value]
        def dumps(value):
            file = io.BytesIO()
            pickler = waybill.Pickler(file)
            for part in (value, value[1], [value, value[2]]): pickler.dump(part)
            pickler.clear_memo()
            pickler.dump(value)
            return file.getvalue()
        def loads(data):
            unpickler = waybill.Unpickler(io.BytesIO(data))
            return [unpickler.load() for _ in range(4)]
    """,
    "subclass of Pickler": """
        near = [1]
        class Own(waybill.Pickler):
            dispatch_table = {C: lambda c: (C, (c.x,))}
            def persistent_id(self, obj): return ("near", 1) if obj is near else None
            def reducer_override(self, obj):
                return (int, ("7",)) if obj is f else NotImplemented
        class Back(waybill.Unpickler):
            def persistent_load(self, key): return near
            def find_class(self, module, name):
                return waybill.Unpickler.find_class(self, module, name)
        value = [near, f, C([2]), collections.OrderedDict(a=near)]
        def dumps(value):
            file = io.BytesIO()
            Own(file).dump(value)
            return file.getvalue()
        def loads(data): return Back(io.BytesIO(data)).load()
    """,
    "buffers out of band": """
        value = [pickle.PickleBuffer(bytearray(b"abc")), pickle.PickleBuffer(b"de")]
        class Data(bytes):
            buffers = ()
        def dumps(value):
            buffers = []
            data = Data(waybill.dumps(value, buffer_callback=buffers.append))
            data.buffers = [
                (bytes if memoryview(b).readonly else bytearray)(b) for b in buffers
            ]
            return data
        def loads(data): return waybill.loads(data, buffers=data.buffers)
    """,
    "buffers in band": """
        value = [pickle.PickleBuffer(bytearray(b"abc")), pickle.PickleBuffer(b"de")]
    """,
    "fresh": """
        value = [threading.Lock(), threading.RLock(), threading.Event(),
                 threading.Condition(), threading.Semaphore(2), threading.local(),
                 threading.Barrier(2)]
        def dumps(value): return waybill.dumps(value, replace="fresh")
    """,
    "drop": """
        generator = (x for x in [C()])
        value = [threading.Lock(), generator, sys._getframe(), lambda: generator]
        def dumps(value): return waybill.dumps(value, replace="drop")
    """,
    "reset classes": """
        value = [C(1), C]
        def loads(data): return waybill.loads(data, reset_classes=True)
    """,
    "map location": """
        class Asks:
            def __reduce__(self): return waybill._core.current_map_location, ()
        value = [Asks(), C(1)]
        def loads(data): return waybill.loads(data, map_location={"cuda": "cpu"})
    """,
    "memory that its receiver copies": """
        class Lends:
            def __init__(self): self.memory = (ctypes.c_ubyte * 70_000)()
            def __reduce__(self):
                memory = type(self.memory).from_buffer(self.memory)
                memory.waybill_memory_of = self
                return bytes, (pickle.PickleBuffer(memory),)
        value = Lends()
    """,
    # What cannot travel, and payloads that cannot be loaded.
    "refused": """
        value = [C(), {"a": lambda: (1, C)}, {f, (i for i in ())}]
        def dumps(value):
            try: waybill.dumps(value)
            except waybill.EncodeError: return b""
        def loads(data): pass
    """,
    "failing reducer": """
        class Failing:
            def __reduce__(self): raise ValueError("mine")
        value = [C(1), f, Failing()]
        def dumps(value):
            try: waybill.dumps(value)
            except (ValueError, waybill.EncodeError): return b""
        def loads(data): pass
    """,
    "fails at load": """
        class FailsAtLoad:
            def __reduce__(self): return int, ("no number",)
        class Meta(type):
            def __init__(cls, *args): type.__init__(cls, *args)
        class D(metaclass=Meta): pass
        value = [C(1), f, D(), FailsAtLoad()]
        def loads(data):
            try: waybill.loads(data)
            except (ValueError, waybill.DecodeError): pass
    """,
    "spoiled": """
        value = [C(1), f, {"a": [1]}]
        def loads(data):
            bad = [data[:size] for size in (0, 5, len(data) // 2, len(data) - 1)]
            for spoiled in [*bad, data + b"x", data[:-4] + b"zzzz"]:
                try: waybill.loads(spoiled)
                except waybill.Error: pass
    """,
    "other questions": """
        value = [C(1), f, {"a": lambda: json.dumps}]
        def loads(data):
            waybill.inspect(data)
            waybill.loads(data)
        def dumps(value):
            waybill.fingerprint(value)
            waybill.imports(value, by_value=True)
            return waybill.dumps(value)
    """,
    "compressed buffers": """
        value = [bytes(70_000), bytearray(range(256)) * 300]
        def dumps(value): return waybill.dumps(value, compress="zstd")
    """,
}

if sys.version_info >= (3, 12):
    PROGRAMS["type aliases"] = """
        type Json = dict[str, Json] | list[C]
        def generic[T: Later, *Ts, **P](x: T) -> T: return x
        class G[T]:
            def m(self, x: T) -> T: return x
        value = Json, generic, G, G[int]()
    """

NAMES = [*EXPRESSIONS, *PROGRAMS]


def make(name):
    """A new object of this kind, what sends it and what loads it."""
    source = PROGRAMS.get(name)
    if source is None:
        source = f"value = {EXPRESSIONS[name]}"
    scope = {"__name__": "module_that_is_nowhere", "math_sqrt": __import__("math").sqrt}
    exec(compile(IMPORTS, "imports.py", "exec"), scope)
    exec(compile(textwrap.dedent(source), f"{name}.py", "exec"), scope)
    dumps, loads = scope.get("dumps", waybill.dumps), scope.get("loads", waybill.loads)
    return scope["value"], dumps, loads
