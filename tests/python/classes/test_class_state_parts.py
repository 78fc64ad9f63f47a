"""Names, bases, enumerations and the like: who changed, which arrival and worker."""

import gc

import fresh_process
import pytest
import waybill
from class_state_matrix import (
    Row,
    by_who,
    check,
    every_who,
    every_worker,
    setting,
    whole,
)
from class_state_worker import DROP, FRESH

ENUM = """
class K(enum.Enum):
    A, B = 1, 2
    ALIAS = 1
    def twice(self): return self.value * 2
K.note = 1
"""

ROWS = {
    "attribute of an enumeration": Row(
        define=ENUM,
        **setting("K.note = {}"),
        read="K.note, [m.name for m in K], K(1) is K.A is K.ALIAS, K.B.twice()",
        expected=whole(*((n, ["A", "B"], True, 4) for n in (1, 2, 3))),
    ),
    "method of an enumeration": Row(
        define=ENUM,
        sender="K.twice = lambda self: self.value * 20",
        worker="K.twice = lambda self: self.value * 200",
        undo="K.twice = lambda self: self.value * 2",
        read="K.B.twice(), len(K), K(2) is K.B",
        expected=whole((4, 2, True), (40, 2, True), (400, 2, True)),
    ),
    "attribute of flags": Row(
        define="class K(enum.Flag): A, B = 1, 2\nK.note = 1",
        **setting("K.note = {}"),
        read="K.note, (K.A | K.B).value, K(3) is K.A | K.B",
        expected=whole((1, 3, True), (2, 3, True), (3, 3, True)),
    ),
    "default of a dataclass": Row(
        define="@dataclasses.dataclass\nclass K:\n    x: int = 1",
        **setting("K.x = {}"),
        # What its __init__ gives was fixed when it was made.
        read="K.x, K().x, K(5) == K(5), [f.name for f in dataclasses.fields(K)]",
        expected=whole(*((n, 1, True, ["x"]) for n in (1, 2, 3))),
    ),
    "attribute of a dataclass with slots": Row(
        define="@dataclasses.dataclass(slots=True)\nclass K:\n    x: int = 1\nK.y = 1",
        **setting("K.y = {}"),
        read="K.y, K().x",
        expected=whole((1, 1), (2, 1), (3, 1)),
    ),
    "attribute of a named tuple": Row(
        define="class K(typing.NamedTuple):\n    x: int = 1\nK.y = 1",
        **setting("K.y = {}"),
        read="K.y, K()._asdict()",
        expected=whole((1, {"x": 1}), (2, {"x": 1}), (3, {"x": 1})),
    ),
    "attribute of a generic class": Row(
        define="T = typing.TypeVar('T')\nclass K(typing.Generic[T]): x = 1",
        **setting("K.x = {}"),
        read="K.x, K[int]().x",
        expected=whole((1, 1), (2, 2), (3, 3)),
    ),
    "attribute of an exception": Row(
        define="class K(ValueError): x = 1",
        **setting("K.x = {}"),
        read="K.x, isinstance(K(), ValueError)",
        expected=whole((1, True), (2, True), (3, True)),
    ),
    "attribute of an abstract class": Row(
        define="class K(abc.ABC):\n    x = 1\n    @abc.abstractmethod\n"
        "    def f(self): pass",
        **setting("K.x = {}"),
        read="K.x, sorted(K.__abstractmethods__)",
        expected=whole((1, ["f"]), (2, ["f"]), (3, ["f"])),
    ),
    "registrations": Row(
        define="class K(abc.ABC): pass",
        sender="K.register(fractions.Fraction)",
        worker="K.register(decimal.Decimal)",
        undo="",  # There is no way back: the union stays.
        read="[issubclass(c, K) for c in (fractions.Fraction, decimal.Decimal)]",
        expected=by_who(
            [False, False],
            nobody=([False, False], [False, True]),
            sender=([True, False], [True, True]),
            worker=([False, True], [True, True]),
            same=([True, False], [True, False]),
            different=([True, True], [True, True]),
        ),
    ),
    "annotations": Row(
        define="class K:\n    x: 'int'",
        sender="K.__annotations__ = {'x': 'str', 'y': 'int'}",
        worker="K.__annotations__ = {'x': 'bytes', 'w': 'int'}",
        undo="K.__annotations__ = {'x': 'int'}",
        read="K.__annotations__",
        expected=whole(
            {"x": "int"}, {"x": "str", "y": "int"}, {"x": "bytes", "w": "int"}
        ),
    ),
    "doc": Row(
        define="class K: 'one'",
        **setting("K.__doc__ = '{}'", "two", "three", "one"),
        read="K.__doc__",
        expected=whole("one", "two", "three"),
    ),
    "doc that was not there": Row(
        define="class K: pass",
        **setting("K.__doc__ = {}", "'two'", "'three'", "None"),
        read="K.__doc__",
        expected=whole(None, "two", "three"),
    ),
    "name": Row(
        define="class K: pass",
        **setting("K.__name__ = '{}'", "Two", "Three", "K"),
        read="K.__name__",
        expected=whole("K", "Two", "Three"),
    ),
    "qualified name": Row(
        define="class K: pass",
        **setting("K.__qualname__ = '{}'", "Outer.Two", "Outer.Three", "K"),
        read="K.__qualname__",
        expected=whole("K", "Outer.Two", "Outer.Three"),
    ),
    "module": Row(
        define="class K: __module__ = 'start'",
        **setting("K.__module__ = '{}'", "jobs", "tasks", "start"),
        read="K.__module__, K().__module__",
        expected=whole(("start",) * 2, ("jobs",) * 2, ("tasks",) * 2),
    ),
    "bases": Row(
        define="class A: v = 1\nclass B: v = 2\nclass C: v = 3\nclass K(A): pass",
        **setting("K.__bases__ = ({},)", "B", "C", "A"),
        read="K.v, K().v, [base.__name__ for base in K.__bases__]",
        expected=whole((1, 1, ["A"]), (2, 2, ["B"]), (3, 3, ["C"])),
        sends=("A", "B", "C", "K"),
    ),
    "more bases": Row(
        define="class A: v = 1\nclass B: v = 2\nclass C: v = 3\nclass K(A): pass",
        **setting("K.__bases__ = ({})", "B, A", "C, A", "A,"),
        read="K.v, len(K.__bases__)",
        expected=whole((1, 1), (2, 2), (3, 2)),
        sends=("K", "A", "B", "C"),
    ),
    "metaclass": Row(
        define="class M(type): v = 1\nclass N(type): v = 2\nclass O(type): v = 3\n"
        "class K(metaclass=M): pass",
        **setting("K.__class__ = {}", "N", "O", "M"),
        read="K.v, type(K).__name__",
        expected=whole((1, "M"), (2, "N"), (3, "O")),
        sends=("K", "M", "N", "O"),
    ),
    "dict of slots": Row(
        define="class K: __slots__ = {'a': 'one'}",
        **setting("K.__slots__['a'] = '{}'", "two", "three", "one"),
        read="K.__slots__['a']",
        expected=whole("one", "two", "three"),
    ),
    "names of slots": Row(
        define="class K: __slots__ = ('a', 'b')",
        **setting("K.__slots__ = {}", "['b', 'a']", "5", "('a', 'b')"),
        read="K.__slots__",
        expected=whole(("a", "b"), ["b", "a"], 5),
    ),
    "names of slots that are none": Row(
        define="class K: __slots__ = ('a', 'b')",
        **setting("K.__slots__ = {}", "5", "['c']", "('a', 'b')"),
        read="K.__slots__",
        expected=whole(("a", "b"), 5, ["c"]),
    ),
    "attribute of a base": Row(
        define="class Base: x = 1\nclass K(Base): pass",
        sender="Base.x = 2",
        worker="K.__base__.x = 3",
        undo="Base.x = 1",
        read="K.x",
        expected=whole(1, 2, 3),
        sends=("K", "Base"),
    ),
    "attribute of a metaclass": Row(
        define="class Meta(type): x = 1\nclass K(metaclass=Meta): pass",
        sender="Meta.x = 2",
        worker="type(K).x = 3",
        undo="Meta.x = 1",
        read="K.x",
        expected=whole(1, 2, 3),
        sends=("K", "Meta"),
    ),
    "attribute of a class inside": Row(
        define="class K:\n    class Inner: x = 1",
        **setting("K.Inner.x = {}"),
        read="K.Inner.x",
        expected=whole(1, 2, 3),
    ),
    "dunder container": Row(
        define="class K: __registry__ = {'a': 1}",
        **setting("K.__registry__['a'] = {}"),
        read="K.__registry__",
        expected=whole({"a": 1}, {"a": 2}, {"a": 3}),
    ),
    "dunder container by key": Row(
        define="class K: __registry__ = {'a': 1}",
        sender="K.__registry__['b'] = 2",
        worker="K.__registry__ = {'w': 3}",
        undo="K.__registry__ = {'a': 1}",
        # It is whole: nothing of the worker's is left beside the sender's.
        read="K.__registry__",
        expected=whole({"a": 1}, {"a": 1, "b": 2}, {"w": 3}),
    ),
    "private name": Row(
        define="class K:\n    __x = {'a': 1}\n    def get(self): return self.__x",
        sender="K._K__x['b'] = 2",
        worker="K._K__x['w'] = 3",
        undo="del K._K__x['b']",
        read="K().get()",
        expected=by_who(
            {"a": 1},
            nobody=({"a": 1}, {"a": 1, "w": 3}),
            sender=({"a": 1, "b": 2}, {"a": 1, "b": 2, "w": 3}),
            worker=({"a": 1, "w": 3}, {"a": 1, "b": 2, "w": 3}),
            same=({"a": 1, "b": 2}, {"a": 1}),
            different=({"a": 1, "b": 2, "w": 3}, {"a": 1, "w": 3}),
        ),
    ),
    "name that is no identifier": Row(
        define="class K: pass\nsetattr(K, 'no name', 1)",
        sender="setattr(K, 'no name', 2)",
        worker="setattr(K, 'no name', 3)",
        undo="setattr(K, 'no name', 1)",
        read="getattr(K, 'no name')",
        expected=whole(1, 2, 3),
    ),
    "hash that is None": Row(
        define="class K:\n    def __hash__(self): return 1",
        **setting("K.__hash__ = {}", "None", "lambda self: 3", "lambda self: 1"),
        read="K.__hash__ and hash(K())",
        expected=whole(1, None, 3),
    ),
    "operator": Row(
        define="class K: pass",
        sender="K.__add__ = lambda self, other: 2",
        worker="K.__add__ = lambda self, other: 3",
        undo="del K.__add__",
        # Set as methods are: the interpreter's slots know of it.
        read="K() + K() if hasattr(K, '__add__') else 'none'",
        expected=whole("none", 2, 3),
    ),
    "fresh lock": Row(
        define="class K: x = threading.Lock()",
        sender="K.x.acquire(False)",
        worker="K.x.acquire(False)",
        undo="K.x.release()",
        # It is set once: then it is the worker's.
        read="K.x.locked()",
        expected=by_who(
            False,
            nobody=(False, True),
            sender=(False, True),
            worker=(True, True),
            same=(True, True),
            different=(True, True),
        ),
        options=FRESH,
    ),
    "dropped generator": Row(
        define="class K: x = (n for n in 'ab')",
        sender="K.x = (n for n in 'cd')",
        worker="K.x = 3",
        undo="K.x = (n for n in 'ab')",
        read="K.x if K.x is None or K.x == 3 else 'a generator'",
        expected=by_who(
            None,
            nobody=(None, 3),
            sender=(None, 3),
            worker=(3, 3),
            same=("a generator", "a generator"),
            different=(3, 3),
        ),
        options=DROP,
    ),
}
#: How slots are written, and what they are called in the class.
SLOTS = {"slot": ("x", "x"), "private slot": ("__x", "_K__x"), "foreign": ("é", "é")}
for kind, (written, name) in SLOTS.items():
    ROWS[kind] = Row(
        define=f"class K: __slots__ = ('{written}', 'y')\nslot = K.{name}",
        **setting(f"K.{name} = {{}}", "2", "3", "slot"),
        read=f"K.{name} if type(K.{name}) is int else "
        f"[setattr(k := K(), '{name}', 1), k.{name}]",
        expected=whole([None, 1], 2, 3),
    )
