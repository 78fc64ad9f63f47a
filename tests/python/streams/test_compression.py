"""Buffers that are compressed where it pays, and what their reader refuses."""

import array
import gc
import io
import os
import random
import sys

import fresh_process
import own_memory
import pytest
import waybill
from equal_values import assert_equal
from refusals import refused_as
from waybill.security import KeyRing, Limits, SigningKey

SIZE = 300_000
TEXT = b"".join(b"line %d of a text\n" % i for i in range(20_000))
NOISE = random.Random(1).randbytes(SIZE)

numpy = pytest.importorskip("numpy")


def arrays():
    return {
        "walk": numpy.cumsum(numpy.sin(numpy.arange(SIZE, dtype="f8") ** 2)),
        "ramp": numpy.arange(SIZE),
        "bytes": TEXT,
        "bytearray": bytearray(TEXT),
        "noise": NOISE,
        "fortran": numpy.asfortranarray(numpy.arange(90_000.0).reshape(300, 300)),
        "again": TEXT,
    }


def rows_of(data):
    return waybill.inspect(data)["buffers"]


@pytest.mark.parametrize("compress", ["zstd", ("zstd", -7), ("zstd", 1), ("zstd", 9)])
def test_all_arrives(compress):
    made = arrays()

    data = waybill.dumps(made, compress=compress)

    assert len(data) < len(waybill.dumps(made)) / 2
    assert_equal(waybill.loads(data), made)


def test_without_it_bytes_are_what_they_were():
    made = arrays()

    assert waybill.dumps(made, compress=None) == waybill.dumps(made)
    assert all("compression" not in row for row in rows_of(waybill.dumps(made)))


def test_equal_objects_give_equal_bytes():
    assert waybill.dumps(arrays(), compress="zstd") == waybill.dumps(
        arrays(), compress="zstd"
    )


def test_what_gains_nothing_stays_as_it_is():
    (row,) = rows_of(waybill.dumps(NOISE, compress="zstd"))

    assert "compression" not in row
    assert len(waybill.dumps(NOISE, compress="zstd")) == len(waybill.dumps(NOISE))


def test_small_ones_stay_as_they_are():
    assert waybill.dumps([bytes(60_000)], compress="zstd") == waybill.dumps(
        [bytes(60_000)]
    )


@pytest.mark.parametrize(
    "dtype",
    ["i1", "u2", ">i2", "f2", "i4", "f4", "i8", ">f8", "c8", "c16", "?", "S7", "U3"],
)
def test_dtype_arrives(dtype):
    made = (numpy.arange(200_000) % 100).astype(dtype)

    data = waybill.dumps(made, compress="zstd")

    loaded = waybill.loads(data)
    assert loaded.dtype == made.dtype
    assert (loaded == made).all()
    assert rows_of(data)[0]["compression"]["stored_length"] < made.nbytes / 2


@pytest.mark.parametrize(
    ("dtype", "item_size"), [("i4", 4), ("f8", 8), ("c16", 16), ("u2", 2)]
)
def test_bytes_are_sorted_by_the_size_of_items(dtype, item_size):
    made = (numpy.arange(200_000) * 7).astype(dtype)

    (row,) = rows_of(waybill.dumps(made, compress="zstd"))

    assert row["compression"]["item_size"] == item_size
    assert row["compression"]["method"] == "zstd"


def test_structured_and_object_arrays_arrive():
    made = numpy.zeros(50_000, dtype=[("x", "f8"), ("n", "i4"), ("tag", "S3")])
    made["x"], made["n"] = numpy.arange(50_000) / 7, numpy.arange(50_000)
    objects = numpy.array([TEXT, made, None], dtype=object)

    loaded = waybill.loads(waybill.dumps([made, objects], compress="zstd"))

    assert (loaded[0] == made).all()
    assert loaded[1][0] == TEXT
    assert (loaded[1][1] == made).all()


def test_array_with_gaps_and_array_array_arrive():
    made = numpy.arange(200_000.0)[::2]
    numbers = array.array("q", range(50_000))

    loaded = waybill.loads(waybill.dumps([made, numbers], compress="zstd"))

    assert (loaded[0] == made).all()
    assert loaded[1] == numbers


