"""The encode cache: whatever a class depends on, a change of it shows at once.

What caches that are off give is what counts.
"""

import copyreg
import os
import sys

import pytest
import waybill
from kept_nodes import dumps_without_caches, hits_of_caches, is_taken

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
    part: "text" = Part
    limit: int = 7
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


def world(**scope):
    scope = {"__name__": "nowhere", **scope}
    exec(compile(WORLD, "<world>", "exec"), scope)
    return scope


def run(statement):
    return lambda w: exec(statement, w)


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

#: What is sent of the class, or of what reaches it.
PLACES = {
    "alone": lambda w: w["Shape"],
    "an instance": lambda w: w["Shape"](3),
    "an instance without attributes": lambda w: w["Plain"](),
    "instances": lambda w: [w["Shape"](number) for number in range(3)],
    "an instance in data": lambda w: {"one": [1, "two"], "it": w["Shape"]()},
    "an instance that is shared": lambda w: [w["Shape"]()] * 2,
    "its class behind it": lambda w: [w["Shape"](), w["Shape"]],
    "a function that reaches it": lambda w: w["use"],
    "a task": lambda w: (w["use"], (1,), {}),
    "a task with an instance": lambda w: (w["use"], (w["Shape"](),), {}),
    "an instance and a task": lambda w: [w["Shape"](), w["use"]],
    "behind what it reaches": lambda w: [w["Shape"].sizes, w["Shape"]],
    "before what it reaches": lambda w: [w["Shape"](), w["Shape"].sizes, w["Part"]],
    "before a method": lambda w: [w["Shape"](), w["Shape"].area],
    "before a module": lambda w: [w["Shape"](), sys],
    "before an instance of another": lambda w: [w["Shape"](), w["Part"](), w["Plain"]],
    "behind an instance of another": lambda w: [w["Plain"](), w["Shape"]()],
    "with an instance of another inside": lambda w: [holding(w["Plain"](), w)],
    "with itself inside": lambda w: holding_itself(w),
    "with a method inside": lambda w: [holding(w["Shape"]().norm, w)],
}


def holding(value, w):
    shape = w["Shape"]()
    shape.value = value
    return shape


def holding_itself(w):
    shape = w["Shape"]()
    shape.value = [shape]
    return shape


def outcome(dumps, obj):
    try:
        return dumps(obj)
    except Exception as error:
        return type(error), str(error).split(" at 0x")[0]


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_a_class_depends_on_shows_at_once(change, place):
    w = world()
    assert all(is_taken(obj) for obj in (w["Shape"], w["Shape"](), w["use"]))

    change(w)

    try:
        obj = place(w)
    except (TypeError, AttributeError):
        pytest.skip("no such instance can be made")
    for _ in range(3):
        assert outcome(waybill.dumps, obj) == outcome(dumps_without_caches, obj)


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_instances_that_went_as_kept_arrive(place):
    w = world()
    for _ in range(5):
        data = waybill.dumps(place(w))

    assert data == dumps_without_caches(place(w))
    assert isinstance(waybill.loads(data), type(place(w)))


def test_classes_of_one_text_stay_two():
    w, other = world(), world()
    assert is_taken(w["Shape"]())
    assert is_taken(other["Shape"]())

    for scope in (w, other):
        assert waybill.dumps(scope["Shape"]()) == dumps_without_caches(scope["Shape"]())
    assert waybill.dumps(w["Shape"]()) != waybill.dumps(other["Shape"]())


def test_a_reducer_that_is_registered_shows_at_once():
    w = world()
    assert is_taken(w["Shape"]())
    shape = w["Shape"]

    copyreg.pickle(shape, lambda self: (shape, (9,)))
    try:
        assert waybill.dumps(shape()) == dumps_without_caches(shape())
        assert waybill.loads(waybill.dumps(shape())).x == 9
    finally:
        del copyreg.dispatch_table[shape]
    assert waybill.dumps(shape()) == dumps_without_caches(shape())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_class_has_left_home_in_a_forked_child():
    w = world()
    assert is_taken(w["Shape"]())
    read, write = os.pipe()

    pid = os.fork()
    if pid == 0:
        shape = w["Shape"]()
        os.write(write, b"%d" % (waybill.dumps(shape) == dumps_without_caches(shape)))
        os._exit(0)
    os.waitpid(pid, 0)

    assert os.read(read, 1) == b"1"


def test_a_class_that_arrived_is_not_taken_as_if_at_home():
    data = waybill.dumps(world()["Shape"])
    received = waybill.loads(data)

    for _ in range(4):
        assert waybill.dumps(received()) == dumps_without_caches(received())


def test_a_class_of_a_function_of_an_importable_module_is_looked_for_there(modules):
    one, _, _ = modules
    scope = vars(one)
    exec("class Thing: pass\nThing.__module__ = 'gone'\ndef use(): return Thing", scope)
    use = scope["use"]
    use.__module__ = "gone"

    for _ in range(4):
        assert waybill.dumps(use) == dumps_without_caches(use)


def test_more_classes_than_are_kept_are_all_sent():
    made = [type(f"Made{n}", (), {"value": n}) for n in range(300)]
    expected = [dumps_without_caches(cls()) for cls in made]

    for _ in range(3):
        assert [waybill.dumps(cls()) for cls in made] == expected


def test_a_class_that_died_is_not_mistaken_for_one_at_its_address():
    for number in range(50):
        made = type("Made", (), {"value": number})
        for _ in range(4):
            data = waybill.dumps(made())
        assert waybill.loads(data).value == number
        del made


def test_nothing_of_a_class_is_kept_alive():
    import gc
    import weakref

    w = world()
    assert is_taken(w["Shape"]())
    watched = [weakref.ref(w[name]) for name in ("Shape", "Part", "Base", "use")]

    w.clear()
    gc.collect()

    assert not any(reference() for reference in watched)


def test_what_is_kept_of_classes_is_forgotten_with_the_caches():
    w = world()
    assert is_taken(w["Shape"]())

    waybill.clear_caches()

    hits = hits_of_caches()
    waybill.dumps(w["Shape"]())
    assert hits_of_caches() == hits
    assert is_taken(w["Shape"]())


@pytest.mark.parametrize("number", range(4))
def test_dumping_code_that_runs_meanwhile_is_no_harm(number):
    w = world()
    sending = []

    class Strange(str):
        __slots__ = ()

        def __eq__(self, other):
            if number % 2 and not sending:
                sending.append(1)
                waybill.dumps(w["Shape"]())
                sending.clear()
            if number >= 2:
                waybill.clear_caches()
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    assert is_taken(w["use"])
    w[Strange("__name__")] = w.pop("__name__")
    for _ in range(4):
        assert waybill.dumps(w["use"]) == dumps_without_caches(w["use"])
