"""Views of memory come back as views."""

import array

import pytest
import waybill


def round_trip(value, **options):
    return waybill.loads(waybill.dumps(value), **options)


@pytest.mark.parametrize(
    "view",
    [
        memoryview(b"abc"),
        memoryview(b""),
        memoryview(b"").cast("i"),
        memoryview(bytearray(b"abc")),
        memoryview(bytearray(b"abc")).toreadonly(),
        memoryview(b"abcdef")[1:3],
        memoryview(b"abcdef")[::-2],
        memoryview(b"abcdefgh").cast("i"),
        memoryview(b"abcdefgh").cast("B", (2, 4)),
        memoryview(b"a").cast("B", ()),
        memoryview(array.array("d", [1.5, 2.5])),
        memoryview(array.array("d", [1.5, 2.5]))[1:],
    ],
    ids=lambda view: f"{view.format}{view.shape}",
)
def test_view_keeps_content_and_layout(view):
    arrived = round_trip(view)

    assert type(arrived) is memoryview
    assert arrived.tolist() == view.tolist()
    assert (arrived.format, arrived.shape) == (view.format, view.shape)
    assert arrived.readonly == view.readonly


def test_view_sees_changes_of_what_it_looks_at():
    held = bytearray(b"abc")

    arrived, view = round_trip([held, memoryview(held)])
    arrived[0] = 120

    assert view[0] == 120


def test_part_of_a_buffer_travels_out_of_band_and_uncopied():
    part = memoryview(bytearray(10_000))[1:]
    buffers = []

    data = waybill.dumps(part, buffer_callback=buffers.append)
    arrived = waybill.loads(data, buffers=buffers)
    arrived[0] = 5

    assert len(data) < 200
    assert part[0] == 5


def test_view_of_a_numpy_array_arrives():
    numpy = pytest.importorskip("numpy")
    view = memoryview(numpy.arange(6).reshape(2, 3).T)

    assert round_trip(view).tolist() == view.tolist()


def test_released_view_is_refused():
    view = memoryview(b"a")
    view.release()

    with pytest.raises(waybill.EncodeError, match="released"):
        waybill.dumps(view)