def test_tensors_arrive_and_share():
    torch = pytest.importorskip("torch")
    tensor = torch.arange(100_000, dtype=torch.float32)

    whole, part = waybill.loads(waybill.dumps([tensor, tensor[10:]], compress="zstd"))

    part[0] = -1
    assert whole[10] == -1


@pytest.mark.parametrize(
    "compress",
    [
        "lz4",
        "",
        b"zstd",
        ("zstd", 0),
        ("zstd", 20),
        ("zstd", -8),
        ("zstd", "3"),
        ("zlib", 3),
        3,
    ],
)
def test_what_is_no_compression_is_refused(compress):
    for use in (
        lambda: waybill.dumps(1, compress=compress),
        lambda: waybill.dump(1, io.BytesIO(), compress=compress),
        lambda: waybill.Pickler(io.BytesIO(), compress=compress),
    ):
        with pytest.raises(ValueError, match="zstd"):
            use()


def test_every_way_to_write_gives_the_same(tmp_path):
    made = arrays()
    expected = waybill.dumps(made, compress="zstd")
    waybill.save(made, tmp_path / "saved", compress="zstd", environment=False)
    memory = io.BytesIO()
    waybill.dump(made, memory, compress="zstd")
    pickled = io.BytesIO()
    waybill.Pickler(pickled, compress="zstd").dump(made)

    class OnlyWrite:
        write = (parts := []).append

    waybill.dump(made, OnlyWrite, compress="zstd")

    assert (tmp_path / "saved").read_bytes() == expected
    assert memory.getvalue() == expected
    assert pickled.getvalue() == expected
    assert b"".join(OnlyWrite.parts) == expected


def test_every_way_to_read_reads_it(tmp_path):
    made = arrays()
    path = tmp_path / "file"
    waybill.save(made, path, compress="zstd")
    data = path.read_bytes()

    assert_equal(waybill.load(path), made)
    assert_equal(waybill.load(io.BytesIO(data)), made)
    assert_equal(waybill.Unpickler(io.BytesIO(data)).load(), made)
    assert_equal(waybill.loads(bytearray(data)), made)
    # What is not compressed is a view, or maps the file.
    assert_equal(waybill.loads(data, copy=False), made)
    for mode in (True, "copy"):
        for check in ("never", "now"):
            assert_equal(waybill.load(path, mmap=mode, check=check), made)


def test_payloads_of_a_pickler_refer_to_each_other():
    file = io.BytesIO()
    pickler = waybill.Pickler(file, compress="zstd")
    pickler.dump(TEXT)
    pickler.dump([TEXT, TEXT[:-1]])
    file.seek(0)

    unpickler = waybill.Unpickler(file)
    first = unpickler.load()
    again, other = unpickler.load()

    assert again is first
    assert other == TEXT[:-1]


def test_fingerprint_and_ids_know_nothing_of_it():
    loaded = waybill.loads(waybill.dumps(TEXT, compress="zstd"))

    assert waybill.fingerprint(loaded) == waybill.fingerprint(TEXT)


def test_data_only_takes_it():
    made = [TEXT, bytearray(TEXT), TEXT]

    data = waybill.dumps(made, compress="zstd")

    assert waybill.loads(data, policy=waybill.DATA_ONLY) == made


def test_signed_ones_are_checked_before_they_are_decompressed(tmp_path):
    key = SigningKey.generate()
    path = tmp_path / "file"
    waybill.save(arrays(), path, compress="zstd", key=key, environment=False)
    signed = waybill.security.sign(waybill.dumps(arrays(), compress="zstd"), key)
    data = path.read_bytes()
    assert data == signed

    assert_equal(waybill.load(path, keys=KeyRing(key)), arrays())
    assert_equal(waybill.load(path, keys=KeyRing(key), mmap=True), arrays())
    for row in rows_of(data):
        altered = bytearray(data)
        altered[row["offset"] + 100] ^= 1
        path.write_bytes(altered)
        for load in (
            lambda: waybill.loads(altered, keys=KeyRing(key)),
            lambda: waybill.load(path, keys=KeyRing(key)),
            lambda: waybill.load(path, keys=KeyRing(key), mmap=True, check="now"),
        ):
            with refused_as("digest_mismatch"):
                load()


