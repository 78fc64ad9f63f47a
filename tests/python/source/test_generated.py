"""What dataclasses and named tuples write is written again, and proven that way."""

import collections
import copy
import dataclasses
import sys
import types
import typing
from dataclasses import InitVar, dataclass, field

import pytest
import source_package
from waybill._source.class_attributes import ATTRIBUTES_TO_DROP
from waybill._source.compiling import compile_unit
from waybill._source.dataclass_parts import set_state
from waybill._source.generated import finish_generated, functions_of, is_placeholder
from waybill._source.proving import prove
from waybill._source.units import GENERATED, Unit, UnitError


def plain():
    @dataclass(order=True)
    class Plain:
        x: int
        y: list = field(default_factory=list, repr=False)
        z: typing.ClassVar[int] = 3
        w: InitVar[int] = 4
        q: int = field(default=5, init=False, compare=False)

        def __post_init__(self, w):
            self.sum = self.x + w

    return Plain


def frozen():
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Frozen:
        a: int
        b: str = "b"
        c: int = field(default=7, init=False, hash=False)

    return Frozen


def derived():
    @dataclass(frozen=True)
    class Base:
        i: int
        j: int = 1

    @dataclass(frozen=True)
    class Derived(Base):
        j: int = 2
        k: dict = field(default_factory=dict, kw_only=True, compare=False)

    return Derived


def odd():
    @dataclass(unsafe_hash=True, slots=True, weakref_slot=True)
    class Odd:
        self: int
        _: dataclasses.KW_ONLY
        __private: int = 1

    return Odd


def empty():
    return dataclass(type("Empty", (), {}))


def own_methods():
    @dataclass(eq=False)
    class Own:
        a: int = 0

        def __repr__(self):
            return "own"

    return Own


def renamed():
    return collections.namedtuple("Renamed", "x y class", rename=True, defaults=[3])


class Typed(typing.NamedTuple):
    a: int
    b: str = "q"

    def method(self):
        return self.a


def typed():
    return type("Typed", (tuple,), dict(vars(Typed)))


MAKERS = [plain, frozen, derived, odd, empty, own_methods, renamed, typed]


def functions(cls):
    return [(name, f) for name, v in list(vars(cls).items()) for f in functions_of(v)]


def send(cls):
    """Puts placeholders where a payload has units of generated code."""
    for name, function in functions(cls):
        unit = prove(function.__code__, cls)
        assert isinstance(unit, Unit), unit
        if unit.kind == GENERATED:
            code = compile_unit(unit, "<string>", 1)
            made = types.FunctionType(
                code, {}, function.__name__, function.__defaults__
            )
            made.__kwdefaults__ = function.__kwdefaults__
            made.__annotations__ = dict(function.__annotations__)
            made.__qualname__, made.__module__ = (
                function.__qualname__,
                function.__module__,
            )
            value = vars(cls)[name]
            if type(value) is staticmethod:
                type.__setattr__(cls, name, staticmethod(made))
            elif value is function:
                type.__setattr__(cls, name, made)
            else:
                value.__wrapped__ = made
    return cls


@pytest.fixture
def received(request):
    def receive(maker):
        cls = send(maker())
        finish_generated(cls)
        return cls

    return receive


@pytest.mark.parametrize("maker", MAKERS)
def test_all_methods_have_units_and_none_stays_a_placeholder(maker, received):
    cls = received(maker)

    assert not any(is_placeholder(f.__code__) for _, f in functions(cls))


@pytest.mark.parametrize("maker", MAKERS)
def test_methods_are_those_that_this_python_writes(maker, received):
    there, here = received(maker), maker()

    assert sorted(vars(there)) == sorted(vars(here))
    pairs = zip(*(sorted(functions(c), key=lambda p: p[0]) for c in (there, here)))
    for (_, other), (_, function) in pairs:
        assert other.__code__.co_code == function.__code__.co_code
        assert other.__defaults__ == function.__defaults__
        assert other.__kwdefaults__ == function.__kwdefaults__
        assert other.__qualname__ == function.__qualname__
        assert other.__module__ == function.__module__


def test_placeholder_that_is_called_says_what_it_is():
    cls = send(plain())

    with pytest.raises(
        TypeError, match="__init__: a library of another Python generated it"
    ):
        cls(1)


def test_received_dataclass_behaves_as_its_own(received):
    cls = received(plain)

    made = cls(1)

    assert (made.sum, made.q, made.y) == (5, 5, [])
    assert made.y is not cls(1).y
    assert repr(made).endswith("Plain(x=1, q=5)")
    assert made == cls(1) and made < cls(2)
    annotations = cls.__init__.__annotations__
    assert list(annotations) == ["x", "y", "w", "return"]
    assert annotations["x"] is int


