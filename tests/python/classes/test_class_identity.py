"""A class that travels by value stays one class: in each payload, and at home."""

import fresh_process
import pytest
import waybill
from claims_in_text import read_claims
from sources import define, round_trip
from waybill._classes.identity import TRACKER, Tracker

_LOAD = """
parts = waybill.loads(data)
load = lambda i, **options: waybill.loads(parts[i], **options)
"""


def receive(payloads, program):
    """What `program` leaves in `answer`, where `load(i)` loads the i-th payload."""
    return fresh_process.execute(_LOAD + program, waybill.dumps(payloads))


def send_in_turn(source, *more):
    """Payloads of `value` after `source`, and after each further line of code."""
    scope = vars(define(source))
    payloads = [waybill.dumps(scope["value"])]
    for line in more:
        exec(line, scope)
        payloads.append(waybill.dumps(scope["value"]))
    return payloads


# ---- One class

OWN = """
class C:
    count = 0
    def m(self): return 1
value = C
"""


def test_class_that_comes_home_is_the_original():
    cls = define(OWN).value

    assert round_trip(cls) is cls
    assert type(round_trip(cls())) is cls


def test_class_comes_home_from_another_process():
    cls = define(OWN).value

    there_and_back = fresh_process.send(cls, "waybill.dumps(value())")

    assert type(waybill.loads(there_and_back)) is cls


def test_class_that_arrives_twice_is_one():
    scope = define(OWN)
    payloads = [waybill.dumps(scope.C()), waybill.dumps([scope.C()])]

    assert receive(payloads, "answer = type(load(0)) is type(load(1)[0])")


def test_equal_classes_of_two_processes_are_one():
    path = [fresh_process.__file__.rpartition("/")[0]]
    program = f"import sources\nanswer = waybill.dumps(sources.define({OWN!r}).value)"
    payloads = [fresh_process.execute(program, path=path) for _ in range(2)]

    assert payloads[0] == payloads[1]
    assert receive(payloads, "answer = load(0) is load(1)")


def test_class_that_one_thread_fails_at_is_known_when_another_completes_it():
    from waybill._classes.identity import Tracker

    tracker, mine, yours = Tracker(), type("C", (), {}), type("C", (), {})

    assert tracker.claim(b"id", mine) == (mine, False)
    assert tracker.claim(b"id", yours) == (mine, False)
    tracker.forget(b"id")
    assert tracker.find(b"id") is None
    tracker.close(b"id", mine)

    assert tracker.find(b"id") is mine
    assert tracker.claim(b"id", yours) == (mine, True)


# ---- Equal classes, and classes that differ in what they share


TWINS = """
def make():
    class C: pass
    return C
value = make(), make()
"""


@pytest.mark.parametrize("number", range(1, 4))
def test_equal_classes_that_two_threads_send_at_once_have_two_ids(monkeypatch, number):
    first, second = define(TWINS).value
    look_up, calls = Tracker._is_id_of_another, []

    def interrupted_look_up(self, identity, cls):
        found = look_up(self, identity, cls)
        calls.append(cls)
        if len(calls) == number:
            self.id_of(first)  # As by a thread that runs now.
        return found

    monkeypatch.setattr(Tracker, "_is_id_of_another", interrupted_look_up)
    ids = [TRACKER.id_of(second), TRACKER.id_of(first)]

    assert ids[0] != ids[1]
    assert [TRACKER.find(each) for each in ids] == [second, first]


def test_class_that_arrives_while_a_thread_sends_an_equal_one_is_that_one(monkeypatch):
    source = "__name__ = 'script'" + OWN
    payload = fresh_process.execute(source + "answer = waybill.dumps(C)")
    scope, remember, calls = {}, Tracker._remember, []
    exec(source, scope)

    def interrupted(self, obj, *given):
        calls.append(obj)
        if len(calls) == 1:
            self.id_of(scope["C"])  # As by a thread that runs now.
        return remember(self, obj, *given)

    monkeypatch.setattr(Tracker, "_remember", interrupted)
    arrived = waybill.loads(payload)

    assert len(calls) == 2
    assert arrived is scope["C"]
    assert TRACKER.is_home(arrived)
    assert waybill.loads(waybill.dumps(arrived)) is arrived


