"""Memory that whoever gets it copies, as that of tensors: a buffer of the kind "source"
arrives as a view of the payload, read-only, and checked before anything is built.
"""

import array
import ctypes
import io
import pickle

import pytest
import waybill

SIZE = 100_000
CONTENT = bytes(range(250)) * (SIZE // 250)


class Lends:
    """Has memory of its own, and says so. Arrives as what `make` makes of it."""

    def __init__(self, make, content=CONTENT):
        self.make = make
        self.memory = (ctypes.c_ubyte * len(content)).from_buffer_copy(content)

    def __reduce__(self):
        memory = type(self.memory).from_buffer(self.memory)
        memory.waybill_memory_of = self
        return self.make, (pickle.PickleBuffer(memory),)


def told(buffer):
    return type(buffer).__name__, memoryview(buffer).readonly, bytes(buffer)


DATA = waybill.dumps(Lends(told))
VIEW = ("memoryview", True, CONTENT)


def test_the_kind_is_told():
    (row,) = waybill.inspect(DATA)["buffers"]

    assert (row["kind"], row["length"]) == ("source", SIZE)


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview])
def test_it_is_a_view_that_cannot_be_written_to(form):
    assert waybill.loads(form(DATA)) == VIEW


def test_items_of_the_data_may_be_of_any_size():
    for extra in range(1, 9):
        padded = waybill.dumps(Lends(told), application=bytes(extra))
        if len(padded) % 8 == 0:
            assert waybill.loads(array.array("d", padded)) == VIEW
            return
    pytest.fail("no payload is a whole number of items")


def test_options_and_policies_give_the_same():
    policy = waybill.security.Policy("allow code\nallow import *\nallow call *")

    assert waybill.loads(DATA, reset_classes=True) == VIEW
    assert waybill.loads(DATA, policy=policy) == VIEW
    assert waybill.loads(DATA, copy=False) == VIEW


def test_what_is_read_from_a_stream_or_decompressed_is_memory_of_its_own():
    compressed = waybill.dumps(Lends(told), compress="zstd")

    assert len(compressed) < len(DATA) // 2
    assert waybill.loads(compressed)[1:] == VIEW[1:]
    assert waybill.load(io.BytesIO(DATA))[1:] == VIEW[1:]
    assert waybill.Unpickler(io.BytesIO(DATA)).load()[1:] == VIEW[1:]


def test_a_mapping_that_can_be_written_to_is_given_as_it_is(tmp_path):
    path = tmp_path / "file"
    waybill.save(Lends(told), path)

    assert waybill.load(path, mmap=True) == VIEW
    assert waybill.load(path, mmap="copy") == ("memoryview", False, CONTENT)


def test_small_memory_is_a_copy():
    data = waybill.dumps(Lends(told, b"abc"))

    assert waybill.loads(data) == ("bytearray", False, b"abc")


CALLED = []


def note(buffer):
    CALLED.append(bytes(buffer[:1]))


def test_an_altered_one_is_refused_before_code_runs():
    data = bytearray(waybill.dumps(Lends(note)))
    data[data.index(CONTENT) + 5] ^= 1

    with pytest.raises(waybill.DecodeError) as caught:
        waybill.loads(data)

    assert (caught.value.code, CALLED) == ("digest_mismatch", [])


def test_a_view_keeps_the_payload_alive_and_in_its_place():
    data = bytearray(waybill.dumps(Lends(memoryview)))

    view = waybill.loads(data)

    with pytest.raises(BufferError):
        data.clear()
    assert bytes(view) == CONTENT
    view.release()
