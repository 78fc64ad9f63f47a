"""Objects of one process travel as the caller's policy says, or are refused by path."""

import io
import socket
import threading
import types

import fresh_process
import pytest
import waybill
from refusals import path_of_refused

FRESH = {"replace": "fresh"}


class Session:
    def __init__(self):
        self.lock = threading.Lock()
        self.name = "s"


def round_trip(value, replace):
    return waybill.loads(waybill.dumps(value, replace=replace))


# ---- error


@pytest.mark.parametrize("replace", [None, "error", {threading.Lock: "error"}, {}])
def test_lock_is_refused_unless_told_otherwise(replace):
    told = path_of_refused({"session": [Session()]}, replace=replace)

    assert told == "obj['session'][0].lock (_thread.lock)"


def test_refusal_is_the_type_error_of_pickle_too():
    with pytest.raises(TypeError, match="cannot pickle"):
        waybill.dumps(threading.Lock())


# ---- fresh


def test_fresh_lock_is_open():
    lock = threading.Lock()
    lock.acquire()

    assert not round_trip(lock, "fresh").locked()


def test_fresh_lock_in_two_places_stays_one():
    session = Session()

    one, other = round_trip([session.lock, session], "fresh")

    assert one is other.lock
    assert other.name == "s"


def test_two_locks_stay_two():
    one, other = round_trip([threading.Lock(), threading.Lock()], "fresh")

    assert one is not other


@pytest.mark.parametrize(
    "made, check",
    [
        (threading.Lock, "value.acquire() and value.locked()"),
        (threading.RLock, "value.acquire() and value.acquire()"),
        (threading.local, "not vars(value)"),
        (threading.Event, "not value.is_set()"),
        (threading.Condition, "value.acquire()"),
        (lambda: threading.Semaphore(2), "value.acquire() and value.acquire()"),
        (lambda: threading.BoundedSemaphore(1), "value.acquire()"),
        (lambda: threading.Barrier(2), "value.parties == 2"),
    ],
    ids=lambda made: getattr(made, "__name__", ""),
)
def test_fresh_object_works_in_another_process(made, check):
    data = waybill.dumps(made(), **FRESH)

    assert fresh_process.load(data, f"bool({check})")


@pytest.mark.parametrize(
    "replace, is_set", [("fresh", False), ({threading.Lock: "fresh"}, True)]
)
def test_event_keeps_its_state_where_only_its_lock_is_fresh(replace, is_set):
    event = threading.Event()
    event.set()

    assert round_trip(event, replace).is_set() is is_set


def test_fresh_socket_is_of_the_same_family():
    with socket.socket(socket.AF_UNIX) as own, round_trip(own, "fresh") as arrived:
        assert (arrived.family, arrived.type) == (own.family, own.type)
        assert arrived.fileno() != own.fileno()


def test_condition_has_a_lock_of_its_own_again():
    condition = round_trip(threading.Condition(), "fresh")

    with condition:
        condition.notify_all()


def test_lock_in_a_closure_is_fresh():
    lock = threading.Lock()
    data = waybill.dumps(lambda: lock.locked(), by_value=[__name__], **FRESH)

    assert fresh_process.load(data, "value()") is False


@pytest.mark.parametrize(
    "value", [(i for i in ()), (lambda: (yield))()], ids=["expression", "function"]
)
def test_there_is_no_fresh_generator(value):
    told = path_of_refused({"steps": value}, "fresh 'generator'", replace="fresh")

    assert told == "obj['steps'] (generator)"


# ---- drop


def test_dropped_object_is_none():
    arrived = round_trip(Session(), "drop")

    assert (arrived.lock, arrived.name) == (None, "s")


def test_generator_coroutine_and_frame_can_be_dropped():
    async def coroutine():
        pass

    made = coroutine()
    generator = (i for i in ())
    try:
        assert round_trip([generator, made, generator.gi_frame], "drop") == [None] * 3
    finally:
        made.close()


# ---- By type


def test_policy_of_a_type_concerns_no_other():
    mixed = [threading.Lock(), (i for i in ())]

    arrived = round_trip(mixed, {threading.Lock: "fresh", types.GeneratorType: "drop"})

    assert (type(arrived[0]), arrived[1]) == (type(threading.Lock()), None)


def test_type_that_is_not_named_is_refused():
    mixed = [threading.Lock(), threading.local()]

    with pytest.raises(waybill.EncodeError, match=r"obj\[1\]"):
        waybill.dumps(mixed, replace={threading.Lock: "fresh"})


def test_policy_of_a_type_of_ones_own_calls_it():
    class Connection:
        def __init__(self):
            self.file = io.open

        def __reduce__(self):
            raise TypeError("not this one")

    arrived = round_trip([Connection()], {Connection: "fresh"})

    assert type(arrived[0]) is Connection


def test_pickler_replaces():
    file = io.BytesIO()

    waybill.Pickler(file, replace="drop").dump([threading.Lock()])

    assert waybill.loads(file.getvalue()) == [None]


# ---- The choice itself


@pytest.mark.parametrize("replace", ["new", {threading.Lock: "new"}, {int: None}])
def test_unknown_policy_is_a_value_error(replace):
    with pytest.raises(ValueError, match="should be one of error, fresh, drop"):
        waybill.dumps(1, replace=replace)


def test_report_names_what_was_replaced():
    data = waybill.dumps({"a": Session()}, replace="fresh")

    assert "fresh" in str(waybill.inspect(data))
