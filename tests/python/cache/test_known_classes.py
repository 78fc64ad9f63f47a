"""What begins as one that came before is read to the same end.

Functions and classes that are known are passed over: what is there must be what the
payload says, all the same, and what the program has changed since must be seen.
"""

import gc
import weakref

import fresh_process
import pytest
import waybill
from known_scope import SOURCE, load_uncached, seen, warm
from resealing import resealed
from sources import define
from threads import run_in_threads
from without_caches import answers_with_and_without_caches

pytestmark = pytest.mark.usefixtures("modules")


@pytest.fixture
def scope():
    return define(SOURCE)


TASKS = [
    "(f, ({0}, 'part'), {{'retries': {0}}})",
    "(f, {0})",
    "({0}, f)",
    "[f, f, {0}]",
    "(f, g, {0})",
    "(g, [f, {0}], f)",
    "C({0})",
    "[C({0}), C('more')]",
    "[C, {0}]",
    "(f, (C({0}),), {{}})",
    "(C({0}), f)",
    "(C, C.Inner, Base, {0})",
    "[C.Inner(), {0}]",
    "C([[{0}], {{'a': ({0}, b'b')}}])",
    "(lambda shared: C([shared, shared]))([{0}])",
    "(C({0}), C.__dict__['m'])",
    "(f, f.__globals__, {0})",
    "(f, C({0}).m)",
    "C(C(C({0})))",
    "(h, {0})",
    "(h, (C({0}), C.Inner()), {{'k': h}})",
    "(f, h, g, {0})",
    "[C({0}), h]",
    "Holder({0})",
    "(h, Holder({0}), C({0}))",
    "(Holder, [Holder({0}), h])",
    "(Base, h, {0}, Holder({0}).both)",
]


@pytest.mark.parametrize("task", TASKS)
def test_what_goes_on_differently_is_read_as_if_nothing_were_known(scope, task):
    values = [0, 1, 70_000, "text", None, [1, 2], 0.5, "long " * 30]
    payloads = [
        waybill.dumps(eval(task.format(repr(value)), vars(scope))) for value in values
    ]
    warm(payloads[0])
    held = [waybill.loads(payload) for payload in payloads]

    for payload, known in zip(payloads, held, strict=True):
        assert (
            seen(waybill.loads(payload)) == seen(load_uncached(payload)) == seen(known)
        )


def test_functions_have_code_of_one_that_lives_and_globals_of_their_own(scope):
    first = warm(waybill.dumps((scope.f, scope.g, 1)))

    f, g, number = waybill.loads(waybill.dumps((scope.f, scope.g, 2)))

    assert number == 2
    assert f.__code__ is first[0].__code__
    assert f.__globals__ is g.__globals__
    assert f.__globals__ is not first[0].__globals__


# ---- Classes


def test_state_of_a_class_stays(scope):
    payload = waybill.dumps(scope.C(1))
    warm(payload)
    scope.C.count = 7

    assert type(waybill.loads(payload)) is scope.C
    assert scope.C.count == 7
    warm(payload)
    assert scope.C.count == 7


def code(source):
    return eval(source).__code__


CHANGES = {
    "method replaced": lambda s: setattr(s.C, "m", lambda self: "other"),
    "code replaced": lambda s: setattr(s.C.m, "__code__", code("lambda self: 1")),
    "code of a base": lambda s: setattr(
        s.Base.inherited, "__code__", code("lambda self: 1")
    ),
    "code inside": lambda s: setattr(s.C.Inner.i, "__code__", code("lambda self: 1")),
    "code of a property": lambda s: setattr(
        s.C.p.fget, "__code__", code("lambda self: 1")
    ),
    "code of a staticmethod": lambda s: setattr(s.C.s, "__code__", code("lambda: 1")),
    "code of a classmethod": lambda s: setattr(
        s.C.c.__func__, "__code__", code("lambda cls: 1")
    ),
    "method deleted": lambda s: delattr(s.C, "m"),
    "attribute deleted": lambda s: delattr(s.C, "count"),
    "inherited one deleted": lambda s: delattr(s.Base, "inherited"),
}


def answer_of(call):
    try:
        return call()
    except (AttributeError, TypeError) as error:
        return type(error), str(error)


def seen_in(scope):
    made = scope.C(1)
    calls = [lambda: made.m(), lambda: made.inherited(), lambda: made.p]
    calls += [lambda: made.s(), lambda: made.c(), lambda: scope.C.Inner().i()]
    return [*map(answer_of, calls), answer_of(lambda: scope.C.count)]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("value", ["C", "C(1)", "(f, C, 1)", "(h, 1)", "Holder(1)"])
def test_a_class_that_has_changed_at_home_stays_so(scope, change, value):
    payload = waybill.dumps(eval(value, vars(scope)))
    warm(payload)
    before = seen_in(scope)

    CHANGES[change](scope)
    changed = seen_in(scope)
    loaded = waybill.loads(payload)

    assert seen_in(scope) == changed != before
    assert seen(loaded) == seen(load_uncached(payload))


def test_a_class_that_a_worker_registers_stays_registered():
    scope = define("""
        import abc
        class Base(abc.ABC):
            @abc.abstractmethod
            def m(self): ...
        class C(Base):
            def m(self): return 1
        """)
    program = """
payloads, = sent
answer = []
for number, payload in enumerate(payloads):
    (made,) = waybill.loads(payload)
    base = type(made).__base__
    if number == 5: base.register(int)
    answer.append((made.m(), isinstance(made, base), isinstance(1, base)))
"""
    payload = waybill.dumps([scope.C()])

    found, expected = answers_with_and_without_caches(program, [payload] * 9)

    assert found == expected == [(1, True, False)] * 5 + [(1, True, True)] * 4


