"""Enumerations by value: members, and what their authors put beside them."""

import enum

import fresh_process
import pytest
import waybill
from sources import define
from waybill._classes import enumerations

IMPORTS = "import dataclasses, datetime, decimal, enum\n"


def arrive(source, expression):
    return fresh_process.send(define(IMPORTS + source).value, expression)


def test_hook_for_missing_values_arrives():
    source = """
class value(enum.Enum):
    RED = "red"
    @classmethod
    def _missing_(cls, key): return cls[key.upper()]
"""

    assert arrive(source, "value('Red') is value.RED")


def test_hook_for_next_values_arrives_and_serves_derived_classes():
    source = """
class value(enum.Enum):
    def _generate_next_value_(name, start, count, last_values): return name * 2
"""
    program = "list(value('D', 'A B').__members__[n].value for n in 'AB')"

    assert arrive(source, program) == ["AA", "BB"]


def test_hook_that_shows_flags_arrives():
    source = """
class value(enum.Flag):
    _numeric_repr_ = hex
    R = 1
    W = 2
"""

    assert arrive(source, "value._numeric_repr_(255)") == "0xff"


def test_members_with_functions_and_classes_for_values_arrive():
    source = """
class value(enum.Enum):
    INC = enum.member(lambda x: x + 1)
    @enum.member
    class Inner: y = 2
    ONE = 1
"""
    program = "[*value.__members__, value.INC.value(1), value.Inner.value.y]"

    assert arrive(source, program) == ["INC", "Inner", "ONE", 2, 2]


def test_member_whose_content_is_not_its_value_is_found_by_value():
    source = """
class value(bytes, enum.Enum):
    def __new__(cls, value, label):
        made = bytes.__new__(cls, [value])
        made._value_, made.label = value, label
        return made
    PX = (0, "P.X")
    PY = (1, "P.Y")
"""
    program = "[value(1) is value.PY, value.PY.label, bytes.hex(value.PY)]"

    assert arrive(source, program) == [True, "P.Y", "01"]


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


def test_way_of_a_base_to_make_members_serves_classes_derived_on_both_sides():
    source = """
class Base(enum.Enum):
    def __new__(cls, number, text):
        made = object.__new__(cls)
        made._value_, made.text = number, text
        return made
    def __init__(self, number, text): self.both = f"{number}{text}"
class value(Base): A = 1, "a"
"""
    program = """
[value.A.value, value.A.text, value.A.both,
 value.__base__('There', {'B': (2, 'b')}).B.both]
"""

    assert arrive(source, program) == [1, "a", "1a", "2b"]


def test_author_makes_no_member_again():
    source = """
class value(enum.Enum):
    def __new__(cls, given):
        made = object.__new__(cls)
        made._value_ = given + 1
        return made
    def __init__(self, given): self.given = given
    A = 1
"""

    assert arrive(source, "[value.A.value, value.A.given]") == [2, 1]


def test_aliases_and_combined_flags_arrive():
    source = """
class value(enum.IntFlag):
    R = 1
    W = 2
    RW = 3
    READ = 1
"""
    program = "[value.READ is value.R, value.RW == value.R | value.W, value(3).name]"

    assert arrive(source, program) == [True, True, "RW"]


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

    assert derived <= enumerations._DERIVED | {"_generate_next_value_"}
