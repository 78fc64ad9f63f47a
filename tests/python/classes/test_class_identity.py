"""A class that travels by value stays one class: in each payload, and at home."""

import fresh_process
import pytest
import waybill
from sources import define


def round_trip(value):
    return waybill.loads(waybill.dumps(value))


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


def test_class_is_kept_until_it_is_forgotten_with_its_last_instance():
    cls = define(OWN).value
    data = waybill.dumps(cls)
    program = """
import gc, weakref
seen = weakref.ref(load(0))
gc.collect()
answer = seen() is not None
waybill.forget_classes()
gc.collect()
answer = answer, seen() is None
"""

    assert receive([data], program) == (True, True)


def test_class_that_threads_load_at_once_is_one():
    program = """
import gc, threading
sys.setswitchinterval(1e-6)
answer = 0
for _ in range(200):
    start, loaded = threading.Barrier(4), []
    def run():
        start.wait()
        loaded.append(load(0))
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    answer = max(answer, len(set(map(id, loaded))))
    loaded.clear()
    gc.collect()
"""

    assert receive([waybill.dumps(define(OWN).value)], program) == 1


def test_class_that_one_thread_fails_at_is_known_when_another_completes_it():
    from waybill._identity import Tracker

    tracker, mine, yours = Tracker(), type("C", (), {}), type("C", (), {})

    assert tracker.claim(b"id", mine) == (mine, False)
    assert tracker.claim(b"id", yours) == (mine, False)
    tracker.forget(b"id")
    assert tracker.find(b"id") is None
    tracker.close(b"id", mine)

    assert tracker.find(b"id") is mine
    assert tracker.claim(b"id", yours) == (mine, True)


# ---- What a second arrival changes


def test_state_of_a_class_is_kept_when_it_arrives_again():
    payloads = send_in_turn(OWN, "C.count = 0")

    assert receive(payloads, "load(0).count = 5; answer = load(1).count") == 5


def test_state_of_a_class_that_comes_home_is_kept():
    cls = define(OWN).value
    data = waybill.dumps(cls)
    cls.count = 5

    waybill.loads(data)

    assert cls.count == 5


def test_new_attribute_arrives_at_a_class_that_is_there():
    payloads = send_in_turn(OWN, "C.extra = 7")

    assert receive(payloads, "first = load(0); load(1); answer = first.extra") == 7


def test_changed_method_arrives_at_a_class_that_is_there():
    payloads = send_in_turn(OWN, "def m(self): return 2\nC.m = m")

    assert receive(payloads, "one = load(0)(); load(1); answer = one.m()") == 2


@pytest.mark.parametrize(
    "wrapper, read",
    [
        ("classmethod", "one.m()"),
        ("staticmethod", "one.m(0)"),
        ("property", "one.m"),
        ("lambda f: property(None, f).getter(f)", "one.m"),
    ],
)
def test_changed_method_of_another_kind_arrives(wrapper, read):
    source = f"class C:\n    m = ({wrapper})(lambda self: 1)\nvalue = C"
    payloads = send_in_turn(source, f"C.m = ({wrapper})(lambda self: 2)")

    assert receive(payloads, f"one = load(0)(); load(1); answer = {read}") == 2


def test_removed_attribute_is_gone_from_a_class_that_is_there():
    payloads = send_in_turn(OWN, "del C.count")
    program = "one = load(0); load(1); answer = hasattr(one, 'count')"

    assert receive(payloads, program) is False


def test_reset_classes_sets_the_state_anew():
    payloads = send_in_turn(OWN, "C.count = 0")
    program = """
cls = load(0)
cls.count = 5
answer = load(1, reset_classes=True) is cls, cls.count
"""

    assert receive(payloads, program) == (True, 0)


# ---- Twins


def test_twins_stay_two_in_one_payload():
    one, other = define(OWN).value, define(OWN).value

    first, second = round_trip([one, other])

    assert (first, second) == (one, other)


def test_twins_stay_two_in_another_process():
    twins = [define(OWN).value, define(OWN).value]

    assert fresh_process.send(twins, "value[0] is not value[1]")


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


def test_registry_of_subclasses_in_the_base_arrives():
    source = """
    class Base:
        known = {}
        def __init_subclass__(cls): Base.known[cls.__name__] = cls
    class A(Base): pass
    class B(A): pass
    value = A
    """

    program = "sorted(value.known), value.known['A'] is value, value.__base__.__name__"

    assert fresh_process.send(define(source).value, program) == (
        ["A", "B"],
        True,
        "Base",
    )


def test_init_subclass_with_keywords_does_not_run_again():
    source = """
    class Base:
        log = []
        def __init_subclass__(cls, *, kind, **more):
            super().__init_subclass__(**more)
            cls.kind = kind
            Base.log.append(kind)
    class A(Base, kind="a"): pass
    value = A
    """

    assert fresh_process.send(define(source).value, "value.kind, value.log") == (
        "a",
        ["a"],
    )


def test_init_subclass_with_keywords_runs_for_new_classes_there():
    source = """
    class Base:
        def __init_subclass__(cls, *, kind): cls.kind = kind
    class A(Base, kind="a"): pass
    value = A
    """
    program = "type('B', (value,), {}, kind='b').kind"

    assert fresh_process.send(define(source).value, program) == "b"


def test_classes_that_hold_each_other_arrive():
    source = """
    class A: pass
    class B(A):
        def __eq__(self, other): return type(other) is B
        def __hash__(self): return 1
    A.b, A.one, B.a = B, B(), A
    value = A
    """

    program = "value.b.a is value, type(value.one) is value.b, value.one == value.b()"

    assert fresh_process.send(define(source).value, program) == (True, True, True)


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


def test_typed_dict_by_value_keeps_what_is_required():
    source = """
    from typing import TypedDict
    class Base(TypedDict): a: int
    class D(Base, total=False): b: str
    value = D
    """
    program = """[sorted(value.__required_keys__), sorted(value.__optional_keys__),
        value.__total__, value(a=1)]"""

    assert fresh_process.send(define(source).value, program) == [
        ["a"],
        ["b"],
        False,
        {"a": 1},
    ]


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