def test_a_class_dies_with_its_last_instance():
    scope = define("class C:\n def m(self): return 1")
    payload = waybill.dumps(scope.C())
    held = warm(payload)
    watched = weakref.ref(type(held))
    del scope, held
    gc.collect()

    assert watched() is None
    assert waybill.loads(payload).m() == 1


def test_two_live_classes_of_equal_content_have_ids_of_their_own():
    first, second = (define("class C:\n x = 1").C for _ in range(2))
    payload, other = waybill.dumps(first), waybill.dumps(second)

    assert payload != other
    assert warm(payload) is first is load_uncached(payload)
    assert warm(other) is second is load_uncached(other)


def test_classes_derived_from_twins_are_no_twins():
    scopes = [define("class A: pass\nclass B(A): pass") for _ in range(2)]
    payloads = [waybill.dumps(scope.B) for scope in scopes]
    # The id of a class is free once the class is gone; what is derived from the other
    # twin must not take it.
    sent = waybill.dumps([*payloads, waybill.dumps([scope.A for scope in scopes])])
    program = """
*derived, bases = map(waybill.loads, waybill.loads(data))
answer = [b.__bases__[0] is a for b, a in zip(derived, bases)], bases[0] is bases[1]
"""

    assert fresh_process.execute(program, sent) == ([True, True], False)


def test_an_object_may_load_the_like_while_it_is_made():
    scope = define("""
        class C:
            def __init__(self, depth): self.depth = depth
            def __setstate__(self, state):
                import waybill
                self.depth = state['depth']
                self.inner = self.depth and waybill.loads(payloads[self.depth - 1])
        """)
    payloads = [waybill.dumps(scope.C(depth)) for depth in range(9)]
    scope.C.__setstate__.__globals__["payloads"] = payloads

    for _ in range(4):
        made, depths = waybill.loads(payloads[8]), []
        while made:
            depths.append(made.depth)
            made = made.inner
        assert depths == list(range(8, -1, -1))


# ---- Refusals


@pytest.mark.parametrize("value", ["f", "(f, (1, 'part'))", "C(['state', 1])"])
def test_any_altered_byte_is_refused(scope, value):
    payload = waybill.dumps(eval(value, vars(scope)))
    held = warm(payload)

    for at in range(len(payload)):
        spoiled = bytearray(payload)
        spoiled[at] ^= 0x11
        with pytest.raises(waybill.DecodeError):
            waybill.loads(bytes(spoiled))
        with pytest.raises(waybill.DecodeError):
            waybill.loads(payload[:at])
    with pytest.raises(waybill.DecodeError):
        waybill.loads(payload + b"x")
    assert seen(waybill.loads(payload)) == seen(held)


def test_instances_as_classes_of_instances_are_refused_however_deep(scope):
    count, size = 200_000, 9 * 200_000 + 1
    for length in 1, 2, size - 5, size - 5:
        data = waybill.dumps([scope.C, scope.C(), b"y" * length])
        waybill.loads(data)
    deep = b"\x97\xd4\x00\x0f" * count + b"\xc0" + b"\x90\x80\x80\x90\x80" * count
    at = data.rfind(b"y" * (size - 5)) - 5
    end = waybill.inspect(data)["sections"]["digest"]["offset"]

    with pytest.raises(waybill.DecodeError):
        waybill.loads(resealed(data[:at] + deep + data[at + size :], end))


def spoiled(scope):
    """A payload in which an instance has two attributes of one name."""
    instance = scope.C()
    vars(instance).update(first=1, other=2)
    data = waybill.dumps((scope.f, [instance], {"k": scope.C()}))
    end = waybill.inspect(data)["sections"]["digest"]["offset"]
    return data, resealed(data.replace(b"\xa5other", b"\xa5first"), end)


def test_errors_name_the_same_place(scope):
    sound, payload = spoiled(scope)
    errors = []

    for load in [waybill.loads, waybill.loads, load_uncached]:
        with pytest.raises(waybill.DecodeError, match="two equal keys") as caught:
            load(payload)
        errors.append(str(caught.value))
        held = warm(sound)

    assert seen(held) == seen(load_uncached(sound))
    assert len(set(errors)) == 1


@pytest.mark.parametrize("depth", [0, 300])
def test_errors_say_the_same_and_tell_the_same_path(scope, depth):
    class Failing:
        def __reduce__(self):
            return int, ("no number",)

    value = Failing()
    for _ in range(depth):
        value = scope.C(value)
    payload = waybill.dumps((scope.f, value))
    errors = []

    for load in [waybill.loads] * 4 + [load_uncached]:
        with pytest.raises(ValueError, match="no number") as caught:
            load(payload)
        errors.append((str(caught.value), *caught.value.__notes__))

    assert [len(error) for error in errors] == [2] * 5
    assert len(set(errors)) == 1


def test_threads_receive_tasks_of_one_function(scope):
    payloads = [waybill.dumps((scope.f, x)) for x in [*range(50), scope.C("state")]]
    payloads.append(waybill.dumps(scope.f))
    expected = [seen(waybill.loads(payload)) for payload in payloads]
    held = [waybill.loads(payload) for payload in payloads]

    def work(_):
        for _ in range(30):
            for payload, value in zip(payloads, expected, strict=True):
                assert seen(waybill.loads(payload)) == value

    assert run_in_threads(work) == []
    assert len(held) == len(payloads)
