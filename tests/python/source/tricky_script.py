"""Classes and functions of a script, as odd as people write them, with expressions that
use them.

Sent to all versions of Python by test_scripts_cross.py.
"""

import abc, collections, contextlib, dataclasses, enum, functools, itertools, operator, typing
from dataclasses import InitVar, KW_ONLY, dataclass, field
from typing import ClassVar, Generic, NamedTuple, Protocol, TypedDict, TypeVar
import asyncio as aio, json as js

class A: x: int = 1; y = 2
class B(A): z: "str" = "z"; w: list = []; f = lambda self, n=3: (n, self.z)
class C: pass; a: int
class D: x: int; y: str = "d"; n: (
    int) = 4
class E: """One line doc."""; x: int = 3
@dataclass
class F: x: int = 1; y: list = field(default_factory=list)
@dataclass(frozen=True)
class G: x: int; y: int = 2
def one(): return 1
def two(a, b=2): c = a; return c + b
def three(): yield 1; yield 2
async def four(): return 4
class H: 
    def m(self): return 1; b = 2
    def n(self, x): y = x; return y
    async def o(self): return 3
    p = property(lambda self: 5); q = staticmethod(lambda x: x * 2)
if True: inline = lambda x: x + 1
if True:
    def cond(): return "if"
else:
    def cond(): return "else"
try:
    import nowhere_at_all
except ImportError:
    def fallback(): return "fallback"
    class Fallback:
        where: str = "except"
        def get(self): return self.where
else:
    def fallback(): return "else"
finally:
    def final(): return "final"
for _i in range(2):
    def in_loop(i=_i): return i
with contextlib.nullcontext():
    def in_with(): return "with"
while True:
    def in_while(): return "while"
    break

FLAG = True
class CondAnn:
    a: int = 1
    if FLAG:
        b: int = 2
        def m(self): return self.b
    else:
        c: str = "c"
    try:
        d: list
    except ValueError:
        pass
    for _k in range(2):
        e: dict
    with contextlib.nullcontext():
        g: float = 1.0
    match FLAG:
        case True:
            h: bytes = b""
class LamAnn:
    a: (lambda x: x) = 1
    b: typing.Annotated[int, lambda v: v > 0] = 2
    c: "int" = 3
    d: [i for i in range(3)] = 4
    def m(self, x: (lambda: 1) = 2) -> typing.Annotated[int, lambda: 3]: return x

class Deco:
    def __init__(self, f): self.f = f; functools.update_wrapper(self, f)
    def __call__(self, *a): return "deco", self.f(*a)
@Deco
def decorated(x): return x
@(lambda f: lambda *a: ("wrapped", f(*a)))
def lam_deco(x): return x
@functools.partial(functools.partial, lambda f, x: (f(x), x))
def partial_deco(x): return x + 1
@functools.lru_cache
def cached(n): return 1 if n < 2 else cached(n - 1) + cached(n - 2)
@functools.singledispatch
def kind(x): return "object"
@kind.register
def _(x: int): return "int"
@kind.register(list)
def _(x): return "list " + kind(x[0])
@contextlib.contextmanager
def ctx(log):
    log.append(1)
    try: yield log
    finally: log.append(2)
@contextlib.asynccontextmanager
async def actx(log):
    log.append("a")
    yield log
    log.append("b")
async def use_actx():
    async with actx([]) as log: log.append("in")
    return log, [x async for x in agen(3)], [await aone(i) for i in range(2)]
async def agen(n):
    for i in range(n): yield i
async def aone(i): return i * 10
class Ctx:
    def __enter__(self): return "entered"
    def __exit__(self, *e): return True
def use_ctx():
    with Ctx() as a, Ctx() as b: raise ValueError
    return a, b

T = TypeVar("T")
class Gen(Generic[T]):
    def __init__(self, x: T): self.x = x
    def get(self) -> T: return self.x
class IntGen(Gen[int]): pass
@typing.runtime_checkable
class Proto(Protocol):
    x: int
    def get(self) -> int: ...
class Impl:
    x = 1
    def get(self): return 2
class TD(TypedDict, total=False):
    a: int
    b: "str"
class TD2(TD):
    c: list[int]
class NT(NamedTuple):
    a: int
    b: str = "b"
    def both(self): return self.a, self.b
    @property
    def p(self): return self.a * 2
    @classmethod
    def make(cls, a): return cls(a, "made")
