"""What `map_location` says can be asked for by what a payload calls, in the thread that
loads it and as long as it is loaded.
"""

import io
import threading

import growth
import pytest
import waybill
from waybill import _core


class Asks:
    """Arrives as what the code that makes it is told."""

    def __reduce__(self):
        return _core.current_map_location, ()


class Raises:
    def __reduce__(self):
        return int, ("no number",)


ASKS = waybill.dumps(Asks())


def test_the_innermost_call_that_says_something_counts():
    inside = waybill.dumps([Asks(), Loads("b"), Loads(None), Asks()])

    assert waybill.loads(inside, map_location="a") == ["a", "b", "a", "a"]
    assert waybill.loads(inside) == [None, "b", None, None]


class Loads:
    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return load_inside, (self.place,)


def load_inside(place):
    return waybill.loads(ASKS, map_location=place)


def test_it_ends_when_a_payload_cannot_be_loaded():
    broken = waybill.dumps([Asks(), Raises()])

    with pytest.raises(ValueError, match="no number"):
        waybill.loads(broken, map_location="a")

    assert _core.current_map_location() is None
    assert waybill.loads(ASKS) is None


def test_it_is_about_one_thread():
    entered, leave = threading.Event(), threading.Event()

    def wait(device):
        entered.set()
        leave.wait()
        return device

    class Waits:
        def __reduce__(self):
            return call_chosen, ()

    data = waybill.dumps(Waits())
    thread = threading.Thread(target=lambda: waybill.loads(data, map_location=wait))
    thread.start()
    entered.wait()
    seen = waybill.loads(ASKS), _core.current_map_location()
    leave.set()
    thread.join()

    assert seen == (None, None)


def call_chosen():
    return _core.current_map_location()("cuda:0")


def test_functions_and_classes_that_are_kept_do_not_hide_it():
    class Holder:
        pass

    def function():
        return kept

    kept = Holder()
    kept.place = Asks()
    data = waybill.dumps((function, kept))

    for place in ("a", None, "b", "b", None):
        arrived, holder = waybill.loads(data, map_location=place)
        assert (arrived().place, holder.place) == (place, place)


def test_an_unpickler_takes_it():
    assert waybill.Unpickler(io.BytesIO(ASKS), map_location="a").load() == "a"


def test_nothing_is_left_behind():
    def round_trip():
        waybill.loads(ASKS, map_location=lambda device: device)
        try:
            waybill.loads(waybill.dumps(Raises()), map_location={"a": "b"})
        except ValueError:
            pass

    objects, _, blocks = growth.of(round_trip, 200)
    assert objects <= 0 and blocks < 100


def test_the_address_of_a_buffer_is_where_its_bytes_are():
    import ctypes

    data = bytes(range(100))

    for buffer in (data, bytearray(data), memoryview(data)[3:]):
        address = _core.address_of(buffer)
        assert ctypes.string_at(address, len(buffer)) == bytes(buffer)
    with pytest.raises(TypeError):
        _core.address_of("text")
