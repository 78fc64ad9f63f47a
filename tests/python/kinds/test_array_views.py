"""Arrays of NumPy that share memory share it when they arrive."""

import io
import pickle

import pytest
import waybill

numpy = pytest.importorskip("numpy")


def square(count, kind=float):
    """An array that owns its memory."""
    return numpy.arange(count * count).astype(kind).reshape(count, count).copy()


def read_only(array):
    view = array[1:]
    view.flags.writeable = False
    return view


def sent(obj, **options):
    return waybill.loads(waybill.dumps(obj, **options))


VIEWS = {
    "itself": lambda a: a[:],
    "rows": lambda a: a[1:3],
    "a column": lambda a: a[:, 1],
    "columns": lambda a: a[:, 1:3],
    "every other row": lambda a: a[::2],
    "backwards": lambda a: a[::-1, ::-1],
    "transposed": lambda a: a.T,
    "flat": lambda a: a.reshape(-1),
    "the diagonal": lambda a: a.diagonal(),
    "one item": lambda a: a[2, 3, ...],
    "with one more axis": lambda a: a[:, None, :],
    "broadcast": lambda a: numpy.broadcast_to(a[0], (3, a.shape[1])),
    "as bytes": lambda a: a.view("u1"),
    "as dates": lambda a: a.view("M8[s]"),
    "as records": lambda a: a.reshape(-1).view([("x", "f8"), ("y", "f8")]),
    "in the other order of bytes": lambda a: a.view(a.dtype.newbyteorder()),
    "windows": lambda a: numpy.lib.stride_tricks.sliding_window_view(a[0], 3),
    "a view of a view": lambda a: a[1:].T[2:],
    "read only": read_only,
}


@pytest.mark.parametrize("order", [1, -1], ids=["first", "last"])
@pytest.mark.parametrize("count", [6, 120], ids=["small", "stored"])
@pytest.mark.parametrize("view_of", VIEWS.values(), ids=VIEWS)
def test_a_view_stays_one_of_the_array_that_is_sent_with_it(view_of, count, order):
    whole = square(count)
    view = view_of(whole)

    arrived, its_view = sent([whole, view][::order])[::order]

    for here, there in [(whole, arrived), (view, its_view)]:
        assert here.dtype == there.dtype
        assert [s for s, n in zip(here.strides, here.shape, strict=True) if n > 1] == [
            s for s, n in zip(there.strides, there.shape, strict=True) if n > 1
        ]
        assert here.flags.writeable == there.flags.writeable
        numpy.testing.assert_array_equal(here, there)
    assert numpy.shares_memory(arrived, its_view)
    arrived += 1
    whole += 1
    numpy.testing.assert_array_equal(view, its_view)


@pytest.mark.parametrize("view_of", VIEWS.values(), ids=VIEWS)
def test_views_without_their_owner_share_what_they_span(view_of):
    owner = numpy.zeros((400, 100))
    whole = owner[100:200]
    view = view_of(whole)

    data = waybill.dumps([whole, view])
    arrived, its_view = waybill.loads(data)

    assert numpy.shares_memory(arrived, its_view)
    assert arrived.base is None or arrived.base.size * 8 <= whole.nbytes * 8
    assert len(data) < 1.1 * whole.nbytes + 2000


def test_memory_that_is_shared_is_sent_once():
    whole = square(300)
    views = [whole[i:] for i in range(10)]

    data = waybill.dumps([views, whole, whole.T])

    assert len(data) < whole.nbytes + 5000 < len(pickle.dumps(views, 5)) / 5


def test_overlapping_pieces_of_what_stays_behind_share_their_bytes_alone():
    whole = numpy.arange(1e6)

    data = waybill.dumps([whole[:10], whole[5:15]])
    first, second = waybill.loads(data)

    first[5] = -1
    assert second[0] == -1
    assert len(data) < 1000


def test_pieces_side_by_side_and_their_whole_share_it():
    flat = numpy.arange(100.0)
    model = {"weights": flat[:80].reshape(8, 10), "bias": flat[80:], "flat": flat}

    arrived = sent(model)
    arrived["flat"][:] = 1

    assert (arrived["weights"] == 1).all()
    assert (arrived["bias"] == 1).all()


def test_what_lies_between_is_not_sent_for_arrays_that_only_span_it():
    matrix = numpy.zeros((10_000, 100))

    data = waybill.dumps([matrix[:, 0], matrix[:, 1]])

    assert len(data) < 4 * 10_000 * 8


def test_arrays_that_share_nothing_are_sent_as_before():
    matrix = square(10)
    apart = [matrix[:5].copy(), matrix[5:].copy()]

    assert waybill.dumps([matrix[:5], matrix[5:]]) == waybill.dumps(apart)


