"""Classes that cannot be imported travel by value; all others by reference."""

import abc
import collections
import sys

import fresh_process
import pytest
import sources
import waybill
from sources import define, round_trip


def made(source, name="A"):
    return getattr(define(source), name)


# ---- By reference


@pytest.mark.parametrize("cls", [int, dict, abc.ABC, waybill.Error, type, type(None)])
def test_importable_class_is_the_same_object(cls):
    assert round_trip(cls) is cls


def test_class_of_an_importable_submodule_is_the_same_object():
    from unittest.mock import _Call  # Its attributes must not be asked for.
    from xml.sax.handler import ContentHandler

    assert round_trip(ContentHandler) is ContentHandler
    assert round_trip(_Call) is _Call


def test_class_that_stands_in_its_module_under_another_name_is_the_same_object():
    import typing

    typed_dict = typing._TypedDict  # Calls itself TypedDict, which is something else.
    assert round_trip(typed_dict) is typed_dict
    assert b"_TypedDict" in waybill.dumps(typed_dict)


class Outer:
    class Inner:
        pass


def test_class_nested_in_an_importable_class_is_the_same_object():
    assert round_trip(Outer.Inner) is Outer.Inner


def test_builtin_type_that_has_no_name_in_builtins_is_the_same_object():
    import types

    kinds = [types.FunctionType, types.ModuleType, types.CellType, types.CodeType]

    assert all(a is b for a, b in zip(round_trip(kinds), kinds))


# ---- By value


def test_class_of_main_and_its_instances_work_in_a_fresh_process(tmp_path):
    payload = tmp_path / "payload"
    script = """
import sys, waybill
class A:
    def __init__(self, x): self.x = x
    def get(self): return self.x
open(sys.argv[1], "wb").write(waybill.dumps([A, A(3), A(4)]))
"""
    fresh_process.run_script(script, payload)

    program = "value[0](5).get(), value[2].get(), type(value[1]) is type(value[2])"

    assert fresh_process.load(payload.read_bytes(), program) == (5, 4, True)


@pytest.mark.parametrize(
    ("source", "expression", "expected"),
    [
        ("class A: x = [1]", "value.x", [1]),
        ("class A:\n    'doc'", "value.__doc__", "doc"),
        ("class A: pass", "value.__doc__", None),
        ("class A: pass", "value.__name__, value.__qualname__", ("A", "A")),
        ("class A: pass", "value.__module__", sources.NOWHERE),
        ("class A:\n    class B: pass", "value.B.__qualname__", "A.B"),
        ("class A: x: int = 1", "{k: v.__name__ for k, v in "
         "value.__annotations__.items()}", {"x": "int"}),
        ("class A:\n    def f(self): return 1", "value().f()", 1),
        ("class A:\n    @classmethod\n    def f(cls): return cls.__name__",
         "value.f()", "A"),
        ("class A:\n    @staticmethod\n    def f(x): return x", "value.f(2)", 2),
        ("class A:\n    @property\n    def p(self): 'd'; return 5",
         "value().p", 5),
        ("class A:\n    @property\n    def p(self):\n        'd'\n        return 5",
         "value.p.__doc__", "d"),
        ("class A:\n    _p = 1\n    p = property(lambda s: s._p, "
         "lambda s, v: setattr(s, '_p', v))",
         "(lambda a: (setattr(a, 'p', 7), a._p)[1])(value())", 7),
        ("class A:\n    __slots__ = ('x', '__y')\n    def f(self):\n"
         "        self.x = self.__y = 3\n        return self.x, self.__y",
         "value().f(), hasattr(value(), '__dict__')", ((3, 3), False)),
        ("class A: __slots__ = 'x'", "value.__slots__", "x"),
        ("class A: __slots__ = ()", "hasattr(value(), '__dict__')", False),
        ("class A: __slots__ = ('x', '__dict__')", "value().__dict__", {}),
        ("class A:\n    __slots__ = {'x': 'text'}", "value.__slots__", {"x": "text"}),
        ("class B:\n    def f(self): return 'B'\nclass A(B):\n"
         "    def f(self): return super().f() + 'A'", "value().f()", "BA"),
        ("class A:\n    def f(self): return __class__", "value().f() is value", True),
        ("class A: pass\nA.me = A", "value.me is value", True),
        ("class A:\n    def f(self): return A", "value().f() is value", True),
        ("class A(list): pass", "[*value([1])], value.__base__ is list", ([1], True)),
        ("class A(Exception): pass", "value('x').args", ("x",)),
        ("class A(dict):\n    def __missing__(self, k): return k", "value()['z']", "z"),
        ("class B: pass\nclass C: pass\nclass A(B, C): pass",
         "[c.__name__ for c in value.__mro__]", ["A", "B", "C", "object"]),
        ("class A:\n    def __eq__(self, o): return True", "value.__hash__", None),
        ("class A:\n    def __call__(self, x): return x", "value()(4)", 4),
        ("class A:\n    def __init_subclass__(cls): cls.mark = 1",
         "type('B', (value,), {}).mark", 1),
        ("class A:\n    def __getattr__(self, n): return n", "value().zz", "zz"),
        ("class A:\n    def f(self): yield 1", "list(value().f())", [1]),
        ("class A: pass\nA.f = lambda self: 9", "value().f()", 9),
        ("class D:\n    def __set_name__(self, o, n): self.n = n\n"
         "    def __get__(self, i, o): return self.n\nclass A: d = D()",
         "value.d", "d"),
        ("class A:\n    __match_args__ = ('x',)", "value.__match_args__", ("x",)),
        ("class A:\n    def __class_getitem__(cls, x): return x", "value[3]", 3),
        ("count = 0\nclass A:\n    def step(self):\n        global count\n"
         "        count += 1\n    def read(self): return count",
         "value().step() or value().read()", 1),
        ("class M(type):\n    def hello(cls): return cls.__name__\n"
         "class A(metaclass=M): pass", "value.hello()", "A"),
        ("import abc\nclass A(abc.ABC):\n    @abc.abstractmethod\n"
         "    def f(self): pass\nA.register(int)",
         "value.__abstractmethods__, issubclass(int, value)",
         (frozenset({"f"}), True)),
        ("class A:\n    def __setstate__(self, state): self.received = state\n"
         "A.one = A()\nA.one.x = 1", "value.one.received", {"x": 1}),
    ],
)  # fmt: skip
def test_class_by_value(source, expression, expected):
    cls = made(source)

    answer = fresh_process.send(cls, expression)

    assert answer == expected


