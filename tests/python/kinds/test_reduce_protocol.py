"""What __reduce_ex__, copyreg and __getstate__ give is done as pickle does it."""

import contextlib
import copyreg
import dataclasses
import functools
import io
import itertools
import pickle
import threading
import types
import typing
import weakref

import fresh_process
import pytest
import waybill
from sources import define, imported, round_trip

# ---- The protocol


class Node:
    def __init__(self, name):
        self.name = name


class Recorder:
    def __init__(self, *args, **kwargs):
        self.made = (args, kwargs)

    def append(self, item):
        self.__dict__.setdefault("appended", []).append(item)

    def __setitem__(self, key, value):
        self.__dict__.setdefault("set", []).append((key, value))


class Reducing(Recorder):
    """Its __reduce_ex__ gives what a test says."""

    answer = None

    def __reduce_ex__(self, protocol):
        return type(self).answer


def reduced(answer):
    Reducing.answer = answer
    return round_trip(Reducing())


def rebuild(*args):
    return Recorder(*args)


def set_state(target, state):
    target.by_setter = state


MADE = {"made": ((), {})}
#: What a reducer gives, and the dict of what is made by it.
ANSWERS = {
    "two parts are a call with arguments": (
        (rebuild, (1, [2])),
        {"made": ((1, [2]), {})},
    ),
    "state updates the dict": ((rebuild, (), {"a": 1}), {**MADE, "a": 1}),
    "state pair sets slots too": (
        (rebuild, (), ({"a": 1}, {"b": 2})),
        {**MADE, "a": 1, "b": 2},
    ),
    "items are appended": (
        (rebuild, (), None, iter([1, [2]])),
        {**MADE, "appended": [1, [2]]},
    ),
    "pairs are set": (
        (rebuild, (), None, None, iter([("k", 1), ("l", [2])])),
        {**MADE, "set": [("k", 1), ("l", [2])]},
    ),
    "state setter replaces setstate": (
        (rebuild, (), {"a": 1}, None, None, set_state),
        {**MADE, "by_setter": {"a": 1}},
    ),
    "newobj calls new only": ((copyreg.__newobj__, (Reducing,), {"a": 1}), {"a": 1}),
}


@pytest.mark.parametrize("answer, expected", ANSWERS.values(), ids=ANSWERS)
def test_answer_of_a_reducer_is_followed(answer, expected):
    assert vars(reduced(answer)) == expected


def test_newobj_ex_passes_keywords():
    source = """
    class Made:
        def __new__(cls, *args, **kwargs):
            self = super().__new__(cls)
            self.given = (args, kwargs)
            return self
        def __getnewargs_ex__(self): return (1, [2]), {"k": 3}
        def __getstate__(self): return None
    """
    sent = define(source).Made()

    assert fresh_process.send(sent, "value.given") == ((1, [2]), {"k": 3})


class Singleton:
    def __reduce__(self):
        return "THE_ONE"


THE_ONE = Singleton()


def test_object_that_names_itself_as_a_global_is_the_same_object():
    assert round_trip([THE_ONE])[0] is THE_ONE


def test_object_that_names_itself_with_dots_is_the_same_object():
    class Holder:
        class Kind:
            def __reduce__(self):
                return "Holder.one"

    Holder.one = Holder.Kind()
    Holder.Kind.__module__ = "module_with_holder"
    with imported("module_with_holder", Holder=Holder):
        assert round_trip(Holder.one) is Holder.one


class Homeless:
    """Like torch's quantization schemes, it knows its name but not its module."""

    __module__ = None

    def __reduce__(self):
        return "the_homeless"


def test_object_that_knows_no_module_is_found_where_its_type_is():
    one = Homeless()
    with (
        imported("module_of_it", the_homeless=one),
        imported("a_copy", the_homeless=one),
    ):
        Homeless.__module__ = "module_of_it"
        one.__module__ = None
        try:
            assert b"module_of_it" in waybill.dumps(one)
        finally:
            Homeless.__module__ = None


def test_object_that_knows_no_module_is_found_in_the_module_that_sorts_first():
    one = Homeless()
    for names in ("z_one", "b_one", "k_one"), ("b_one", "k_one", "z_one"):
        with contextlib.ExitStack() as stack:
            for name in names:
                stack.enter_context(imported(name, the_homeless=one))
            payload = waybill.dumps(one)
            assert b"b_one" in payload
            assert waybill.loads(payload) is one


def test_other_modules_have_no_say_in_where_an_object_is_found():
    class Raising:
        def __getattr__(self, name):
            raise RuntimeError(name)

    class Dotted:
        def __reduce__(self):
            return "a.b"

    one = Dotted()
    one.__module__ = None
    holder = type("Holder", (), {"b": one})
    with imported("z_module", a=holder), imported("a_module", a=Raising()):
        assert waybill.loads(waybill.dumps(one)) is one


def test_object_that_knows_no_module_and_is_in_none_is_refused():
    with pytest.raises(waybill.EncodeError, match="returns a name that"):
        waybill.dumps(Homeless())


@pytest.mark.parametrize(
    "answer",
    ["THE_ONE", "NOBODY", None, 5, (), (rebuild,), (rebuild, [1]), (5, ()),
     (rebuild, (), 1, 2, 3, 4, 5), (rebuild, (), None, None, [5]),
     (rebuild, (), None, 5)],
    ids=["another object", "no global", "none", "a number", "nothing", "one part",
         "arguments in a list", "a number to call", "seven parts", "pairs in a list",
         "a number of items"],
)  # fmt: skip
def test_malformed_reducer_answer_is_refused(answer):
    with pytest.raises(waybill.EncodeError):
        reduced(answer)


