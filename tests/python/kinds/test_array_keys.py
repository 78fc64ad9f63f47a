"""Equal arrays have one key, however they lie in memory and whoever holds them."""

import io

import pytest
import waybill

numpy = pytest.importorskip("numpy")

SOURCE = numpy.arange(48.0).reshape(4, 6, 2)
RECORDS = numpy.array([(1, 2.5), (3, 4.5), (5, 6.5)], [("x", "i4"), ("y", "f8")])

VIEWS = {
    "columns": SOURCE[:, :2],
    "every other row": SOURCE[::2],
    "a column": SOURCE[:, 1, 0],
    "backwards": SOURCE[::-1],
    "backwards in all": SOURCE[::-1, ::-1, ::-1],
    "some axes transposed": SOURCE.transpose(0, 2, 1),
    "broadcast": numpy.broadcast_to(SOURCE[0, 0], (3, 2)),
    "windows": numpy.lib.stride_tricks.sliding_window_view(SOURCE[:, 0, 0], 3),
    "a field": RECORDS["y"],
    "several fields": RECORDS[["y"]],
    "records": RECORDS[::2],
    "text": numpy.array(["a", "bb", "ccc"])[::2],
    "bytes": numpy.array([b"a", b"bb", b"ccc"])[::-1],
    "objects": numpy.array([1, "a", None], object)[::2],
    "dates": numpy.array(["2020-01-01", "2021-01-01"], "M8[D]")[::-1],
    "complex numbers": (SOURCE + 1j)[:, ::2],
    "the real part": (SOURCE + 1j).real,
    "truths": (SOURCE > 3)[:, 1],
    "other order of bytes": SOURCE.astype(">f4")[:, 1],
    "read only": numpy.broadcast_to(1.5, (2, 2)),
    "empty": SOURCE[:0, ::2],
}

HOLDERS = {
    "itself": lambda array: array,
    "a list": lambda array: [array, "beside"],
    "a default": lambda array: lambda x, data=array: data * x,
    "a closure": lambda array: lambda x: array * x,
    "an object": lambda array: slice(array, None),
}


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_has_the_key_of_its_copy(name, holder):
    hold, view = HOLDERS[holder], VIEWS[name]

    assert waybill.fingerprint(hold(view)) == waybill.fingerprint(hold(view.copy()))
    assert waybill.dumps(hold(view)) == waybill.dumps(hold(view.copy()))


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("name", [*VIEWS, "transposed", "contiguous"])
def test_the_key_stays_when_it_travels(name, holder):
    view = {"transposed": SOURCE.T, "contiguous": SOURCE, **VIEWS}[name]
    held = HOLDERS[holder](view)

    arrived = waybill.loads(waybill.dumps(held))

    assert waybill.fingerprint(arrived) == waybill.fingerprint(held)


def test_fortran_order_stays_and_is_part_of_the_key():
    array = numpy.asfortranarray(SOURCE)

    assert waybill.loads(waybill.dumps(array)).flags.f_contiguous
    assert waybill.fingerprint(array) == waybill.fingerprint(array.copy("K"))
    assert waybill.fingerprint(array) != waybill.fingerprint(array.copy("C"))


@pytest.mark.parametrize(
    "dtype",
    [
        numpy.dtype([("x", "u1"), ("y", "f8")], align=True),
        numpy.dtype({"names": ["x"], "formats": ["i2"], "offsets": [2], "itemsize": 8}),
        numpy.dtype([("x", numpy.dtype([("a", "u1"), ("b", "i8")], align=True), (2,))]),
        numpy.dtype([("a", "u1"), ("b", "i4")], align=True).newbyteorder(),
    ],
    ids=["aligned", "at an offset", "inside of another", "swapped"],
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_bytes_between_fields_are_no_part_of_the_key(dtype, shape):
    def filled(byte):
        memory = bytearray([byte] * (dtype.itemsize * 6))
        array = numpy.ndarray(shape, dtype, memory)
        array[...] = numpy.zeros(shape, dtype)  # Field by field.
        return array

    assert waybill.dumps(filled(0)) == waybill.dumps(filled(255))
    arrived = waybill.loads(waybill.dumps(filled(255)))
    assert waybill.dumps(arrived) == waybill.dumps(filled(0))
    assert arrived.dtype == dtype and (arrived == filled(0)).all()


class Measured(numpy.ndarray):
    """A subclass that adds nothing of its own to the way it travels."""


@pytest.mark.parametrize("kind", [Measured, numpy.recarray, numpy.matrix])
def test_views_of_subclasses_have_the_key_of_their_copies(kind):
    view = (RECORDS if kind is numpy.recarray else SOURCE[0]).view(kind)[::2]

    assert waybill.fingerprint(view) == waybill.fingerprint(view.copy())
    arrived = waybill.loads(waybill.dumps(view))
    assert waybill.fingerprint(arrived) == waybill.fingerprint(view)
    assert type(arrived) is kind


class Counted(numpy.ndarray):
    """A subclass that reduces itself."""

    def __reduce__(self):
        return Counted.made, (self.strides,)

    @staticmethod
    def made(strides):
        return strides


def test_a_subclass_that_reduces_itself_is_asked_as_it_is():
    view = SOURCE.view(Counted)[::2]

    assert waybill.loads(waybill.dumps(view)) == view.strides


def test_a_view_travels_as_a_buffer_out_of_band():
    buffers = []

    data = waybill.dumps(SOURCE[:, :2], buffer_callback=buffers.append)

    assert len(buffers) == 1
    assert (waybill.loads(data, buffers=buffers) == SOURCE[:, :2]).all()


def test_a_view_that_is_met_twice_is_one_array():
    file = io.BytesIO()
    view = SOURCE[:, :2]
    waybill.dump([view, view], file)

    one, other = waybill.loads(file.getvalue())

    assert one is other