def test_order_of_attributes_arrives():
    cls = made("class A:\n    z = 1\n    a = 2\n    m = 3")

    names = [name for name in vars(round_trip(cls)) if not name.startswith("__")]

    assert names == ["z", "a", "m"]


def test_class_and_instances_in_one_payload_belong_together():
    cls = made("class A: pass")

    arrived, one, two = round_trip([cls, cls(), cls()])

    assert type(one) is type(two) is arrived


def test_base_and_derived_class_in_one_payload_belong_together():
    sent = define("class B: pass\nclass A(B): pass")

    base, derived = round_trip([sent.B, sent.A])

    assert derived.__bases__ == (base,)


def test_classes_that_name_each_other_arrive():
    sent = define("""
    class A:
        def other(self): return B
    class B:
        def other(self): return A
    """)

    a, b = round_trip([sent.A, sent.B])

    assert a().other() is b
    assert b().other() is a


def test_dataclass_by_value_works():
    cls = made("""
    import dataclasses
    @dataclasses.dataclass(order=True)
    class A:
        x: int
        y: list = dataclasses.field(default_factory=list)
    """)

    answer = fresh_process.send(
        cls,
        "repr(value(1)), value(1) < value(2), value(1) == value(1), "
        "__import__('dataclasses').asdict(value(1, [2])), "
        "[f.name for f in __import__('dataclasses').fields(value)]",
    )

    expected = ("A(x=1, y=[])", True, True, {"x": 1, "y": [2]}, ["x", "y"])
    assert answer == expected


def test_frozen_dataclass_instance_by_value_works():
    sent = made("""
    import dataclasses
    @dataclasses.dataclass(frozen=True, slots=True)
    class A:
        x: int
    """)(3)

    assert fresh_process.send(sent, "value.x, hash(value) == hash((3,))") == (3, True)


def test_dataclass_by_value_can_be_derived_from():
    cls = made("import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int")

    answer = fresh_process.execute(
        """
import dataclasses
base = waybill.loads(data)
@dataclasses.dataclass
class Derived(base):
    y: int = 2
answer = repr(Derived(1)), [f.default is dataclasses.MISSING
                            for f in dataclasses.fields(Derived)]
""",
        waybill.dumps(cls),
    )

    assert answer == ("Derived(x=1, y=2)", [True, False])


def test_sentinel_compared_by_identity_in_an_importable_module_is_that_object():
    import dataclasses

    arrived = round_trip([dataclasses.MISSING, dataclasses.KW_ONLY])

    assert arrived == [dataclasses.MISSING, dataclasses.KW_ONLY]


def test_exception_class_by_value_can_be_caught():
    sent = define("class E(Exception): pass\ndef f():\n    raise E(1)")

    arrived = round_trip([sent.E, sent.f])

    with pytest.raises(arrived[0]):
        arrived[1]()


@pytest.mark.skipif(sys.version_info < (3, 14), reason="PEP 649 is of 3.14")
def test_annotations_of_a_class_stay_deferred():
    sent = made("class A:\n    x: Nobody = 1")

    assert fresh_process.send(sent, "value.x") == 1


def test_unsendable_attribute_names_its_path():
    cls = made("import threading\nclass A:\n    lock = threading.Lock()")

    with pytest.raises(waybill.EncodeError) as caught:
        waybill.dumps([cls])

    assert "obj[0].lock" in str(caught.value)


def test_finalizer_may_change_the_class_while_it_is_sent():
    script = """
import gc, waybill
class Trash:
    def __init__(self, cls): self.cls, self.me = cls, self
    def __del__(self):
        self.cls.__module__ = "other" + str(id(self))
        self.cls.__doc__ = "other" + str(id(self))
def make(number):
    class C: pass
    C.__module__ = "".join(["mod_", str(number), "_" * 20])
    C.__doc__ = "".join(["doc_", str(number), "_" * 20])
    return C
waybill.dumps(make(0))
for number in range(1, 300):
    cls = make(number)
    gc.collect()
    Trash(cls)
    gc.set_threshold(number, 1000, 1000)
    waybill.dumps(cls)
    gc.set_threshold(100_000)
print("done")
"""
    assert fresh_process.run_script(script).strip() == "done"


def test_class_with_a_method_of_a_class_in_c_is_received():
    cls = define("class C: pass").C
    cls.method = collections.OrderedDict.__dict__["move_to_end"]

    received = waybill.loads(waybill.dumps(cls))

    assert received is cls