# Programs that differ only in whether two variables have one object.
SHARED = {
    "class": """
def make():
    class K: pass
    return K
a = make()
b = a if {is_shared} else make()
class C:
    def m(self): return a is b
""",
    "cell": """
def make():
    x = 0
    def add():
        nonlocal x
        x += 1
    return add, lambda: x
add, read = make()
read = read if {is_shared} else make()[1]
class C:
    def m(self):
        add()
        return read() == 1
""",
    "list": """
a = [1]
b = a if {is_shared} else [1]
def use(): return b
class C:
    def m(self): return a is use()
""",
    "default": """
a = [1]
def use(b=a if {is_shared} else [1]): return b
class C:
    items = a
    def m(self): return self.items is use()
""",
    "namespace": """
def make(names={{"x": 0, "__name__": __name__}}):
    exec("def add():\\n  global x\\n  x += 1\\ndef read(): return x", names)
    return names["add"], names["read"]
add, read = make()
read = read if {is_shared} else make({{"x": 0, "__name__": __name__}})[1]
class C:
    def m(self):
        add()
        return read() == 1
""",
}


@pytest.mark.parametrize("name", SHARED)
def test_classes_that_differ_in_what_their_functions_share_are_two(name):
    program = "__name__ = 'script'" + SHARED[name] + "answer = waybill.dumps(C)"
    payloads = [
        fresh_process.execute(program.format(is_shared=is_shared), b"")
        for is_shared in (True, False)
    ]

    found = receive(payloads, "a, b = load(0), load(1); answer = a().m(), b().m()")

    assert found == (True, False)


# ---- Bases that know their subclasses


def test_base_that_makes_its_subclass_arrives_first_or_second():
    source = """
    class Base:
        def make(self): return Child()
    class Child(Base):
        def name(self): return "child"
    value = Child, Base
    """
    value = define(source).value

    for order in (value, value[::-1], value[:1], value[1:]):
        program = "[c().make().name() for c in value]"
        assert fresh_process.send(order, program) == ["child"] * len(order)


KNOWING_EACH_OTHER = """
registry of subclasses in the base arrives
    class Base:
        known = {}
        def __init_subclass__(cls): Base.known[cls.__name__] = cls
    class A(Base): pass
    class B(A): pass
    value = A
    >>> sorted(value.known), value.known['A'] is value, value.__base__.__name__
    ["A", "B"], True, "Base"

init subclass with keywords runs for new classes there
    class Base:
        def __init_subclass__(cls, *, kind): cls.kind = kind
    class A(Base, kind="a"): pass
    value = A
    >>> type('B', (value,), {}, kind='b').kind
    "b"

classes that hold each other arrive
    class A: pass
    class B(A):
        def __eq__(self, other): return type(other) is B
        def __hash__(self): return 1
    A.b, A.one, B.a = B, B(), A
    value = A
    >>> value.b.a is value, type(value.one) is value.b, value.one == value.b()
    True, True, True

typed dict by value keeps what is required
    from typing import TypedDict
    class Base(TypedDict): a: int
    class D(Base, total=False): b: str
    value = D
    >>> [sorted(value.__required_keys__), sorted(value.__optional_keys__),
    ...         value.__total__, value(a=1)]
    [["a"], ["b"], False, {"a": 1}]
"""


@pytest.mark.parametrize(
    "source, expression, expected", read_claims(KNOWING_EACH_OTHER)
)
def test_classes_that_know_each_other_arrive(source, expression, expected):
    assert fresh_process.send(define(source).value, expression) == expected


# ---- Kinds with a way of their own


def test_members_of_an_enum_stay_singletons():
    source = """
    import enum
    class E(enum.Enum):
        A, B = 1, 2
        ALIAS = 1
        def twice(self): return self.value * 2
    value = E.A
    """
    payloads = send_in_turn(source, "value = [E.A, E.ALIAS]")
    program = "a = load(0); answer = [m is a for m in load(1)], a.twice(), len(type(a))"

    assert receive(payloads, program) == ([True, True], 2, 2)


@pytest.mark.parametrize("base", ["enum.Flag", "enum.IntFlag", "enum.IntEnum"])
def test_member_of_an_enum_comes_home(base):
    member = define(f"import enum\nclass E({base}): A = 1\nvalue = E.A").value

    assert round_trip(member) is member


def test_named_tuple_comes_home():
    source = "import typing\nclass R(typing.NamedTuple): a: int = 1\nvalue = R(2)"
    row = define(source).value

    assert type(round_trip(row)) is type(row)
    assert fresh_process.send(row, "value._asdict()") == {"a": 2}


@pytest.mark.parametrize("bases", ["", "(dict)", "(enum.Enum)", "(typing.NamedTuple)"])
def test_class_that_was_asked_for_annotations_it_has_not_is_the_same(bases):
    source = f"import enum, typing\nclass C{bases}:\n    def f(self): return 1\n"
    asked, unasked = define(source).C, define(source).C

    asked.__annotations__  # noqa: B018  # Python keeps an empty dict in the class.

    assert waybill.fingerprint(asked) == waybill.fingerprint(unasked)
    assert len(waybill.dumps(asked)) == len(waybill.dumps(unasked))
