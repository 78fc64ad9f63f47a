"""Large byte strings are copied once, straight into the payload."""

import array
import os
import pickle
import sys

import fresh_process
import own_memory
import pytest
import waybill
from sources import round_trip

SIZE = 200_000


def content(seed, size=SIZE):
    return bytes((seed + i * 7) % 256 for i in range(256)) * (size // 256)


class Later:
    """Runs code when it is pickled."""

    def __init__(self, action):
        self.action = action

    def __reduce__(self):
        self.action()
        return int, ()


@pytest.mark.parametrize("kind", [bytes, bytearray])
@pytest.mark.parametrize("size", [(64 << 10) - 256, 64 << 10, SIZE])
def test_large_and_small_ones_arrive_in_their_places(kind, size):
    value = [kind(content(i, size)) for i in range(3)]
    value = ["before", value[0], {"key": (value[1], 1.5)}, value[2], "after"]

    assert round_trip(value) == value


def test_one_that_is_shared_stays_one():
    held = content(1)

    first, second, third = round_trip([held, held, bytearray(held)])

    assert first is second
    assert third == held


def test_shared_objects_behind_one_are_found():
    held = [1]

    arrived = round_trip([content(1), held, bytearray(content(2)), held])

    assert arrived[1] is arrived[3]


def test_array_arrives():
    numbers = array.array("d", range(20_000))

    assert round_trip([numbers, 1]) == [numbers, 1]


def test_numpy_array_arrives_writable():
    numpy = pytest.importorskip("numpy")
    numbers = numpy.arange(50_000.0)

    arrived, again = round_trip([numbers, numpy.arange(50_000.0)[::2]])
    arrived[0] = 7

    assert arrived.flags.writeable
    assert (arrived[1:] == numbers[1:]).all()
    assert (again == numbers[::2]).all()


def test_bytearray_travels_as_it_was_when_it_was_met():
    buffer = bytearray(content(1))

    def change():
        buffer[0] = 255
        buffer.extend(b"more")

    arrived, _ = round_trip([buffer, Later(change)])

    assert arrived == content(1)
    assert len(buffer) == len(content(1)) + 4


@pytest.mark.parametrize("size", [256, SIZE])
def test_memory_that_a_reducer_uses_again_is_copied_before(size):
    scratch = bytearray(size)

    class Counted:
        def __init__(self, number):
            self.number = number

        def __reduce_ex__(self, protocol):
            scratch[:] = bytes([self.number]) * size
            return bytes, (pickle.PickleBuffer(scratch),)

    first, second = round_trip([Counted(1), Counted(2)])

    assert first == bytes([1]) * size
    assert second == bytes([2]) * size


@pytest.mark.parametrize("size", [256, SIZE])
def test_buffer_that_the_callback_releases_arrives(size):
    buffer = pickle.PickleBuffer(bytearray(content(1, size)))

    def release(_):
        buffer.release()
        return True

    assert waybill.loads(waybill.dumps(buffer, buffer_callback=release)) == content(
        1, size
    )


def test_buffer_can_be_resized_after_dumps():
    buffer = bytearray(content(1))
    waybill.dumps([buffer, pickle.PickleBuffer(buffer)])

    buffer.extend(b"more")


def test_failed_dumps_lets_go_of_buffers():
    buffer = bytearray(content(1))
    with pytest.raises(waybill.EncodeError):
        waybill.dumps([buffer, pickle.PickleBuffer(buffer), (i for i in ())])

    buffer.extend(b"more")


def test_fingerprint_covers_every_byte():
    held, other = content(1), bytearray(content(1))
    other[SIZE // 2] ^= 1

    assert waybill.fingerprint([held]) == waybill.fingerprint([content(1)])
    assert waybill.fingerprint([held]) != waybill.fingerprint([bytes(other)])


def test_pickler_writes_them_too(tmp_path):
    value = [content(1), bytearray(content(2)), content(1)]
    path = tmp_path / "file"
    with path.open("wb") as file:
        waybill.Pickler(file).dump(value)

    with path.open("rb") as file:
        assert waybill.Unpickler(file).load() == value


PEAK = """
import sys, waybill
make = {"bytes": lambda n: bytes([1]) * n, "bytearray": lambda n: bytearray([1]) * n}
value = make[sys.argv[1]](100 << 20)
before = peak()
data = waybill.dumps(value)
middle = peak()
loaded = waybill.loads(data)
print(round(middle - before), round(peak() - middle))
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or "WAYBILL_SANITIZED" in os.environ,
    reason="counts memory as Linux tells it",
)
@pytest.mark.parametrize("kind", ["bytes", "bytearray"])
def test_each_way_takes_the_memory_of_one_copy(kind):
    told = fresh_process.run_script(own_memory.PEAK + PEAK, kind)
    there, back = map(int, told.split())

    assert 95 <= there <= 110
    assert 95 <= back <= 110