NT2 = collections.namedtuple("NT2", "x y", defaults=[5])
class NT3(NT2):
    __slots__ = ()
    def total(self): return self.x + self.y
class Color(enum.Enum):
    RED = enum.auto(); GREEN = enum.auto()
    BLUE = 10
    def low(self): return self.name.lower()
    @classmethod
    def first(cls): return next(iter(cls))
    @staticmethod
    def st(): return "st"
class Perm(enum.Flag):
    R = enum.auto()
    W = enum.auto()
    RW = R | W
class IPerm(enum.IntFlag):
    A = 1
    B = 2
class Str(enum.StrEnum):
    ONE = enum.auto()
    TWO = "2"
class Planet(enum.Enum):
    EARTH = (1.0, 2.0)
    MARS = (3.0, 4.0)
    def __init__(self, mass, radius): self.mass = mass; self.radius = radius
    @property
    def g(self): return self.mass / self.radius
class AutoNamed(enum.Enum):
    @staticmethod
    def _generate_next_value_(name, start, count, last): return name + "!"
    X = enum.auto()
    Y = enum.auto()
class Ordered(enum.IntEnum):
    LOW = 1
    HIGH = 2
    def __str__(self): return f"O{self.value}"
class Missing(enum.Enum):
    A = "a"
    @classmethod
    def _missing_(cls, value): return cls.A
class Members(enum.Enum):
    def f(x): return x
    g = enum.member(lambda x: x + 1)
    h = enum.nonmember(5)

@dataclass(slots=True)
class Slots:
    x: int
    y: list = field(default_factory=list, repr=False)
    def total(self): return self.x + sum(self.y)
@dataclass(slots=True)
class SlotsSub(Slots):
    z: int = 9
    def total(self): return Slots.total(self) + self.z
@dataclass(kw_only=True, order=True)
class KW:
    a: int
    b: int = 2
@dataclass
class KW2:
    a: int
    _: KW_ONLY
    b: int = 2
    c: ClassVar[int] = 7
    d: InitVar[int] = 3
    e: int = field(init=False)
    def __post_init__(self, d): self.e = d * self.a
@dataclass(frozen=True, eq=True)
class Frozen(Generic[T]):
    x: T
    y: "Frozen | None" = None
    def __hash__(self): return 5
@dataclass
class Inherits(KW2):
    f: str = "f"
    def __repr__(self): return f"I({self.a})"
@dataclass(unsafe_hash=True, match_args=False, weakref_slot=True, slots=True)
class Many:
    a: int = field(hash=False, compare=False)
    b: int = field(default=5, metadata={"k": 1})
@dataclass
class WithProp:
    a: int = 1
    @property
    def twice(self): return self.a * 2
    @functools.cached_property
    def thrice(self): return self.a * 3
    @staticmethod
    def s(): return 1
def make_dc():
    @dataclass
    class Local:
        a: int
        b: list = field(default_factory=lambda: [1])
        def get(self): return self.a, self.b, __class__.__name__
    return Local
Local = make_dc()

class Base:
    subs = []
    def __init_subclass__(cls, /, tag=None, **kw):
        super().__init_subclass__(**kw)
        cls.tag = tag; Base.subs.append(cls.__name__)
class Sub(Base, tag="t"): pass
class Named:
    def __set_name__(self, owner, name): self.name = name; self.owner = owner.__name__
    def __get__(self, obj, owner): return self if obj is None else (self.name, self.owner)
class HasNamed:
    one = Named(); two = Named()
class Meta(type):
    def __new__(m, name, bases, ns, **kw):
        cls = super().__new__(m, name, bases, ns); cls.kw = kw; return cls
    def __init__(cls, name, bases, ns, **kw): super().__init__(name, bases, ns)
    @classmethod
    def __prepare__(m, name, bases, **kw): return {"prepared": True}
    def __call__(cls, *a): return super().__call__(*a)
    def __getitem__(cls, k): return cls.__name__, k
    @property
    def mp(cls): return "mp"
class UsesMeta(metaclass=Meta, extra=1):
    def who(self): return __class__, type(self).__name__
class Abstract(abc.ABC):
    @property
    @abc.abstractmethod
    def v(self): ...
    @abc.abstractmethod
    def m(self): return 1
class Concrete(Abstract):
    v = 5
    def m(self): return super().m() + 1
class Exc(Exception):
    default = 5
    def __init__(self, msg, *, code=default): super().__init__(msg); self.code = code
    def __str__(self): return f"{self.args[0]} {self.code}"