def test_objects_that_share_an_array_share_it_still():
    class Layer:
        def __init__(self, weights):
            self.weights = weights

        def half(self):
            return self.weights[: len(self.weights) // 2]

    weights = square(20)
    first, second, task = sent(
        (Layer(weights[:10]), Layer(weights[5:]), lambda: weights[7, 0])
    )
    first.weights[7, 0] = -5

    assert second.weights[2, 0] == -5
    assert task() == -5


def test_memory_of_others_is_shared_too():
    lent = bytearray(range(100))
    first = numpy.frombuffer(lent, "u1")
    second = numpy.frombuffer(lent, "u1", offset=10)

    arrived = sent([first, first[2:5], second])

    assert numpy.shares_memory(arrived[0], arrived[1])


def test_arrays_of_objects_are_not_shared_since_their_items_are():
    objects = numpy.array([["a"], ["b"]], dtype=object)

    whole, row = sent([objects, objects[1:]])

    assert whole[1, 0] is row[0, 0]


def test_what_arrives_is_sent_on_as_the_same_bytes():
    whole = square(30)
    data = waybill.dumps([whole[3:], whole, whole[:, 2]])

    assert waybill.dumps(waybill.loads(data)) == data


def test_the_same_goes_through_files(tmp_path):
    whole = square(120)
    obj = {"rows": whole[3:], "whole": whole}
    stream = io.BytesIO()
    waybill.dump(obj, stream)
    stream.seek(0)
    path = tmp_path / "file"
    waybill.save(obj, path, compress="zstd")

    for arrived in (waybill.load(stream), waybill.load(path)):
        arrived["whole"][5] = 7
        assert (arrived["rows"][2] == 7).all()


def test_mapped_arrays_share_their_pages(tmp_path):
    whole = square(120)
    path = tmp_path / "file"
    waybill.save({"rows": whole[3:], "whole": whole}, path)

    arrived = waybill.load(path, mmap="copy")
    arrived["whole"][5] = 7
    assert (arrived["rows"][2] == 7).all()
    assert not waybill.load(path, mmap=True)["rows"].flags.writeable


def test_a_view_is_a_part_of_a_file(tmp_path):
    whole = square(120)
    path = tmp_path / "file"
    waybill.save({"rows": whole[3:], "column": whole[:, 2], "whole": whole}, path)

    with waybill.open(path) as file:
        for name, array in [("rows", whole[3:]), ("column", whole[:, 2])]:
            part = file[name]
            expected = ("numpy.ndarray", "float64", array.shape)
            assert (part.type, part.dtype, part.shape) == expected
            numpy.testing.assert_array_equal(part[2:4], array[2:4])
            numpy.testing.assert_array_equal(part.load(), array)


def test_who_is_told_of_objects_is_told_once():
    whole = square(5)
    told = []

    class Told(waybill.Pickler):
        def persistent_id(self, obj):
            told.append(id(obj))

    Told(io.BytesIO()).dump([whole, whole[1:]])
    assert told.count(id(whole)) == 1

    buffers = []
    waybill.dumps([whole, whole[1:]], buffer_callback=buffers.append)
    assert len(buffers) == 2


def test_frames_of_pandas_have_memory_of_their_own():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": numpy.arange(5.0), "b": numpy.arange(5.0)})

    arrived, column = sent([frame, frame["a"]])
    column.iloc[0] = 9

    assert arrived["a"][0] == 0


@pytest.mark.once
def test_many_arrays_of_one_memory_take_no_time_of_their_square():
    memory = numpy.arange(40_000.0)
    apart = [memory[2 * i : 2 * i + 1] for i in range(20_000)]
    strided = [memory[i::20_000] for i in range(3000)]

    arrived = sent([apart, strided, memory[::-1]])

    arrived[2][:] = 3
    assert all(piece[0] == 3 for piece in arrived[0][:-1:500])


def test_prepared_calls_share_what_dumps_call_shares():
    weights = square(20)

    def scale(array, view, factor=2, *, rows=weights[5:], whole=weights):
        view *= factor
        return array[-1, 0], rows[0, 0], whole[5, 0]

    prepared = waybill.prepare(scale)
    own = square(6)
    data = prepared.dumps(own, own[3:], factor=3)

    assert data == waybill.calls.dumps_call(scale, (own, own[3:]), {"factor": 3})
    assert data == prepared.dumps(own, own[3:], factor=3)
    assert waybill.calls.run_call(data)
    function, (array, view), _ = waybill.loads(data)
    assert numpy.shares_memory(array, view)
    defaults = function.__kwdefaults__
    assert numpy.shares_memory(defaults["rows"], defaults["whole"])
