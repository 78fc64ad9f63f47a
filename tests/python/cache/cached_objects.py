"""Classes that hold objects, as dataclasses do, and all that can change in those."""

import dataclasses

import waybill
from cached_nodes import Program
from sources import run

PROGRAM = Program("""
import collections, dataclasses, functools, math, types
from dataclasses import dataclass, field
from typing import Dict, List, NamedTuple, Optional, Union

SCALE = 3

def plain(self): return -1
def factory(): return SCALE
def noted(function):
    @functools.wraps(function)
    def wrapper(*args): return function(*args)
    return wrapper

class Conf:
    unit = "cm"
    def __init__(self): self.level, self.parts = 1, [2]

class Pair:
    __slots__ = "first", "second"
    def __init__(self): self.first = [1]

class Wide(Pair):
    __slots__ = "third", "__dict__", "__weakref__"
    def __init__(self): self.first, self.third, self.more = 1, Conf(), "text"

class Named:
    __slots__ = {"one": "its doc", "__two": "other doc"}
    def __init__(self): self.one = 1

for made in Pair, Wide, Named: made().__reduce_ex__(5)  # It notes the slots.

@dataclass
class Base:
    base: int = 1

@dataclass
class Item(Base):
    "An item."
    x: int = 0
    sizes: list[int] = field(default_factory=list)
    made: dict[str, list[int]] = field(
        default_factory=factory, metadata={"unit": "cm", "more": (1, [2])}, repr=False
    )
    rest: tuple = ()
    def area(self): return self.x * SCALE

@dataclass(frozen=True, order=True)
class Point:
    x: int = 1
    def norm(self): return math.floor(self.x)

class Mate:  # typing remembers it.
    pass

@dataclass
class Typed:
    one: Optional[int] = None
    two: int | None = None
    more: List[Mate] = ()
    most: Dict[str, Union[int, Mate]] = ()
    all: list[Optional[int]] = ()
    def get(self, one: Optional[int], two: dict[str, int | None]) -> "Conf": pass

class Holder:
    conf, held, pair, wide = Conf(), {"a": [Conf()]}, Pair(), Wide()
    names, none = {"one", "two", 3}, frozenset()
    proxy, alias = types.MappingProxyType({"a": [1]}), dict[str, Conf]
    missing = dataclasses.MISSING
    @noted
    def get(self): return self.conf, Holder.conf.level, "one" in Holder.names
    @functools.cache
    def cached(self): return 1
    del cached

Row = collections.namedtuple("Row", "x y", defaults=[SCALE])
class Line(NamedTuple):
    one: int
    two: str = "two"
    def area(self): return Row(self.one, SCALE)

CONF = Conf()
class Gone: pass
MAYBE, GONE = List[Mate], dataclasses.MISSING
# From Python 3.15 on that is made in C, and takes no attributes.
if not hasattr(GONE, '__dict__'): GONE = Gone()
vars(MAYBE)['mark'] = GONE.mark = 1
def use(x): return Item(x).area() + CONF.level
def asks(): return MAYBE.mark.abc, GONE.mark.abc
""")


def world():
    scope = PROGRAM.world()
    scope["dump"] = lambda: [waybill.dumps(scope["Typed"]) for _ in range(3)]
    return scope


#: What is kept of these.
KEPT = ("Pair", "Wide", "Row", "Point", "Typed", "Holder", "use", "Item", "Line")


def of_field(statement, name="made"):
    """A change of a Field; what is left of it in other tests is put back there."""
    return run(f"f = Item.__dataclass_fields__[{name!r}]; {statement}")


def of_type(expression):
    """A change of an annotation of a class, of its field, and of a method."""
    return run(
        f"import typing; t = {expression}; Typed.__annotations__['one'] = t;"
        "Typed.__dataclass_fields__['one'].type = t; dump();"
        "Typed.get.__annotations__['one'] = t"
    )


