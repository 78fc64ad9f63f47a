"""Enumerations by value: members, and what their authors put beside them."""

import enum

import fresh_process
import pytest
import waybill
from claims_in_text import read_claims
from sources import define
from waybill._classes import enumerations

IMPORTS = "import dataclasses, datetime, decimal, enum\n"


def arrive(source, expression):
    return fresh_process.send(define(IMPORTS + source).value, expression)


ENUMERATIONS = """
attributes that are set later arrive, whatever they are
    class value(enum.Flag): A = 1
    for each in (0, 1, None, True, False, object, int, "x"):
        setattr(value, f"is_{each!r}", each)
    >>> [n[3:] == repr(v) for n, v in vars(value).items() if n[:3] == "is_"]
    [True, True, True, True, True, True, True, True]

member that a method names as a global is the member
    class value(enum.Enum):
        A = 1
        def m(self): return X, LIST[0], self.default()
        def default(self, held=[]): return held[0]
    X, LIST = value.A, [value.A]
    value.default.__defaults__[0].append(X)
    >>> {*map(id, value.A.m())} == {id(value.A)} == {*map(id, value)}
    True

member with a state that a method names as a global is the member
    class value(int, enum.Enum):
        def __init__(self, number): self.mark = [number]
        A = 1
        def m(self): return X
    X = value.A
    >>> value.A.m() is value.A and value.A.m().mark == [1]
    True

hook for missing values arrives
    class value(enum.Enum):
        RED = "red"
        @classmethod
        def _missing_(cls, key): return cls[key.upper()]
    >>> value('Red') is value.RED
    True

hook for next values arrives and serves derived classes
    class value(enum.Enum):
        def _generate_next_value_(name, start, count, last_values): return name * 2
    >>> list(value('D', 'A B').__members__[n].value for n in 'AB')
    ["AA", "BB"]

hook that shows flags arrives
    class value(enum.Flag):
        _numeric_repr_ = hex
        R = 1
        W = 2
    >>> value._numeric_repr_(255)
    "0xff"

members with functions and classes for values arrive
    class value(enum.Enum):
        INC = enum.member(lambda x: x + 1)
        @enum.member
        class Inner: y = 2
        ONE = 1
    >>> [*value.__members__, value.INC.value(1), value.Inner.value.y]
    ["INC", "Inner", "ONE", 2, 2]

member whose content is not its value is found by value
    class value(bytes, enum.Enum):
        def __new__(cls, value, label):
            made = bytes.__new__(cls, [value])
            made._value_, made.label = value, label
            return made
        PX = (0, "P.X")
        PY = (1, "P.Y")
    >>> [value(1) is value.PY, value.PY.label, bytes.hex(value.PY)]
    [True, "P.Y", "01"]

way of a base to make members serves classes derived on both sides
    class Base(enum.Enum):
        def __new__(cls, number, text):
            made = object.__new__(cls)
            made._value_, made.text = number, text
            return made
        def __init__(self, number, text): self.both = f"{number}{text}"
    class value(Base): A = 1, "a"
    >>> [value.A.value, value.A.text, value.A.both,
    ...  value.__base__('There', {'B': (2, 'b')}).B.both]
    [1, "a", "1a", "2b"]

author makes no member again
    class value(enum.Enum):
        def __new__(cls, given):
            made = object.__new__(cls)
            made._value_ = given + 1
            return made
        def __init__(self, given): self.given = given
        A = 1
    >>> [value.A.value, value.A.given]
    [2, 1]

aliases and combined flags arrive
    class value(enum.IntFlag):
        R = 1
        W = 2
        RW = 3
        READ = 1
    >>> [value.READ is value.R, value.RW == value.R | value.W, value(3).name]
    [True, True, "RW"]
"""


@pytest.mark.parametrize("source, expression, expected", read_claims(ENUMERATIONS))
def test_enumeration_arrives(source, expression, expected):
    assert arrive(source, expression) == expected


@pytest.mark.parametrize(
    ("kind", "made", "content"),
    [
        ("int", "255", "int(m) == m._value_ == 255"),
        ("int", "'ff', 16", "int(m) == m._value_ == 255"),
        ("str", "b'abc', 'ascii'", "str.upper(m) == 'ABC'"),
        ("float", "'nan'", "str(float(m)) == 'nan'"),
        ("complex", "1, 2", "complex(m) == 1 + 2j"),
        ("tuple", "(1, 2)", "tuple(m) == m._value_ == (1, 2)"),
        ("datetime.date", "2024, 3, 1", "m.isoformat() == '2024-03-01'"),
        ("decimal.Decimal", "'1.50'", "m + 1 == m._value_ + 1 == 5 / 2"),
    ],
)
def test_members_of_a_data_type_hold_its_content(kind, made, content):
    source = f"class value({kind}, enum.Enum): A = {made}"

    assert arrive(source, f"[{content} for m in value]") == [True]


@pytest.mark.parametrize("options", ["", "frozen=True", "slots=True"])
def test_member_of_a_dataclass_has_its_fields(options):
    source = f"""
@dataclasses.dataclass({options})
class Data:
    x: int
    y: str = "q"
class value(Data, enum.Enum):
    B = 2, "z"
"""

    assert arrive(source, "[value.B.x, value.B.y, value.B.value.x]") == [2, "z", 2]


@pytest.mark.parametrize("base", ["Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"])
def test_enumeration_looks_the_same_after_a_round_trip(base):
    values = "'a', 'b'" if base == "StrEnum" else "1, 2"
    sent = define(f"{IMPORTS}class value(enum.{base}): A, B = {values}").value
    program = (
        "[repr(value.A), str(value.A), sorted(vars(value)), list(map(repr, value))]"
    )

    arrived = fresh_process.send(sent, program)

    # What the compiler or copyreg put there, and nobody sends.
    other = {"__slotnames__", "__firstlineno__", "__static_attributes__"}
    own = sorted(vars(sent).keys() - other)
    there = sorted(set(arrived[2]) - other)
    assert [*arrived[:2], there] == [repr(sent.A), str(sent.A), own]
    assert arrived[3] == list(map(repr, sent))


def test_asking_a_flag_for_its_complement_changes_no_byte():
    flags = define(f"{IMPORTS}class value(enum.Flag): R = 1; W = 2").value
    before = waybill.fingerprint(flags)

    assert ~flags.R == flags.W

    assert waybill.fingerprint(flags) == before


def test_enumeration_of_this_python_knows_no_other_derived_name():
    made = enum.Flag("made", "A B")
    derived = {n for n in vars(made) if n[:1] == "_" != n[1:2] and n[-1] == "_"}

    assert derived <= enumerations.DERIVED | {"_generate_next_value_"}
