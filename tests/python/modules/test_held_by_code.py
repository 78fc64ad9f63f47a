"""What functions and classes of a module by value hold, and no import would find."""

import sys
import textwrap
import threading
import types

import fresh_process
import pytest
import waybill


@pytest.fixture
def made(monkeypatch):
    """Answers the payload of `value`, which a module by value of this source has."""

    def answer(source, **names):
        module = types.ModuleType("hc_made")
        monkeypatch.setitem(sys.modules, "hc_made", module)
        vars(module).update(names)
        exec(textwrap.dedent(source), vars(module))
        return waybill.dumps(module.value, by_value=[module])

    return answer


LOCK_IN_A_CLOSURE = """
    import threading
    def counter():
        lock = threading.Lock()
        def value():
            with lock:
                return 1
        value.lock = lock
        return value
    value = counter()
    """

LOCK_OF_AN_OBJECT = """
    import threading
    class Cache:
        def __init__(self):
            self.mutex = threading.Lock()
            self.again = threading.RLock()
    cache = Cache()
    def value(): return cache.mutex.acquire(False), cache.again.acquire(False)
    """


def test_free_lock_in_a_closure_begins_anew(made):
    data = made(LOCK_IN_A_CLOSURE)

    assert fresh_process.load(data, "(value(), value.lock.locked())") == (1, False)


def test_lock_in_a_closure_that_somebody_holds_is_refused(made):
    with pytest.raises(waybill.EncodeError) as caught:
        made(LOCK_IN_A_CLOSURE + "value.lock.acquire()")

    assert caught.value.path == "value.__closure__[0].cell_contents"
    assert caught.value.type == "_thread.lock"


def test_free_lock_of_an_object_that_code_refers_to_begins_anew(made):
    data = made(LOCK_OF_AN_OBJECT)

    assert fresh_process.load(data, "value()") == (True, True)


def test_free_lock_of_an_object_that_is_sent_itself_is_refused(made):
    with pytest.raises(waybill.EncodeError) as caught:
        made(LOCK_OF_AN_OBJECT + "value = cache")

    assert f"{caught.value.path} ({caught.value.type})".endswith("mutex (_thread.lock)")


def test_free_lock_that_only_code_of_others_holds_is_refused(made):
    lock = threading.Lock()

    with pytest.raises(
        waybill.EncodeError, match=r"__closure__\[0\]\.cell_contents \(_thread"
    ):
        made("value = other", other=lambda: lock)


# ---- Objects that are met before their class can make them

FIELDS_ASKED_OF_THE_CLASS = """
    import dataclasses
    def helper(): return FIRST
    @dataclasses.dataclass(frozen=True, slots=True)
    class value:
        x: int
        def first(self): return helper()
    FIRST = value(1)
    """

KEPT_BY_ITS_CLASS = """
    class Symbol(int):
        known = {}
        def __new__(cls, name, number):
            if name not in cls.known:
                made = cls.known[name] = int.__new__(cls, number)
                made.name = name
            return cls.known[name]
        def __reduce__(self): return Symbol, (self.name, int(self))
    ONE = Symbol("one", 1)
    def value():
        return ONE, ONE.name, ONE is Symbol.known["one"], ONE is Symbol("one", 1)
    """

CHECKED_BY_TYPES = """
    KINDS = (int, bool)
    def helper(): return ONE
    class Number:
        def __new__(cls, x):
            assert isinstance(x, KINDS)
            return object.__new__(cls)
        def __init__(self, x): self.x = x
        def __getnewargs__(self): return (self.x,)
        def __getstate__(self): return vars(self)
        def one(self): return helper()
    ONE = Number(1)
    def value(): return Number(2).one().x
    """

TOLD_BY_A_CLASS = """
    class Finder:
        def __call__(self, cls): return cls.__dict__["dispatch"].events
    class Events:
        def __init__(self, cls): self.cls = cls
        def __reduce__(self): return Finder(), (self.cls,)
    class Dispatch:
        def __init__(self, cls): self.events = Events(cls)
    class value: pass
    value.dispatch = Dispatch(value)
    value.nobody = Dispatch(None)
    """

ALIAS_OF_AN_OPEN_CLASS = """
    from typing import Generic, TypeVar
    T = TypeVar("T")
    class Hooked(Generic[T]):
        def __init_subclass__(cls, *, word="none"):
            super().__init_subclass__()
            cls.word = word
    class value(Hooked[T], word="said"):
        def alias(self): return ALIAS
    ALIAS = value[int]
    """


@pytest.mark.parametrize(
    ("source", "program", "answer"),
    [
        (FIELDS_ASKED_OF_THE_CLASS, "value(2).first()", "value(x=1)"),
        (KEPT_BY_ITS_CLASS, "value()", "(1, 'one', True, True)"),
        (CHECKED_BY_TYPES, "value()", "1"),
        (TOLD_BY_A_CLASS, "value.dispatch.events.cls is value", "True"),
        (TOLD_BY_A_CLASS, "value.nobody.events.cls", "None"),
        (ALIAS_OF_AN_OPEN_CLASS, "value().alias() == value[int]", "True"),
        (ALIAS_OF_AN_OPEN_CLASS, "value.word", "'said'"),
    ],
)
def test_object_that_its_class_cannot_make_yet_arrives(made, source, program, answer):
    assert fresh_process.load(made(source), f"repr({program})") == answer


SLOTS_BEHIND_A_HOOK = """
    from typing import Generic, TypeVar
    T = TypeVar("T")
    class Base(Generic[T]):
        __slots__ = ("ref",)
        def __init_subclass__(cls, *, word="none"): super().__init_subclass__()
    class Middle(Base[T], word="said"):
        __slots__ = ("more",)
    class value(Middle[T]):
        __slots__ = ("__weakref__",)
    """


def test_class_with_slots_gets_no_dict_from_what_keeps_hooks_away(made):
    data = made(SLOTS_BEHIND_A_HOOK)

    places = "(value.__dictoffset__, value.__base__.__weakrefoffset__)"
    assert fresh_process.load(data, places) == (0, 0)


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="typing has it")
def test_type_variable_with_a_default_of_typing_extensions_arrives(made):
    pytest.importorskip("typing_extensions")
    data = made(
        """
        from typing_extensions import TypeVar
        T = TypeVar("T", default=int)
        def value(): return T
        """
    )

    assert fresh_process.load(data, "value().__default__ is int")
