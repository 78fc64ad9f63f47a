"""Classes that are sent again, and all that can change in them."""

import sys

import pytest
import waybill
from cached_nodes import Program
from sources import run
from without_caches import dumps_without_caches

WORLD = """
import collections, math, types
from os.path import join, split

SCALE = 3
TABLE = {"a": 1, "b": [2, 3]}

def plain(self): return -1
def other(self): return SCALE + 1

class Base:
    kind = "base"
    def area(self): return SCALE * self.size()
    def size(self): return 1

class Part:
    weight = 1.5

class Shape(Base):
    "A shape."
    name, sizes, table = "shape", [1, (2, 3)], {"x": 1, "y": [2.5]}
    {annotated}
    def __init__(self, x=1): self.x, self.y = x, join
    def area(self): return super().area() + math.floor(self.x)
    def norm(self, *, of=(1, 2)): return collections.abc.Mapping, Part, TABLE["a"], of
    @property
    def double(self): "Doc of it."; return 2 * self.x
    @double.setter
    def double(self, value): self.x = value / 2
    @classmethod
    def make(cls, x): return cls(x)
    @staticmethod
    def helper(): return other

class Plain:
    pass

def use(x): return Shape(x).area() + Part.weight + TABLE["b"][0]
"""


#: From 3.14 on a class with annotations has code for them, and is not kept.
ANNOTATED = (
    "part, limit = Part, 7"
    if sys.version_info >= (3, 14)
    else "part: 'text' = Part; limit: int = 7"
)
WORLD = WORLD.replace("{annotated}", ANNOTATED)
world = Program(WORLD).world
#: The same with a base that is an abstract class.
abstract_world = Program(
    "import abc\n" + WORLD.replace("class Base:", "class Base(abc.ABC):")
).world


