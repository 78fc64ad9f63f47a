"""State in slots is set as the class made them, whatever its __setattr__ does."""

import dataclasses

import pytest
from sources import round_trip


class Slotted:
    __slots__ = ("__private", "a", "b")

    def set_private(self, value):
        self.__private = value
        return self

    def private(self):
        return self.__private


class SlottedChild(Slotted):
    __slots__ = ("c", "__dict__")


def test_slots_arrive():
    sent = Slotted().set_private([1])
    sent.a = 2

    arrived = round_trip(sent)

    assert (arrived.private(), arrived.a) == ([1], 2)
    assert not hasattr(arrived, "b")


def test_slots_and_dict_arrive():
    sent = SlottedChild().set_private(1)
    sent.c, sent.free = 3, 4

    arrived = round_trip(sent)

    assert (arrived.private(), arrived.c, arrived.free) == (1, 3, 4)


class Immutable:
    __slots__ = ("x", "__weakref__")

    def __init__(self, x):
        object.__setattr__(self, "x", x)

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} cannot be set")


@dataclasses.dataclass(frozen=True)
class FrozenWithSlots(Immutable):
    y: int

    def __init__(self, x, y):
        super().__init__(x)
        object.__setattr__(self, "y", y)


class ImmutableError(Exception):
    __slots__ = ("code",)
    __setattr__ = Immutable.__setattr__

    def __init__(self, code):
        super().__init__(code)
        object.__setattr__(self, "code", code)


class ImmutableText(str):
    __slots__ = ("x",)
    __setattr__ = Immutable.__setattr__


def test_slots_of_a_class_that_cannot_be_set_arrive():
    assert round_trip(Immutable([1])).x == [1]


def test_slots_below_a_frozen_dataclass_arrive():
    arrived = round_trip(FrozenWithSlots("a", 1))

    assert (arrived.x, arrived.y) == ("a", 1)


def test_slots_of_an_exception_that_cannot_be_set_arrive():
    assert round_trip(ImmutableError([7])).code == [7]


def test_slots_of_a_text_that_cannot_be_set_arrive():
    sent = ImmutableText("a")
    object.__setattr__(sent, "x", sent)

    arrived = round_trip(sent)

    assert arrived == "a"
    assert arrived.x is arrived


def test_an_attribute_that_is_no_slot_is_set_by_the_class():
    class Adding(Immutable):
        __slots__ = ()

        def __reduce__(self):
            return Immutable, (1,), (None, {"other": 1})

    with pytest.raises(AttributeError, match="other cannot be set"):
        round_trip(Adding(1))
