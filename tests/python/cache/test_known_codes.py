"""Code that is here already, sent or received, is not built again."""

import gc
import types
import weakref

import fresh_process
import pytest
import waybill
from sources import define, round_trip
from threads import run_in_threads
from waybill._core import clear_caches

#: The bounds in src/python/runtime/code_cache.h.
MAX_ENTRIES, MAX_BYTES = 1024, 16 << 20

CLOSURE = """
    def outer(n):
        def f(x=[1], *, y=2):
            return [n + i + y for i in x], (lambda: n)
        return f
    f = outer(3)
"""


def all_codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from all_codes(constant)


def without_original(source):
    """A payload of `f`, whose own code is gone."""
    function = define(source).f
    payload = waybill.dumps(function)
    watched = weakref.ref(function.__code__)
    del function
    gc.collect()
    assert watched() is None
    return payload


def test_code_that_comes_home_is_the_original():
    f = define(CLOSURE).f

    assert round_trip(f).__code__ is f.__code__
    assert round_trip((f, 1))[0].__code__ is f.__code__
    assert round_trip(f)()[0] == f()[0]


@pytest.mark.parametrize("source", [CLOSURE, "def f(): return 'bare'"])
def test_code_comes_home_alone_or_among_others(source):
    function = define(source).f

    assert round_trip(function).__code__ is function.__code__
    assert round_trip([function])[0].__code__ is function.__code__


def test_code_that_was_received_and_lives_is_shared():
    payload = without_original(CLOSURE)
    held = waybill.loads(payload)

    again = waybill.loads(payload)

    assert again.__code__ is held.__code__
    assert again is not held
    assert again.__closure__[0] is not held.__closure__[0]
    assert again.__defaults__[0] is not held.__defaults__[0]


def received(number, constant="1"):
    """A weak reference to the code of a function that came, and is gone again."""
    code = loads_new(f"lambda: ({number}, {constant})").__code__
    return weakref.ref(code)


def loads_new(source):
    return waybill.loads(waybill.dumps(eval(source, {"__name__": "nowhere"})))


def alive(references):
    return sum(reference() is not None for reference in references)


def test_received_code_is_held_until_caches_are_cleared():
    payload = without_original(CLOSURE)
    received = waybill.loads(payload)
    watched = [weakref.ref(code) for code in all_codes(received.__code__)]
    assert len(watched) > 1

    del received
    gc.collect()

    assert alive(watched) == len(watched)
    assert waybill.loads(payload).__code__ is watched[0]()
    clear_caches()
    gc.collect()
    assert alive(watched) == 0
    assert waybill.loads(payload)()[0] == [6]


@pytest.mark.parametrize("wrapped", [lambda value: value, lambda value: (value, 1)])
def test_code_is_built_once_for_tasks_that_are_dropped(wrapped):
    function = define(CLOSURE).f
    payload = waybill.dumps(wrapped(function))
    del function
    gc.collect()

    codes = set()
    for _ in range(10):
        task = waybill.loads(payload)
        codes.add(id((task if callable(task) else task[0]).__code__))
        del task

    assert len(codes) == 1


def test_code_that_is_held_is_bounded_by_number():
    watched = [received(number) for number in range(3000)]

    assert 500 < alive(watched) <= MAX_ENTRIES


@pytest.mark.once
def test_code_that_is_held_is_bounded_by_bytes():
    size = 500_000
    watched = [received(number, f"b'{number:{size}}'") for number in range(100)]

    assert MAX_BYTES // size - 2 <= alive(watched) <= MAX_BYTES // size


def test_large_code_is_not_held():
    assert received(1, f"b'{1:{MAX_BYTES // 16}}'")() is None


def test_what_happens_when_code_gives_way_may_load_and_clear():
    turns = []

    def gone(_):
        turns.append(loads_new(f"lambda: ({len(turns)}, 'gone')")()[0])
        if len(turns) % 5 == 0:
            clear_caches()

    watched = []
    for number in range(2000):
        code = loads_new(f"lambda: ({number}, 'callback')").__code__
        watched.append(weakref.ref(code, gone))
        del code
    clear_caches()

    assert len(turns) == len(watched)
    assert alive(watched) == 0