class SubExc(Exc, ValueError): pass
class Group(ExceptionGroup):
    def derive(self, excs): return Group(self.message, excs)
def raises():
    try: raise SubExc("m", code=3)
    except Exc as e: return str(e), isinstance(e, ValueError)
def groups():
    try: raise Group("g", [ValueError(1), TypeError(2)])
    except* ValueError as g: return_ = type(g.exceptions[0]).__name__
    except* TypeError: pass
    return return_
class Outer:
    def method(self):
        class Inner:
            def deep(self):
                def inner(): return __class__.__qualname__, Inner.__name__
                return inner()
            class Deeper:
                v = 5
                def m(self): return lambda: (self.v, __class__.__name__)
        return Inner
    class Nested:
        attr = [i * 2 for i in range(3)]
        gen = list(x + 1 for x in attr)
        w = [y := 5, y][0] if False else 6
        def __private(self): return "private"
        def call(self): return self.__private(), self._Nested__private()
        class __Hidden: v = 1
        def hid(self): return self.__Hidden.v
        __attr = 3
        def attr_(self, __arg=4): __loc = __arg; return self.__attr, __loc
class _Under:
    def __m(self): return "u"
    def call(self): return self.__m()
class __Dunder:
    def __m(self): return "d"
    def call(self): return self.__m()
Dunder = globals()["__Dunder"]
class SuperForms(A):
    def a(self): return super().__init__ is not None
    def b(self): return super(SuperForms, self).x
    def c(self): return [super(SuperForms, self).x for _ in range(1)]
    def d(self):
        def inner(): return __class__
        return inner() is type(self)
    @classmethod
    def e(cls): return super().x
    @staticmethod
    def f(): return __class__.__name__
    g = lambda self: super().x
    def h(self): return (lambda: __class__)() is SuperForms
    @property
    def i(self): return super().x
class Slotted:
    __slots__ = ("a", "__b", "__dict__")
    def __init__(self): self.a = 1; self.__b = 2
    def both(self): return self.a, self.__b
class Ops:
    def __init__(self, n): self.n = n
    def __add__(self, o): return Ops(self.n + o.n)
    __radd__ = __add__
    def __eq__(self, o): return self.n == o.n
    def __hash__(self): return hash(self.n)
    def __iter__(self): yield from range(self.n)
    def __len__(self): return self.n
    def __getitem__(self, k): return k
    def __contains__(self, x): return x == self.n
    def __bool__(self): return self.n > 0
    def __call__(self, *a, **k): return a, k
    def __getattr__(self, name):
        if name.startswith("_"): raise AttributeError(name)
        return name
    def __class_getitem__(cls, k): return k
    def __format__(self, s): return f"<{s}>"
    def __enter__(self): return self
    def __exit__(self, *a): pass
    def __await__(self): yield; return 3
    def __del__(self): pass
    def __reduce__(self): return Ops, (self.n,)
@functools.total_ordering
class Total:
    def __init__(self, v): self.v = v
    def __eq__(self, o): return self.v == o.v
    def __lt__(self, o): return self.v < o.v
class SDM:
    @functools.singledispatchmethod
    def k(self, x): return "o"
    @k.register
    def _(self, x: int): return "i"
    @k.register
    @classmethod
    def _(cls, x: str): return cls.__name__
    pm = functools.partialmethod(lambda self, a, b: (a, b), 1)
class Props:
    def __init__(self): self._v = 1
    v = property(lambda self: self._v, lambda self, x: setattr(self, "_v", x))
    @property
    def w(self): "Doc of w."; return self._v + 1
    @w.setter
    def w(self, x): self._v = x - 1
    @w.deleter
    def w(self): self._v = None
class Dyn: pass
Dyn.added = lambda self: "added"
Dyn.later = one
def patched(self): return __name__ and "patched"
Dyn.patched = patched
TypeMade = type("TypeMade", (A,), {"m": lambda self: self.x, "k": 1})

def run(c):
    import asyncio
    return asyncio.run(c)
def clear(x): return x