def test_received_frozen_dataclass_is_frozen(received):
    for cls, made in ((c := received(frozen), c(a=1)), (c := received(derived), c(1))):
        for name in dataclasses.fields(cls)[0].name, "other":
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(made, name, 3)
        assert hash(made) == hash(copy.copy(made))


def test_received_named_tuples_are_made(received):
    assert received(renamed)(1, 2) == (1, 2, 3)
    assert received(typed)(1).method() == 1


@pytest.mark.skipif(sys.version_info < (3, 13), reason="new in 3.13")
@pytest.mark.parametrize("maker", [plain, derived, renamed])
def test_class_of_an_older_version_gets_what_is_new_here(maker):
    cls = maker()
    type.__delattr__(cls, "__replace__")

    finish_generated(cls)

    assert "__replace__" in vars(cls)


def test_class_that_is_neither_is_left_alone():
    cls = type("Plain", (), {"a": 1})

    finish_generated(cls)

    assert "__replace__" not in vars(cls)


def test_code_that_the_library_does_not_write_has_no_unit():
    cls = plain()
    changed = cls.__init__.__code__.replace(co_stacksize=99)

    assert isinstance(prove(changed, cls), str)
    assert isinstance(prove(cls.__init__.__code__, frozen()), str)
    assert isinstance(prove(cls.__init__.__code__), str)
    assert isinstance(prove(cls.__init__.__code__, dict), str)


def test_fields_that_changed_since_give_no_unit():
    cls = plain()
    code = cls.__init__.__code__
    assert isinstance(prove(code, cls), Unit)

    del cls.__dataclass_fields__["q"], cls.__dataclass_fields__["y"]

    assert isinstance(prove(code, cls), str)


def test_proof_calls_nothing_of_the_class():
    class Default:
        def __set_name__(self, owner, name):
            assert owner.__name__ == "Watched"

    class Meta(type):
        made = []

        def __new__(mcs, *args):
            Meta.made.append(args)
            return super().__new__(mcs, *args)

    @dataclass
    class Watched(metaclass=Meta):
        a: object = Default()

    assert isinstance(prove(Watched.__init__.__code__, Watched), Unit)
    assert len(Meta.made) == 1


@pytest.mark.parametrize(
    "changes", [{"text": "def f(): pass"}, {"name": "a b"}], ids=str
)
def test_placeholder_has_nothing_of_the_payload_in_it(changes):
    unit = prove(plain().__init__.__code__, plain())

    with pytest.raises(UnitError):
        compile_unit(unit._replace(**changes), "f", 1)


@pytest.mark.parametrize("maker", [plain, frozen, derived, odd, empty])
def test_state_of_what_dataclasses_keep_is_set_as_it_was(maker):
    cls = maker()

    for one in (cls.__dataclass_params__, *cls.__dataclass_fields__.values()):
        made = object.__new__(type(one))
        told = {name: getattr(one, name) for name in type(one).__slots__}
        assert set_state(made, (None, {**told, "later": 1}))
        assert repr(made) == repr(one)


def test_state_that_another_version_does_not_keep_is_what_it_is_by_default():
    params = plain().__dataclass_params__
    made = object.__new__(type(params))
    kept = "init", "repr", "eq", "order", "unsafe_hash", "frozen"

    assert set_state(made, (None, {name: getattr(params, name) for name in kept}))
    assert repr(made) == repr(params)


@pytest.mark.parametrize(
    "other", [object(), 1, plain()(1)], ids=["object", "1", "data"]
)
def test_state_of_other_objects_is_not_its_business(other):
    assert not set_state(other, (None, {"name": 1}))


def test_attributes_of_one_minor_version_are_dropped_between_two():
    own = set(vars(type("C", (), {}))) | set(vars(Typed))

    assert "__init__" not in ATTRIBUTES_TO_DROP
    if sys.version_info >= (3, 13):
        assert own & ATTRIBUTES_TO_DROP


def test_methods_of_attrs_are_proven_by_what_it_puts_into_linecache():
    attrs = pytest.importorskip("attrs")

    @attrs.define(order=True)
    class Point:
        x: int
        y: list = attrs.field(factory=list, validator=lambda *_: None)

    @attrs.frozen
    class Frozen:
        a: int = attrs.field(converter=int)

    for cls in (Point, Frozen):
        for name, function in functions(cls):
            assert isinstance(prove(function.__code__, cls), Unit), name
