"""Enumerations that are sent again, and all that can change in them."""

import copyreg
import enum

import pytest
import waybill
from cached_classes import demand_same_after
from cached_nodes import Program, is_taken
from sources import define, run
from without_caches import answers_with_and_without_caches, dumps_without_caches

world = Program("""
import enum

def plain(self): return -1
def other(self): return SCALE + 1
SCALE = 3

class Level(enum.Enum):
    "A level."
    LOW = 1
    HIGH = "high"
    PAIR = (1, 2)
    LIST = [1, 2]
    SAME = 1
    def scaled(self): return SCALE, self.name
    @classmethod
    def first(cls): return cls.LOW
    @property
    def twice(self): return self.value * 2

class Number(enum.IntEnum):
    ONE = 1
    TWO = enum.auto()

class Word(str, enum.Enum):
    YES = "yes"

class Bits(enum.Flag):
    A = enum.auto()
    B = enum.auto()

TABLE = {Level.LOW: [Number.ONE], "word": Word.YES}
def use(x=Level.HIGH): return Level.LOW, Number.TWO, TABLE, Bits.A
""").world

PLACES = {
    "the class": lambda w: w["Level"],
    "a member": lambda w: w["Level"].LOW,
    "members": lambda w: [w["Level"].HIGH, w["Number"].ONE, w["Word"].YES],
    "a function": lambda w: w["use"],
    "a task": lambda w: (w["use"], (w["Level"].PAIR,), {"b": w["Bits"].A}),
    "a member and its class": lambda w: [w["Level"].LIST, w["Level"], w["Number"]],
    "a value and its member": lambda w: [w["Level"].LIST.value, w["Level"].LIST],
}