EXPRESSIONS = [
    'A.x, A.y, B().f(), B.__annotations__',
    'D.__annotations__, D().n, C.__annotations__',
    'E.__doc__, E.x, F().y, F(3).x, G(1) == G(1), hash(G(1)) == hash(G(1))',
    'one(), two(1), list(three()), run(four())',
    'H().m(), H().n(4), run(H().o()), H().p, H.q(4)',
    'inline(1), cond(), fallback(), Fallback().get(), final(), in_loop(), in_with(), '
    'in_while()',
    'CondAnn.__annotations__',
    'CondAnn().m(), CondAnn.a, CondAnn.h',
    "LamAnn.__annotations__['a'](5), LamAnn.__annotations__['b'].__metadata__[0](1), "
    "LamAnn.__annotations__['d'], list(LamAnn.__annotations__)",
    "LamAnn.m.__annotations__['x'](), LamAnn().m()",
    'decorated(1), decorated.__name__, lam_deco(2), partial_deco(3), cached(10)',
    "kind(1), kind(''), kind([[2]])",
    'run(use_actx()), use_ctx()',
    'Gen(1).get(), Gen[int].__args__[0], IntGen(2).get(), IntGen.__orig_bases__[0].__'
    'args__',
    'isinstance(Impl(), Proto), isinstance(A(), Proto)',
    "TD(a=1), TD2.__annotations__['c'], TD.__total__, sorted(TD2.__optional_keys__), "
    'sorted(TD2.__required_keys__)',
    'NT(1).both(), NT(2).p, NT.make(3), NT._fields, NT(1)._replace(a=2), NT(1)._asdic'
    't()',
    'NT2(1), NT3(1, 2).total(), NT3(1).total(), NT2._field_defaults',
    "Color.RED.low(), Color.first().value, Color.st(), Color(10).name, Color['GREEN']"
    '.value, len(Color)',
    '(Perm.R | Perm.W) is Perm.RW, ~Perm.R, Perm.R in Perm.RW, IPerm.A | 2, Str.ONE, '
    'Str.TWO.upper()',
    'Planet.MARS.g, Planet((1.0, 2.0)).name, AutoNamed.Y.value, str(Ordered.HIGH), Or'
    "dered.LOW < 2, Missing('zz').name",
    'Members.g.value(1), Members.h, Members.f(3)',
    "Slots(1, [2]).total(), SlotsSub(1).total(), hasattr(Slots(1), '__dict__'), repr("
    'Slots(1)), SlotsSub(1) == SlotsSub(1)',
    'KW(a=1) < KW(a=2), KW2(2, b=3).e, KW2.c, repr(KW2(1)), Inherits(4), Inherits(4).'
    'f',
    'Frozen(1), hash(Frozen(2)), Frozen[int].__args__, Frozen(1) == Frozen(1)',
    'Many(1) == Many(2), hash(Many(1)) == hash(Many(2)), dataclasses.fields(Many)[1].'
    "metadata['k']",
    'WithProp(2).twice, WithProp(2).thrice, WithProp.s(), Local(1).get(), Local.__qua'
    'lname__, repr(Local(3))',
    'dataclasses.replace(KW(a=1), b=5), dataclasses.asdict(Slots(1, [2])), dataclasse'
    's.astuple(G(1))',
    "Sub.tag, HasNamed().one, HasNamed().two, UsesMeta.kw, UsesMeta['a'], UsesMeta.mp"
    ', UsesMeta.prepared, UsesMeta().who()[1]',
    'Concrete().m(), sorted(Abstract.__abstractmethods__), Concrete.__abstractmethods'
    '__',
    "raises(), groups(), str(SubExc('a')), Exc('x').code",
    'Outer().method()().deep(), Outer().method().Deeper().m()()',
    'Outer.Nested.gen, Outer.Nested().call(), Outer.Nested().hid(), Outer.Nested().at'
    'tr_(), Outer.Nested.w',
    '_Under().call(), Dunder().call()',
    'SuperForms().a(), SuperForms().b(), SuperForms().c(), SuperForms().d(), SuperFor'
    'ms.e(), SuperForms.f(), SuperForms().g(), SuperForms().h(), SuperForms().i',
    'Slotted().both()',
    '(Ops(1) + Ops(2)).n, list(Ops(2)), len(Ops(3)), Ops(1)[5], 4 in Ops(4), bool(Ops'
    "(0)), Ops(1)(2, a=3), Ops(1).name, Ops[5], f'{Ops(1):x}'",
    "Total(1) <= Total(2), Total(1) > Total(2), SDM().k(1), SDM().k('a'), SDM().k(1.0"
    '), SDM().pm(2)',
    "(lambda p: (setattr(p, 'w', 5), p.v, p.w, setattr(p, 'v', 9), p._v))(Props()), P"
    'rops.w.__doc__',
    'Dyn().added(), Dyn().patched(), TypeMade().m(), TypeMade.k',
]