CHANGES = {
    "a text attribute": run("Shape.name = 'other'"),
    "an equal text": run("Shape.name = ''.join('shape')"),
    "an attribute that is added": run("Shape.added = 1"),
    "an attribute that is deleted": run("del Shape.name"),
    "order of attributes": run("n = Shape.name; del Shape.name; Shape.name = n"),
    "a list": run("Shape.sizes = [1]"),
    "a list in place": run("Shape.sizes.append(4)"),
    "an item of a list": run("Shape.sizes[0] = 1.0"),
    "a list that becomes a tuple": run("Shape.sizes = (1, (2, 3))"),
    "a list that becomes a dict": run("Shape.sizes = {1: (2, 3)}"),
    "a dict in place": run("Shape.table['z'] = 1"),
    "a value of a dict": run("Shape.table['x'] = 2"),
    "order of a dict": run("Shape.table['x'] = Shape.table.pop('x')"),
    "a list in a dict": run("Shape.table['y'].append(1)"),
    "an object in a list": run("Shape.sizes.append(Part())"),
    "a list in itself": run("Shape.sizes.append(Shape.sizes)"),
    "two names of one list": run("Shape.table['y'] = Shape.sizes"),
    "a set": run("Shape.sizes = {1}"),
    "a module": run("Shape.part = math"),
    "a module in a list": run("Shape.sizes.append(math)"),
    "an instance of the class": run("Shape.part = Shape()"),
    "a class that an attribute is": run("Shape.part = Plain"),
    "a class that an attribute is, by name": run("Shape.part = collections.Counter"),
    "an attribute of that class": run("Part.weight = 2"),
    "a method of that class": run("Part.size = plain"),
    "a method": run("Shape.norm = plain"),
    "a method that is added": run("Shape.more = plain"),
    "code of a method": run("Shape.norm.__code__ = plain.__code__"),
    "a default of a method": run("Shape.__init__.__defaults__ = (2,)"),
    "a keyword default": run("Shape.norm.__kwdefaults__['of'] = (1, 3)"),
    "an attribute of a method": run("Shape.norm.mark = 1"),
    "annotations of a method": run("Shape.norm.__annotations__['self'] = int"),
    "what a method names": run("join = split"),
    "what a method of a base names": run("SCALE = 4"),
    "a value that a method looks into": run("TABLE['a'] = math"),
    "a module that a method names": run("math = collections"),
    "code of a property's getter": run("Shape.double.fget.__code__ = plain.__code__"),
    "a property without a setter": run("Shape.double = property(Shape.double.fget)"),
    "a property's docstring": run(
        "d = Shape.double; Shape.double = property(d.fget, d.fset, None, 'Other.')"
    ),
    "a property that becomes a method": run("Shape.double = plain"),
    "a derived property": run(
        "class derived(property): pass\nShape.double = derived(plain)"
    ),
    "a classmethod that becomes a staticmethod": run(
        "Shape.make = staticmethod(Shape.__dict__['make'].__func__)"
    ),
    "code of a classmethod": run("Shape.make.__func__.__code__ = plain.__code__"),
    "code of a staticmethod": run("Shape.helper.__code__ = plain.__code__"),
    "what a staticmethod gives": run("other.__code__ = plain.__code__"),
    "annotations in place": run("Shape.__annotations__['limit'] = float"),
    "annotations that are added": run("Shape.__annotations__['more'] = Part"),
    "the docstring": run("Shape.__doc__ = 'Other.'"),
    "the name": run("Shape.__name__ = 'Other'"),
    "the qualified name": run("Shape.__qualname__ = 'Outer.Shape'"),
    "the module": run("Shape.__module__ = 'elsewhere'"),
    "a module that has the class": run("Shape.__module__ = 'collections.abc'"),
    "slots that are named afterwards": run("Shape.__slots__ = ('x',)"),
    "an attribute of a base": run("Base.kind = 'other'"),
    "a method of a base": run("Base.size = plain"),
    "code of a method of a base": run("Base.size.__code__ = plain.__code__"),
    "other bases": run("Shape.__bases__ = (Part,)"),
    "a base more": run("Shape.__bases__ = (Base, Part)"),
    "a base that refers to it": run("Base.derived = Shape"),
    "an attribute that refers to what refers to it": run("Part.whole = [Shape]"),
    "a hook of a base": run(
        "Base.__init_subclass__ = classmethod(lambda cls, **kw: None)"
    ),
    "a say of its own": run("Shape.__reduce__ = lambda self: (Shape, (self.x,))"),
    "a say of a base": run("Base.__getstate__ = lambda self: {'x': 1}"),
    "a __new__": run("Shape.__new__ = lambda cls, *args: object.__new__(cls)"),
    "another class of the name": run("class Shape(Base): pass"),
    "an abstract method": run("Shape.__abstractmethods__ = frozenset({'area'})"),
    "the name of the namespace": run("__name__ = 'elsewhere'"),
    "side of class state": run("Shape.__waybill_state__ = 'sender'"),
    "nothing": lambda w: None,
}
CHANGES_OF_ABSTRACT = {
    "a class that is registered": run("Shape.register(Plain)"),
    "a class that is registered with a base": run("Base.register(int)"),
    "a class that is registered and gone": run("Base.register(type('Gone', (), {}))"),
    "an abstract method more": run("Base.more = abc.abstractmethod(plain)"),
    "abstract methods": run("abc.update_abstractmethods(Base)"),
    "the metaclass": run(
        "class Shape(Base, metaclass=type('M', (abc.ABCMeta,), {})): 1"
    ),
}


def outcome(dumps, obj):
    try:
        return dumps(obj)
    except Exception as error:
        return type(error), str(error).split(" at 0x")[0]


def demand_same_after(change, make, w):
    """Changes a world that was sent: what is made of it goes as without caches."""
    change(w)

    try:
        obj = make(w)
    except (TypeError, AttributeError):
        pytest.skip("no such instance can be made")
    for _ in range(3):
        assert outcome(waybill.dumps, obj) == outcome(dumps_without_caches, obj)


def demand_arrival(make, w):
    """What is made of a world that was sent goes as without caches, and arrives."""
    for _ in range(5):
        data = waybill.dumps(make(w))

    assert data == dumps_without_caches(make(w))
    assert isinstance(waybill.loads(data), type(make(w)))
