"""What looks as if it were known, and is not, is read in full each time.

See test_known_classes.py for what is known.
"""

import gc
import sys
import types
import weakref

import pytest
import waybill
from known_scope import SOURCE, load_uncached, seen, warm
from sources import define, imported

pytestmark = pytest.mark.usefixtures("modules")


@pytest.fixture
def scope():
    return define(SOURCE)


def same_each_time(value, times=5):
    """What it arrives as, which must be the same each time, and the long way."""
    payload = waybill.dumps(value)
    held = [waybill.loads(payload) for _ in range(times)]
    described = [seen(arrived) for arrived in [*held, load_uncached(payload)]]
    assert all(each == described[0] for each in described)
    return held[-1]


@pytest.mark.parametrize(
    "source",
    [
        "class Held: flag = 1\ndef f(): return Held.flag",
        "class Held: flag = 1\nHeld = {'a': Held}\ndef f(): return Held['a'].flag",
        "def held(): return 1\ndef f(): return held()",
        "import enum\nclass Held(enum.Enum): A = 1\ndef f(): return Held.A.value",
        "class Held: flag = 1\ndef g(): return Held.flag\ndef f(): return g()",
    ],
)
def test_a_function_that_holds_more_than_modules_is_that_function(source):
    scope = define(source)

    assert same_each_time((scope.f, 3))[0]() == 1
    assert same_each_time(scope.f)() == 1


def test_globals_that_are_called_for_are_called_for_each_time():
    with imported("settings", LIMIT=1) as settings:

        class Proxy:
            def __reduce__(self):
                return getattr, (settings, "LIMIT")

        scope = define("def f(): return LIMIT", LIMIT=Proxy())
        payload = waybill.dumps((scope.f, 1))
        held = warm(payload)
        settings.LIMIT = 2

        assert waybill.loads(payload)[0]() == 2
        assert held[0]() == 1


MAKES = {
    "called": "f, ()",
    "in a list": "len, ([f],)",
    "patched": "setattr, (f, '__code__', (lambda: 'patched').__code__)",
}


@pytest.mark.parametrize("made", MAKES)
def test_what_a_payload_does_to_its_own_function_is_done_each_time(made):
    scope = define(f"""
        counter = 0
        def f():
            global counter
            counter += 1
            return counter
        class Doing:
            def __reduce__(self): return {MAKES[made]}
        value = [f, Doing()]
        shared = [f]
        value = [shared, Doing(), f]
        """)
    payload = waybill.dumps(scope.value)

    for arrived in [
        *(waybill.loads(payload) for _ in range(5)),
        load_uncached(payload),
    ]:
        expected = {"called": 2, "in a list": 1, "patched": "patched"}[made]
        assert arrived[2]() == expected


def test_a_class_that_its_instance_changes_is_compared_each_time():
    scope = define("""
        class C:
            flag = 1
            def __setstate__(self, state):
                self.seen = hasattr(C, 'flag')
                if self.seen: del C.flag
            def __getstate__(self): return {'any': 1}
        """)
    payload = waybill.dumps(scope.C())

    seen_each_time = [waybill.loads(payload).seen for _ in range(5)]

    # At home, what the instance did to its class stays done.
    assert seen_each_time == [True] + [False] * 4
    assert not load_uncached(payload).seen


def test_a_metaclass_that_answers_nothing_is_not_asked():
    scope = define("""
        class Meta(type):
            def __getattribute__(cls, name):
                if name == '__reduce_ex__' and asked is not None: raise RuntimeError
                return type.__getattribute__(cls, name)
        asked = None
        class C(metaclass=Meta):
            def m(self): return 'm'
        """)
    payload = waybill.dumps([scope.C])
    type(scope.C).__getattribute__.__globals__["asked"] = True

    assert warm(payload) == [scope.C] == load_uncached(payload)


def test_wrappers_inside_each_other_stay_as_they_are_at_home():
    scope = define("""
        class C:
            @classmethod
            @property
            def p(cls): return 'p'
        """)
    payload = waybill.dumps(scope.C)
    warm(payload)
    wrapped = vars(scope.C)["p"].__func__
    wrapped.fget.__code__ = (lambda cls: "other").__code__

    waybill.loads(payload)

    assert vars(scope.C)["p"].__func__.fget(scope.C) == "other"


def test_two_names_of_one_module_are_told_apart():
    with imported("alias_one", value=1) as one, imported("alias_two") as two:
        scope = define("def f(): return a.value, b.value", a=one, b=two)
        two.value = 2
        payload = waybill.dumps((scope.f, 1))
        sys.modules["alias_two"] = one
        held = warm(payload)
        sys.modules["alias_two"] = two

        assert waybill.loads(payload)[0]() == (1, 2)
        assert held[0]() == (1, 1)


def test_code_that_is_sent_beside_its_function_is_that_of_the_function(scope):
    payload = waybill.dumps((scope.f, scope.f.__code__))
    warm(payload)

    function, code = waybill.loads(payload)

    assert function.__code__ is code


def test_builtins_are_those_of_now(scope, monkeypatch):
    payload = waybill.dumps((scope.f, 1))
    held = warm(payload)
    replaced = types.ModuleType("builtins")
    vars(replaced).update(vars(sys.modules["builtins"]))
    watched = weakref.ref(replaced)
    monkeypatch.setitem(sys.modules, "builtins", replaced)

    for _ in range(4):
        arrived = waybill.loads(payload)[0]
        assert arrived.__globals__["__builtins__"] is replaced
    assert held[0].__globals__["__builtins__"] is not replaced
    monkeypatch.undo()
    del replaced, arrived
    gc.collect()
    assert watched() is None


def test_a_failure_keeps_nothing_alive():
    with imported("failing") as failing:
        failing.fail = lambda: 1 / 0
        failing.fail.__module__, failing.fail.__qualname__ = "failing", "fail"

        class Failing:
            def __reduce__(self):
                return failing.fail, ()

        scope = define("def f(): return 'f'")
        payload = waybill.dumps((scope.f, Failing()))
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                waybill.loads(payload)
        code = weakref.ref(scope.f.__code__)
        del scope
        gc.collect()

        assert code() is None


def test_a_function_with_large_globals_is_not_kept():
    scope = define("TEXT = 'x' * 10_000\ndef f(): return TEXT")

    assert same_each_time(scope.f)() == scope.TEXT
    assert same_each_time((scope.f, 1))[0]() == scope.TEXT