class HasState:
    def __init__(self, state):
        self.state = state

    def __getstate__(self):
        return self.state

    def __setstate__(self, state):
        self.received = state


@pytest.mark.parametrize("state", [{"a": 1}, (1, 2), [1], "text", 5, ({}, {}), True])
def test_setstate_receives_what_getstate_gave(state):
    assert round_trip(HasState(state)).received == state


@pytest.mark.parametrize("state", [{}, 0, "", False, ()], ids=repr)
def test_false_state_is_handled_as_pickle_does(state):
    sent = HasState(state)

    expected = vars(pickle.loads(pickle.dumps(sent, 4)))
    assert vars(round_trip(sent)) == expected


def test_state_none_is_no_state():
    assert not hasattr(round_trip(HasState(None)), "received")


class Items(list):
    pass


class Mapping(dict):
    pass


class Text(str):
    __slots__ = ("mark",)


class Number(int):
    pass


class Triple(tuple):
    pass


class Bag(set):
    pass


@pytest.mark.parametrize(
    "sent",
    [
        Items([1, [2]]),
        Mapping(a=[1]),
        Text("x"),
        Number(2**70),
        Triple([1, []]),
        Bag([1]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_subclass_of_a_builtin_arrives(sent):
    arrived = round_trip(sent)

    assert type(arrived) is type(sent)
    assert arrived == sent


def test_subclass_of_a_builtin_keeps_attributes():
    sent = Items([1])
    sent.name = "n"

    assert round_trip(sent).name == "n"


def test_list_subclass_that_holds_itself():
    sent = Items()
    sent.append(sent)

    arrived = round_trip(sent)

    assert arrived[0] is arrived


def test_instance_as_key_of_its_own_dict():
    with_key = HasState({})
    with_key.state = {"map": {with_key: 1}}

    arrived = round_trip(with_key)

    assert arrived.received["map"][arrived] == 1


def test_object_in_a_cycle_through_its_arguments_arrives():
    holder = []
    Reducing.answer = (rebuild, (holder,))
    sent = Reducing()
    holder.append(sent)

    arrived = round_trip(sent)

    (received,), _ = arrived.made
    assert received[0] is arrived


def test_object_that_is_its_own_argument_is_refused():
    sent = Reducing()
    Reducing.answer = (rebuild, (sent,))

    with pytest.raises(waybill.EncodeError, match="needs itself to be built"):
        waybill.dumps(sent)


@contextlib.contextmanager
def registered(kind, reducer):
    copyreg.pickle(kind, reducer)
    try:
        yield
    finally:
        del copyreg.dispatch_table[kind]


def test_copyreg_reducer_is_asked():
    class Local:
        pass

    with registered(Local, lambda obj: (rebuild, ("by copyreg",))):
        arrived = round_trip(Local())

    assert arrived.made == (("by copyreg",), {})


def use_cell():
    cell = object()
    return (lambda: cell).__closure__[0]


@pytest.mark.parametrize(
    "value",
    [
        KeyError("secret"),
        slice(1, 2),
        range(3),
        use_cell(),
        use_cell.__code__,
        property(len),
        classmethod(len),
        functools.partial(print, "secret"),
        functools.lru_cache(use_cell),
        types.MethodType(print, "secret"),
        types.MappingProxyType({1: 2}),
        {1: 2}.keys(),
        memoryview(b"secret"),
        types.ModuleType("secret"),
        typing.TypeVar("Secret"),
        dataclasses.MISSING,
        itertools.count(3),
        io.StringIO("secret"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_copyreg_reducer_comes_before_that_of_waybill(value):
    def redact(obj):
        return rebuild, ("redacted",)

    with registered(type(value), redact):
        (arrived,) = round_trip([value])

    assert arrived.made == (("redacted",), {})


def test_copyreg_reducer_of_an_exception_class_keeps_what_cannot_travel_at_home():
    class LostError(Exception):
        def __init__(self, text, lock):
            super().__init__(text)
            self.lock = lock

    def without_lock(error):
        return LostError, (error.args[0], None)

    with registered(LostError, without_lock):
        arrived = round_trip(LostError("gone", threading.Lock()))

    assert (arrived.args, arrived.lock) == (("gone",), None)


def test_exceptions_that_tblib_registered_travel_as_without_it():
    class LostError(Exception):
        def __init__(self, one, two):
            super().__init__(f"{one} {two}")

    def pickle_exception(error):
        return type(error), error.args

    pickle_exception.__module__ = "tblib.pickling_support"
    with registered(LostError, pickle_exception):
        arrived = round_trip(LostError(1, 2))

    assert arrived.args == ("1 2",)


def test_copyreg_reducer_of_a_metaclass_comes_before_the_name_of_the_class():
    class Meta(type):
        pass

    with imported("made_with_metaclass") as module:
        module.Made = Meta("Made", (), {"__module__": "made_with_metaclass"})
        with registered(Meta, lambda cls: (rebuild, (cls.__name__,))):
            arrived = round_trip(module.Made)

    assert arrived.made == (("Made",), {})


def test_copyreg_reducer_registered_after_a_dumps_is_asked():
    sent = Node("a")
    waybill.dumps(sent)
    with registered(Node, lambda obj: (rebuild, ("late",))):
        arrived = round_trip(sent)

    assert arrived.made == (("late",), {})


@pytest.mark.parametrize(
    "value",
    [weakref.ref(Node), iter(()).__iter__ and (i for i in ()), open],
    ids=lambda value: type(value).__name__,
)
def test_nothing_is_half_sent(value):
    try:
        data = waybill.dumps(value)
    except waybill.EncodeError:
        return

    assert type(waybill.loads(data)) is type(value)
