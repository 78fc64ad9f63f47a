"""Functions and classes for tests of caches, and ways to load and to compare them."""

import io
import types

import waybill

SOURCE = """
import module_one, module_two
SIZE = 3
class Base:
    def inherited(self): return 'inherited', module_two.value
class C(Base):
    count = 0
    def __init__(self, x=None): self.x = x
    def m(self): return 'm', module_one.value, self.x
    @property
    def p(self): return 'p'
    @staticmethod
    def s(): return 's'
    @classmethod
    def c(cls): return 'c', cls
    class Inner:
        def i(self): return 'i'
def f(*args): return module_one.value, SIZE, args
def g(*args): return module_two.value, SIZE
def h(*args): return C(1).m(), C.Inner().i(), args
class Holder:
    def __init__(self, x): self.c, self.inner, self.x = C(x), [C.Inner()], x
    def both(self): return self.c.m(), h(self.x)
f.__qualname__, g.__qualname__, h.__qualname__ = 'f', 'g', 'h'
"""


def load_uncached(payload):
    """Loads a payload without caches: an Unpickler does not use them."""
    return waybill.Unpickler(io.BytesIO(payload)).load()


def warm(payload):
    """Loads a payload several times, until the caches serve it."""
    return [waybill.loads(payload) for _ in range(4)][-1]


def seen(value):
    """A comparable form of a value; of a function its code, names and globals."""
    if isinstance(value, types.FunctionType):
        names = [
            (k, getattr(v, "__code__", v))
            for k, v in value.__globals__.items()
            if k != "__builtins__"
        ]
        return value.__code__, value.__module__, value.__qualname__, names
    if isinstance(value, (list, tuple)):
        return type(value), [seen(item) for item in value]
    if isinstance(value, dict):
        return [(seen(k), seen(v)) for k, v in value.items()]
    if hasattr(value, "__dict__") and not isinstance(value, type):
        return type(value), seen(vars(value))
    return value
