"""Ordinary classes are taken apart in C++ as the Python half takes all apart."""

import abc
import collections
import dataclasses
import enum
import functools
import typing

import fresh_process
import msgpack
import pytest
import waybill
from sources import define
from waybill._classes import parts as class_parts

CLASS = b"\x10"  # The tag of the node.
DEFINITIONS = b"\x18"


def parts_in(payload):
    """Names, in order, of what the class in a payload is made with and gets."""

    def search(value):
        if not isinstance(value, list):
            return None
        if len(value) == 7 and value[0] == msgpack.ExtType(0, CLASS):
            return value
        return next(filter(None, map(search, value)), None)

    whole = msgpack.unpackb(payload, strict_map_key=False, object_pairs_hook=list)
    found = search(whole[4])
    if whole[4][0] == msgpack.ExtType(0, DEFINITIONS):
        _, _, definitions, value = whole[4]
        # The last of them is the one that was sent, unless it is in the value.
        found = search(value) or search(definitions[-1])
    _, _, _, name, _, namespace, attributes = found
    return name, [list(map(first, part)) for part in (namespace, attributes)]


def first(pair):
    return pair[0]


SOURCES = {
    "empty": "class C: pass",
    "documented": "class C:\n 'Says what.'\n x = 1",
    "not documented": "class C:\n __doc__ = None",
    "values and methods": """
        class C:
            a = 1
            def b(self): pass
            c = [2]
            d = property(b)
            e = classmethod(b)
            f = staticmethod(b)
            g = functools.partial(b)
            h = len
    """,
    "plain and other containers": """
        class C:
            def b(self): pass
            c, d, e, f = [b], {1: b}, {b}, (1, b)
            g, h, i, j = [2, 'a', None], {1: 2.5}, {3}, (1, b'b')
            k, l, m, n = [[]], {(1,): 1}, frozenset({3j}), ()
            o, p, q = True, 1.5, None
    """,
    "large containers": """
        class C:
            def b(self): pass
            c, d, e = [0] * 101, dict.fromkeys(range(101)), set(range(101))
            f, g, h = [0] * 100, dict.fromkeys(range(100)), set(range(100))
    """,
    "of another module": "class C:\n __module__ = 'elsewhere'\n x = 1",
    "renamed": "class C: x = 1\nC.__qualname__ = 'Outer.Other'",
    "derived": "class Base: y = 2\nclass C(Base): x = 1",
    "derived from builtins": "class C(dict): x = 1",
    "slots": "class C: __slots__ = ('a', '__b')",
    "hooked": "class B:\n def __init_subclass__(cls): cls.z = 3\nclass C(B): x = 1",
    "hook of its own": "class C:\n def __init_subclass__(cls): pass\n x = 1",
    "annotated": "class C:\n x: int\n y: str = 'a'",
    "abstract": "class C(abc.ABC):\n @abc.abstractmethod\n def f(self): pass",
    "an enumeration": "class C(enum.Enum): A = 1",
    "generic": "class C(typing.Generic[T]): x = 1",
    "a dataclass": "@dataclasses.dataclass\nclass C:\n x: int\n y: int = 2",
    "a tuple with names": "class C(typing.NamedTuple):\n x: int",
    "with a metaclass": "class Meta(type): pass\nclass C(metaclass=Meta): x = 1",
    "with a cell": "class C:\n def g(self): return __class__",
    "strange names": "class C: pass\nsetattr(C, 'not a name', 1)\nsetattr(C, 'ü', 2)",
    "set later": "class C: x = 1\nC.y = lambda self: 2\nC.z = 3",
}


@pytest.mark.parametrize("name", SOURCES)
def test_parts_are_those_that_the_python_half_tells(name):
    given = {m.__name__: m for m in (abc, dataclasses, enum, functools, typing)}
    cls = define(SOURCES[name], T=typing.TypeVar("T"), **given).C
    waybill.dumps(cls)  # An id may be noted on it.

    found = parts_in(waybill.dumps(cls))

    _, called, _, namespace, attributes = class_parts.class_parts(cls)
    assert found == (called, [list(namespace), list(attributes)])


def test_a_finalizer_may_change_the_class_meanwhile():
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


def test_a_class_whose_dict_holds_what_c_made_is_left_to_python():
    cls = define("class C: pass").C
    cls.method = collections.OrderedDict.__dict__["move_to_end"]

    received = waybill.loads(waybill.dumps(cls))

    assert received is cls
