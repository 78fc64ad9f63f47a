"""Classes of ctypes travel by value, and so do their instances."""

import fresh_process
import pytest
import waybill
from sources import define

IMPORTS = "import ctypes\n"


def arrive(source, expression):
    return fresh_process.send(define(IMPORTS + source).value, expression)


STRUCT = """
class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_double)]
    def total(self): return self.x + self.y
class Line(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _anonymous_ = ["start"]
    _fields_ = [("start", Point), ("ends", Point * 2), ("flag", ctypes.c_char)]
class Either(ctypes.Union):
    _fields_ = [("i", ctypes.c_uint32), ("b", ctypes.c_uint8 * 4)]
class Bits(ctypes.Structure):
    _fields_ = [("a", ctypes.c_int, 3), ("b", ctypes.c_int, 5)]
class Big(ctypes.BigEndianStructure):
    _fields_ = [("x", ctypes.c_uint16)]
class Link(ctypes.Structure):
    pass
Link._fields_ = [("value", ctypes.c_int), ("next", ctypes.POINTER(Link))]
class Point3(Point):
    _fields_ = [("z", ctypes.c_int)]
class Number(ctypes.c_int):
    def twice(self): return 2 * self.value
"""


@pytest.mark.parametrize(
    "made, expression, expected",
    [
        ("Point(1, 2.5)", "value.total()", 3.5),
        ("Point", "value(3, 4).total()", 7),
        ("Point3(1, 2, 3)", "value.total(), value.z", (3, 3)),
        ("Line(Point(1, 2), (Point(3, 4), Point(5, 6)), b'x')",
         "value.x, value.ends[1].y, value.flag", (1, 6.0, b"x")),
        ("ctypes.sizeof(Line), Line",
         "value[0] == __import__('ctypes').sizeof(value[1])", True),
        ("Either(0x01020304)", "sorted(value.b)", [1, 2, 3, 4]),
        ("Bits(1, 2)", "value.a, value.b", (1, 2)),
        ("Big(258)", "bytes(value)", b"\1\2"),
        ("Link", "value._fields_[1][1]._type_ is value", True),
        ("(Point * 3)(Point(1, 1))", "value[0].total(), len(value)", (2, 3)),
        ("(ctypes.c_int * 3)(1, 2, 3)", "list(value)", [1, 2, 3]),
        ("ctypes.c_int * 3",
         "value is __import__('ctypes').c_int * 3 and value.__name__",
         "c_int_Array_3"),
        ("ctypes.POINTER(ctypes.c_int)",
         "value is __import__('ctypes').POINTER(__import__('ctypes').c_int)", True),
        ("ctypes.c_int(5)", "value.value", 5),
        ("ctypes.c_double(0.5)", "value.value", 0.5),
        ("Number(5)", "value.twice()", 10),
        ("ctypes.create_string_buffer(b'abc')", "value.value", b"abc"),
        ("ctypes.py_object", "value.__name__", "py_object"),
        ("ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)", "value(lambda x: x + 1)(2)",
         3),
    ],
)  # fmt: skip
def test_ctypes_object_of_a_local_class_arrives(made, expression, expected):
    assert arrive(STRUCT + f"value = {made}", expression) == expected


@pytest.mark.parametrize(
    "made",
    ["ctypes.pointer(ctypes.c_int(1))", "ctypes.CFUNCTYPE(None)(int)",
     "ctypes.c_char_p(b'')"],
)  # fmt: skip
def test_pointers_are_refused(made):
    value = define(f"{IMPORTS}value = {made}").value

    with pytest.raises(waybill.EncodeError, match="pointers"):
        waybill.dumps(value)