#: A forked worker shares the lock itself, and the generator: what it has there when its
#: first payload comes is not what a payload brought.
ONLY_FRESH = {"fresh lock", "dropped generator"}


@pytest.mark.parametrize("kind", ROWS)
@every_who
@every_worker
def test_a_part_of_a_class_is_what_was_changed_last(stage, kind, who, worker):
    if kind in ONLY_FRESH and worker != "fresh":
        pytest.skip("a forked worker has one already")

    check(stage, ROWS[kind], who, worker)


def test_a_slot_that_was_replaced_at_first_is_one_later(pair):
    home, worker = pair
    home.do("class K: __slots__ = ('x',)\nslot = K.x\nK.x = 5")
    worker.load(home.dumps("{'K': K}"))
    assert worker.get("K.x") == 5
    home.do("K.x = slot")

    worker.load(home.dumps("{'K': K}"))

    worker.do("k = K(); k.x = 3")
    assert worker.get("k.x, type(K.x) is types.MemberDescriptorType") == (3, True)


@pytest.mark.parametrize(
    "options", ["", ", class_state='sender'", ", reset_classes=True"]
)
def test_registrations_stay_when_home_has_none_left(options):
    scope = {"__name__": "nowhere"}
    exec("import abc\nclass K(abc.ABC): x = 1\nclass L(abc.ABC): pass", scope)
    sent = [scope["K"], scope["L"]]
    one = type("One", (), {})
    for cls in sent:
        cls.register(one)
    first = waybill.dumps(sent)
    del one
    gc.collect()
    sent[0].x = 2
    second = waybill.dumps(sent)
    program = f"""
one, other = waybill.loads(waybill.loads(data)[0])
one.register(int)
other.register(str)
waybill.loads(waybill.loads(data)[1]{options})
answer = [one.x] + [issubclass(c, k) for k in (one, other) for c in (int, str, bytes)]
one.register(bytes)
answer.append(issubclass(bytes, other))
"""

    answer = fresh_process.execute(program, waybill.dumps([first, second]))

    assert answer == [2, True, False, False, False, True, False, False]