def test_digests_of_compressed_ones_are_compared_when_mapped(tmp_path):
    path = tmp_path / "file"
    waybill.save(arrays()["walk"], path, compress="zstd")
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)

    with refused_as("digest_mismatch"):
        waybill.load(path, mmap=True)


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (Limits(max_bytes=1 << 20), "max_bytes"),
        (Limits(max_text=1 << 20), "max_text"),
        (Limits(max_memory=1 << 20), "max_memory"),
    ],
)
def test_limits_count_what_is_decompressed(limits, name, tmp_path):
    data = waybill.dumps(bytes(50 << 20), compress="zstd")
    assert len(data) < 10_000
    path = tmp_path / "file"
    path.write_bytes(data)

    for load in (
        lambda: waybill.loads(data, limits=limits),
        lambda: waybill.load(io.BytesIO(data), limits=limits),
        lambda: waybill.load(path, limits=limits, mmap=True),
        lambda: waybill.loads(data, limits=limits, copy=False),
    ):
        with refused_as("limit_exceeded", match=name):
            load()


def test_strict_limits_refuse_a_bomb():
    data = waybill.dumps(bytes(200 << 20), compress="zstd")

    with refused_as("limit_exceeded"):
        waybill.loads(data, policy=waybill.DATA_ONLY)


def test_every_cut_is_refused():
    data = waybill.dumps([TEXT, arrays()["ramp"]], compress="zstd")

    for size in [*range(0, len(data), 997), len(data) - 1]:
        for load in (
            lambda: waybill.loads(data[:size]),
            lambda: waybill.load(io.BytesIO(data[:size])),
        ):
            with pytest.raises((waybill.DecodeError, EOFError)):
                load()


def test_nothing_leaks():
    made = arrays()
    data = waybill.dumps(made, compress="zstd")
    row = rows_of(data)[0]
    broken = bytearray(data)
    broken[row["offset"] + 5] ^= 1

    def work():
        for _ in range(5):
            waybill.loads(waybill.dumps(made, compress=("zstd", 1)))
            waybill.load(io.BytesIO(data))
            with pytest.raises(waybill.DecodeError):
                waybill.loads(broken)
        gc.collect()
        return sys.getallocatedblocks()

    work()
    before = work()

    assert work() - before < 50


ENDS = """
import io, threading, time, waybill
def work():
    value = bytes(300_000)
    data = waybill.dumps([value] * 3, compress="zstd")
    while True:
        waybill.loads(data)
        waybill.dump([value, bytearray(value)], io.BytesIO(), compress="zstd")
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""


def test_the_interpreter_may_end_while_threads_compress():
    for _ in range(3):
        fresh_process.run_script(ENDS, seconds=60)


PEAK = """
import sys, waybill, numpy
path, task = sys.argv[1:]
if task == "save":
    value = numpy.arange(100 << 17) % 1000003  # 100 MiB.
    before = peak()
    waybill.save(value, path, compress=("zstd", 1))
    print(peak() - before)
elif task == "dumps":
    value = numpy.arange(100 << 17) % 1000003
    before = peak()
    data = waybill.dumps(value, compress=("zstd", 1))
    print(peak() - before - len(data) / (1 << 20))
else:
    before = peak()
    value = waybill.load(path, mmap=task == "map")
    print(peak() - before - value.nbytes / (1 << 20))
"""


@pytest.mark.skipif(
    sys.platform != "linux" or "WAYBILL_SANITIZED" in os.environ, reason="reads /proc"
)
def test_memory_is_bounded(tmp_path):
    path = tmp_path / "file"
    for task in ("save", "load", "map", "dumps"):
        taken = float(fresh_process.run_script(own_memory.PEAK + PEAK, path, task))
        # MiB, of an array of 100; beside what `load` and `dumps` give.
        compressed = path.stat().st_size / (1 << 20)
        assert compressed < 60
        assert taken < 20 + (0 if task == "dumps" else compressed), task
