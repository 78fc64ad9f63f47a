"""A class is sent while another thread sets its attributes."""

import abc
import enum
import sys
import threading
import typing

import pytest
import waybill


class Abstract(abc.ABC):  # noqa: B024
    pass


class Named(typing.NamedTuple):
    x: int


class Kinds(enum.Enum):
    A = 1


class Generic(typing.Generic[typing.TypeVar("T")]):
    pass


@pytest.fixture
def many_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("cls", [Abstract, Named, Kinds, Generic])
def test_a_class_that_another_thread_changes_is_sent(cls, many_switches):
    cls.__module__ = "__main__"  # By value.
    for number in range(3000):
        setattr(cls, f"many_{number}", number)
    stopped = threading.Event()

    def change():
        while not stopped.is_set():
            names = [f"more_{number}" for number in range(50)]
            for name in names:
                setattr(cls, name, 1)
            for name in names:
                delattr(cls, name)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        sent = [waybill.dumps(cls) for _ in range(10)]
    finally:
        stopped.set()
        thread.join()

    assert all(b"many_2999" in data for data in sent)