CHANGES = {
    "a value": run("Level.LOW._value_ = 9"),
    "an equal value": run("Level.LOW._value_ = True"),
    "a value in place": run("Level.LIST.value.append(3)"),
    "a value of a number": run("Number.ONE._value_ = 7"),
    "a value of a word": run("Word.YES._value_ = 'no'"),
    "an attribute of a member": run("Level.LOW.mark = 1"),
    "the name of a member": run("Level.LOW._name_ = 'OTHER'"),
    "an alias": run("Level._member_map_['MORE'] = Level.LOW"),
    "a member less": run("del Level._member_map_['HIGH']"),
    "order of members": run("m = Level._member_map_; m['LOW'] = m.pop('LOW')"),
    "a member of another class": run("Level._member_map_['LOW'] = Number.ONE"),
    "no members": run("Level._member_map_ = None"),
    "a method": run("Level.scaled = plain"),
    "code of a method": run("Level.scaled.__code__ = plain.__code__"),
    "a method that is added": run("Level.more = plain"),
    "what a method names": run("SCALE = 4"),
    "code of a classmethod": run("Level.first.__func__.__code__ = plain.__code__"),
    "code of a property": run("vars(Level)['twice'].fget.__code__ = plain.__code__"),
    "an attribute": run("type.__setattr__(Level, 'size', 2)"),
    "an attribute that is a list": run("Level._sizes_ = [1]"),
    "the docstring": run("Level.__doc__ = 'Other.'"),
    "the name": run("Level.__name__ = 'Other'"),
    "the qualified name": run("Level.__qualname__ = 'Outer.Level'"),
    "the module": run("Level.__module__ = 'elsewhere'"),
    "a reducer": run("Level.__reduce_ex__ = lambda self, _: (str, ('reduced',))"),
    "a reducer by the other name": run("Level.__reduce__ = lambda self: (int, (1,))"),
    "a way to print": run("Level.__str__ = plain"),
    "a way to make members": run("Level._missing_ = classmethod(lambda cls, v: None)"),
    "a way to make values": run("Level._generate_next_value_ = plain"),
    "a member that is a global": run("TABLE['word'] = Word.YES.value"),
    "a member instead of another": run("use.__defaults__ = (Level.LOW,)"),
    "a class of the same text": run("class Level(enum.Enum): LOW = 1; PAIR = LIST = 2"),
    "nothing": lambda w: None,
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_an_enumeration_depends_on_shows_at_once(change, place):
    w = world()
    sent = [w["Level"], w["Level"].LOW, w["Number"].ONE, w["Word"].YES, w["use"]]
    assert all(map(is_taken, sent))
    for _ in range(3):
        waybill.dumps(place(w))

    demand_same_after(change, place, w)


def test_reducers_that_are_registered_show_at_once(monkeypatch):
    for kind in (lambda w: w["Level"], lambda w: enum.EnumType):
        w = world()
        assert is_taken(w["Level"].LOW)
        with monkeypatch.context() as patch:
            reduce = lambda obj: (str, ("reduced",))
            patch.setitem(copyreg.dispatch_table, kind(w), reduce)
            for obj in (w["Level"].LOW, w["Level"], w["use"]):
                assert waybill.dumps(obj) == dumps_without_caches(obj)
        assert waybill.dumps(w["use"]) == dumps_without_caches(w["use"])


#: Enumerations whose members have more than a value.
UNUSUAL = {
    "a state": """
        def __init__(self, value): self.mark = [value]
        A = 1
        """,
    "a content that is not the value": """
        def __new__(cls, value):
            member = int.__new__(cls, value)
            member._value_ = 10 * value
            return member
        A = 1
        """,
    "no members": """
        def m(self): return 1
        """,
}


@pytest.mark.parametrize("body", UNUSUAL.values(), ids=UNUSUAL)
@pytest.mark.parametrize("bases", ["enum.Enum", "int, enum.Enum", "enum.IntFlag"])
def test_unusual_enumerations_are_sent_as_without_caches(bases, body):
    if "int.__new__" in body and bases == "enum.Enum":
        bases = "int, enum.ReprEnum"
    made = define(f"import enum\nclass E({bases}):{body}\ndef f(): return [*E], E")

    for obj in (made.E, made.f, list(made.E)):
        assert {waybill.dumps(obj) for _ in range(5)} == {dumps_without_caches(obj)}


def test_members_that_are_loaded_are_those_of_this_process():
    w = world()

    for _ in range(5):
        loaded = waybill.loads(waybill.dumps([w["use"], w["Level"].LOW]))

        assert loaded[1] is w["Level"].LOW
        assert loaded[0]()[0] is w["Level"].LOW


#: What a worker does with the enumeration between payloads.
AT_THE_WORKER = {
    "nothing": "",
    "an attribute of a member": "Level.LOW.mark = 1",
    "a member less": "del Level._member_map_['LOW']; del Level._value2member_map_[1]",
    "a value": "Level.LOW._value_ = 5",
    "a method": "Level.scaled = lambda self: 'worker'",
    "code of a method": "Level.scaled.__code__ = (lambda self: 'code').__code__",
}

LOADED = """
def loaded(payload):
    use, member, other = waybill.loads(payload)
    scope["Level"] = type(member)
    members = type(member).__members__.items()
    seen = [(name, repr(one), vars(one).get("mark")) for name, one in members]
    return repr(use()), other.scaled(), seen

payloads, change = sent
answer, scope = [], {}
for number, payload in enumerate(payloads):
    try:
        answer.append(loaded(payload))
    except ValueError as error:
        answer.append(str(error))
    if number == 4: exec(change, scope)
"""


@pytest.mark.parametrize("change", AT_THE_WORKER)
def test_a_worker_has_the_enumeration_that_it_has_without_caches(change):
    w = world()
    payload = waybill.dumps([w["use"], w["Level"].HIGH, w["Level"].LOW])

    found, expected = answers_with_and_without_caches(
        LOADED, [payload] * 9, AT_THE_WORKER[change]
    )

    assert found == expected