CHANGES = {
    "a field of a named tuple": run("Row.x = Row.y"),
    "a field of a named tuple that is none": run("Row.x = property(plain)"),
    "a default of a named tuple": run("Row.__new__.__defaults__ = (4,)"),
    "what __new__ names": run("Row.__new__.__globals__['_tuple_new'] = list.__new__"),
    "what __new__ names, by Python": run(
        "Row.__new__.__globals__['_tuple_new'] = plain"
    ),
    "bases as they were written": run("Line.__orig_bases__ = (Row,)"),
    "a default of a field": of_field("f.default = 7"),
    "a factory of a field": of_field("f.default_factory = dict"),
    "a factory that becomes a lambda": of_field("f.default_factory = lambda: 1"),
    "no factory of a field": of_field("f.default_factory = dataclasses.MISSING"),
    "code of a factory": run("factory.__code__ = plain.__code__"),
    "what a factory names": run("SCALE = 4"),
    "the name of a field": of_field("f.name = 'other'"),
    "a type of a field": of_field("f.type = list"),
    "a type of a field that is equal": of_field("f.type = dict[str, list[int]]"),
    "a type of a field with other arguments": of_field("f.type = dict[str, list[str]]"),
    "a type of a field of another origin": of_field(
        "f.type = collections.Counter[str]"
    ),
    "a type of a field that becomes text": of_field("f.type = 'int'"),
    "a type of a field that is unpacked": of_field("f.type = [*tuple[int]][0]"),
    "a flag of a field": of_field("f.repr = True"),
    "a flag that becomes a number": of_field("f.init = 1"),
    "a kind of a field": of_field("f._field_type = dataclasses._FIELD_CLASSVAR"),
    "a sentinel that is another": of_field("f.kw_only = type(dataclasses.MISSING)()"),
    "an attribute of a field that is deleted": of_field("del f.hash"),
    "metadata": of_field("f.metadata = types.MappingProxyType({'unit': 'cm'})"),
    "metadata that is a dict": of_field("f.metadata = {'unit': 'cm'}"),
    "metadata in place": of_field("f.metadata['more'][1].append(3)"),
    "metadata that two fields share": of_field(
        "f.metadata = Item.__dataclass_fields__['x'].metadata"
    ),
    "a default that two fields share": of_field(
        "f.default = Item.__dataclass_fields__['x'].default = [1]"
    ),
    "an object as default": of_field("f.default = CONF"),
    "a set as default": of_field("f.default = {1}"),
    "a module as default": of_field("f.default = math"),
    "the class as default": of_field("f.default = Item"),
    "an instance of the class as default": of_field("f.default = Item()"),
    "a field as default": of_field("f.default = f"),
    "a field that is shared": run("f = Item.__dataclass_fields__; f['x'] = f['rest']"),
    "a field of a base": run("Base.__dataclass_fields__['base'].default = 3"),
    "a field that is deleted": run("del Item.__dataclass_fields__['x']"),
    "a field that is added": run(
        "Item.__dataclass_fields__['y'] = Base.__dataclass_fields__['base']"
    ),
    "order of fields": run("f = Item.__dataclass_fields__; f['x'] = f.pop('x')"),
    "fields that are another dict": run(
        "Item.__dataclass_fields__ = dict(Item.__dataclass_fields__)"
    ),
    "a parameter": run("Item.__dataclass_params__.order = True"),
    "a parameter of one that is frozen": run("Point.__dataclass_params__.frozen = 0"),
    "annotations": run("Item.__annotations__['x'] = float"),
    "annotations with text": run("Item.__init__.__annotations__['x'] = list['SCALE']"),
    "annotations with a list": run("Item.__init__.__annotations__['x'] = ['SCALE']"),
    "annotations with text in it": run(
        "Item.__init__.__annotations__['x'] = dict[str, list['SCALE']]"
    ),
    "a type that is optional": of_type("Optional[str]"),
    "a type that is optional, with text": of_type("Optional['SCALE']"),
    "a union": of_type("int | str | None"),
    "a union with a class": of_type("Conf | None"),
    "a union in a list": of_type("list[int | str]"),
    "a type of a type": of_type("Dict[str, List[Conf]]"),
    "a type that is called": of_type("typing.Callable[[int], str]"),
    "a type that is annotated": of_type("typing.Annotated[int, 'SCALE']"),
    "a literal": of_type("typing.Literal['SCALE']"),
    "a type variable": of_type("typing.TypeVar('T')"),
    "any type": of_type("typing.Any"),
    "a type without arguments": of_type("List"),
    "arguments of a type": run(
        "t = List[Base]; Typed.__annotations__['more'] = t; dump();t.__args__ = (Conf,)"
    ),
    "the origin of a type": run(
        "t = List[Base]; Typed.__annotations__['more'] = t; dump();"
        "t.__origin__ = dict; t._name = None"
    ),
    "a type that cannot be taken apart": run(
        "t = List[Base]; Typed.__annotations__['more'] = t; dump(); del t.__args__"
    ),
    "what is matched": run("Item.__match_args__ = ('x',)"),
    "a method of its": run("Item.__init__ = plain"),
    "code of a method": run("Item.area.__code__ = plain.__code__"),
    "a default of a method": run("Item.__init__.__defaults__ = (1,) * 5"),
    "a hash": run("Item.__hash__ = plain"),
    "no way to set attributes": run("del Point.__setattr__"),
    "the class in a closure": run(
        "Point.__setattr__.__closure__[1].cell_contents = Item"
    ),
    "the class made again": run(
        "Point = dataclass(type('Point', (), {'__annotations__': {'x': int}, 'x': 1}))"
    ),
    "an attribute of an object": run("Holder.conf.level = 2"),
    "an attribute that is added to an object": run("Holder.conf.more = 1"),
    "an attribute that an object loses": run("del Holder.conf.level"),
    "order of an object's attributes": run(
        "c = Holder.conf; c.level = vars(c).pop('level')"
    ),
    "a list of an object": run("Holder.conf.parts.append(1)"),
    "an object that is another": run("Holder.conf = Conf()"),
    "an object of another class": run("Holder.conf.__class__ = Holder"),
    "an object that is shared": run("Holder.held['a'][0] = Holder.conf"),
    "an object in itself": run("Holder.conf.me = Holder.conf"),
    "an object that holds the class": run("Holder.conf.holder = Holder"),
    "a dict of an object that others have": run("d = vars(Holder.conf)"),
    "a dict of an object that is another": run("Holder.conf.__dict__ = {'level': 3}"),
    "a dict of two objects": run("Holder.conf.__dict__ = vars(Holder.held['a'][0])"),
    "a say of an object": run(
        "Holder.conf.__reduce_ex__ = lambda protocol: (Conf, ())"
    ),
    "a module of an object": run("Holder.conf.__module__ = 'elsewhere'"),
    "an attribute of an object's class": run("Conf.unit = 'mm'"),
    "a say of an object's class": run("Conf.__reduce__ = lambda self: (Conf, ())"),
    "a state of an object's class": run("Conf.__getstate__ = lambda self: 1"),
    "a way to set an object's state": run("Conf.__setstate__ = lambda self, s: None"),
    "a way to make an object": run("Conf.__new__ = lambda cls: object.__new__(cls)"),
    "an attribute for what is missing": run("Conf.__getattr__ = lambda self, n: 1"),
    "the name of an object's class": run("Conf.__name__ = 'Struct'"),
    "a slot": run("Holder.pair.second = 1"),
    "a slot that is emptied": run("del Holder.pair.first"),
    "a list in a slot": run("Holder.pair.first.append(1)"),
    "a slot of one with a dict": run("Holder.wide.third = None"),
    "a dict beside slots": run("Holder.wide.more = 2"),
    "what Python notes of slots": run("Pair.__slotnames__.pop()"),
    "what Python notes of slots that is none": run("Pair.__slotnames__ = None"),
    "another name of a slot": run("Pair.__slotnames__[0] = 'second'"),
    "what slots are said to be": run("Pair.__slots__ = ('first',)"),
    "what slots are said to be, in place": run("Named.__slots__['one'] = 'other'"),
    "more slots are said to be": run("Named.__slots__['two'] = 1"),
    "a class that is a slot's": run("Named.__slots__ = ('one', Conf)"),
    "no slots are said to be": run("del Pair.__slots__"),
    "a slot that is no more": run("del Pair.second"),
    "a slot of another class": run("Named.first = Pair.first"),
    "the name of a class with slots": run("Named.__name__ = 'Other'"),
    "a base of a class with slots": run("Pair.third = 1"),
    "a slot that is a property": run("Pair.second = property(lambda self: 1)"),
    "an element of a set": run("Holder.names.add('more')"),
    "an element of another type": run("Holder.names.discard(3); Holder.names.add(3.0)"),
    "an element that is an object": run("Holder.names.add(Conf)"),
    "an element that is long": run("Holder.names.add('long ' * 30)"),
    "a set that is another": run("Holder.names = set(Holder.names)"),
    "a set that becomes frozen": run("Holder.names = frozenset(Holder.names)"),
    "a set of another order": run(
        "n = Holder.names; n.update(range(50)); n -= {*range(50)} - {3}"
    ),
    "a mapping that is shown": run("Holder.proxy = types.MappingProxyType({})"),
    "a mapping of another kind": run(
        "Holder.proxy = types.MappingProxyType(collections.ChainMap())"
    ),
    "the dict of a class": run("Holder.proxy = vars(Conf)"),
    "a value of a mapping": run("Holder.proxy['a'].append(1)"),
    "a generic type": run("Holder.alias = dict[str, Pair]"),
    "a generic type with text": run("Holder.alias = dict[str, 'Pair']"),
    "what wraps a method": run("Holder.get.__wrapped__ = plain"),
    "code of what is wrapped": run("Holder.get.__wrapped__.__code__ = plain.__code__"),
    "an attribute of what wraps": run("Holder.get.mark = [1]"),
    "what wraps nothing": run("del Holder.get.__wrapped__"),
    "what wraps something with text": run("Holder.get.__annotations__['x'] = 'SCALE'"),
    "an object that code looks into": run("CONF.level = math"),
    "a type that code looks into": run("vars(MAYBE)['mark'] = collections"),
    "a sentinel that code looks into": run("GONE.mark = collections"),
    "a class that code looks into": run("Conf.level = math; del CONF.level"),
    "a global object": run("CONF = Pair()"),
    "nothing": lambda w: None,
}

if not hasattr(dataclasses.MISSING, "__dict__"):
    del CHANGES["a sentinel that is another"]