def test_code_that_this_process_sends_is_not_held_but_received_code_stays_so():
    payload = without_original(CLOSURE)
    received = waybill.loads(payload)
    watched = weakref.ref(received.__code__)
    waybill.dumps([received])

    del received
    gc.collect()

    assert watched() is not None


@pytest.mark.parametrize(
    "change",
    [
        ("def outer", "\n    def outer"),  # All stands a line lower,
        ("return [n", "return [\n                n"),  # or some of it,
        ("(lambda", "(\n                lambda"),  # or code that is nested,
        ("n + i + y", "n + i - y"),  # or it does something else.
        ("lambda: n", "lambda: -n"),
    ],
)
def test_code_that_stands_elsewhere_or_differs_is_another(change):
    first, second = define(CLOSURE).f, define(CLOSURE.replace(*change)).f
    file = first.__code__.co_filename
    second.__code__ = second.__code__.replace(co_filename=file)
    received = round_trip(first), round_trip(second)

    for sent, got in zip((first, second), received, strict=True):
        # In nested code the file name is that of the source.
        expected, found = map(list, map(all_codes, (sent.__code__, got.__code__)))
        assert [list(c.co_lines()) for c in expected] == [
            list(c.co_lines()) for c in found
        ]
        assert [c.co_code for c in expected] == [c.co_code for c in found]
        assert [c.co_filename for c in expected] == [c.co_filename for c in found]
    assert received[0].__code__ is not received[1].__code__


def test_methods_of_a_class_that_is_known_are_told_by_their_code():
    cls = define("""
        class f:
            def method(self): return 1
            @property
            def name(self): return "old"
    """).f
    received = round_trip(cls)
    payload = waybill.dumps(cls)
    assert received is cls

    cls.method = define("def method(self): return 2").method
    changed = waybill.dumps(cls)

    # At home the class has the methods that the program gave it.
    assert waybill.loads(payload)().method() == 2
    assert waybill.loads(changed)().method() == 2
    program = "answer = [waybill.loads(p)().method() for p in waybill.loads(data)]"
    sent = waybill.dumps([payload, changed, payload])
    assert fresh_process.execute(program, sent) == [1, 2, 1]


def test_a_function_whose_code_is_another_now_travels_with_that():
    f = define(CLOSURE).f
    before = waybill.dumps(f)
    other = define(CLOSURE.replace("+ y", "* y")).f
    old = f.__code__
    f.__code__ = other.__code__

    assert waybill.loads(before).__code__ is old
    assert round_trip(f).__code__ is other.__code__


def test_threads_build_and_find_the_same():
    payloads = [without_original(CLOSURE.replace("+ y", f"+ {i}")) for i in range(20)]
    expected = [waybill.loads(payload)()[0] for payload in payloads]

    def work(_):
        held = []
        for _ in range(40):
            got = [waybill.loads(payload) for payload in payloads]
            held = [got, *held[:1]]
            assert [f()[0] for f in got] == expected

    assert run_in_threads(work) == []


def test_equal_codes_of_one_payload_give_the_same_bytes_when_they_are_sent_on():
    def make():
        scope = {"__name__": "nowhere"}
        exec(compile("def f(a):\n    return a + 1\n", "<s>", "exec"), scope)
        return scope["f"]

    sent = [make(), make()]
    assert sent[0].__code__ is not sent[1].__code__
    payload = waybill.dumps(sent)

    received = waybill.loads(payload)

    assert waybill.dumps(received) == payload
    assert received[0] is not received[1]


def test_classes_whose_generated_methods_are_equal_are_sent_on_as_they_came():
    source = """
        import dataclasses
        @dataclasses.dataclass
        class A:
            x: int
        @dataclasses.dataclass
        class B:
            x: int
    """
    scope = define(source)
    payload = waybill.dumps([scope.A, scope.B])
    del scope
    gc.collect()

    received = waybill.loads(payload)

    assert waybill.dumps(received) == payload
    assert received[0] is not received[1]


def test_code_stays_one_within_a_payload_that_holds_much_other_code():
    function = define(CLOSURE).f
    others = [define(f"def f(): return {number}").f for number in range(6000)]
    payload = waybill.dumps([function.__code__, others, function])

    code, _, again = waybill.loads(payload)

    assert again.__code__ is code
