"""Files take large buffers from where they lie, and give them to where they will."""

import io
import sys

import fresh_process
import own_memory
import pytest
import waybill
from equal_values import assert_equal
from piped import through_a_pipe
from refusals import refused_as
from waybill.security import KeyRing, SigningKey

numpy = pytest.importorskip("numpy")

SIZE = 300_000


def arrays():
    return {
        "first": numpy.arange(SIZE, dtype="f8"),
        "bytes": bytes(range(256)) * 1000,
        "bytearray": bytearray(range(256)) * 1000,
        "fortran": numpy.asfortranarray(numpy.arange(90_000.0).reshape(300, 300)),
    }


class Dribble(io.RawIOBase):
    """Gives and takes a few thousand bytes at a time, and None now and then."""

    def __init__(self, data=b"", blocks=False):
        self.inner, self.blocks, self.turn = io.BytesIO(data), blocks, 0

    def readable(self):
        return True

    def writable(self):
        return True

    def readinto(self, view):
        self.turn += 1
        if self.blocks and self.turn % 2:
            return None
        return self.inner.readinto(memoryview(view)[:7000])

    def write(self, data):
        return self.inner.write(memoryview(data)[:7000])


def test_dump_writes_what_dumps_gives(tmp_path):
    made = arrays()
    path = tmp_path / "file"
    waybill.save(made, path, environment=False)
    buffered, raw, memory = tmp_path / "buffered", tmp_path / "raw", io.BytesIO()
    with buffered.open("wb") as file:
        waybill.dump(made, file)
    with raw.open("wb", buffering=0) as file:
        waybill.dump(made, file)
    waybill.dump(made, memory)
    dribble = Dribble()
    waybill.dump(made, dribble)

    expected = waybill.dumps(made)

    assert path.read_bytes() == expected
    assert buffered.read_bytes() == expected
    assert raw.read_bytes() == expected
    assert memory.getvalue() == expected
    assert dribble.inner.getvalue() == expected


def test_load_reads_them_from_every_kind_of_file(tmp_path):
    made = arrays()
    path = tmp_path / "file"
    waybill.save(made, path)
    data = path.read_bytes()

    class OnlyRead:
        def __init__(self):
            self.read = io.BytesIO(data).read

    assert_equal(waybill.load(path), made)
    with path.open("rb") as file:
        assert_equal(waybill.load(file), made)
    assert_equal(waybill.load(io.BytesIO(data)), made)
    assert_equal(waybill.load(OnlyRead()), made)
    assert_equal(waybill.load(Dribble(data)), made)


@pytest.mark.parametrize("options", [{}, {"compress": "zstd"}], ids=str)
def test_load_from_a_pipe(options):
    made = arrays()

    loaded = through_a_pipe(
        lambda file: waybill.dump(made, file, **options), waybill.load
    )

    assert_equal(loaded, made)


def test_payloads_follow_each_other_in_a_stream():
    made = arrays()
    file = io.BytesIO()
    for value in (made, 1, made["first"], "end"):
        waybill.dump(value, file)
    file.seek(0)

    assert_equal(waybill.load(file), made)
    assert waybill.load(file) == 1
    assert (waybill.load(file) == made["first"]).all()
    assert waybill.load(file) == "end"
    with pytest.raises(EOFError):
        waybill.load(file)


@pytest.mark.parametrize("count", [-1, 1 << 40])
def test_a_file_that_counts_wrongly_is_refused(count):
    class Wrong(Dribble):
        def readinto(self, view):
            super().readinto(view)
            return count

    source = Wrong(waybill.dumps(arrays()))
    source.read = source.inner.read

    with pytest.raises(OSError, match="readinto"):
        waybill.load(source)


@pytest.mark.parametrize("ceiling", ["max_text", "max_memory"])
def test_what_is_too_large_is_refused_before_it_is_read(ceiling):
    data = waybill.dumps([bytes(1_000_000), bytearray(1_000_000)])
    limits = waybill.security.Limits(**{ceiling: 900_000})
    file = io.BytesIO(data)

    with refused_as("limit_exceeded", match=ceiling):
        waybill.load(file, limits=limits)
    assert file.tell() < 1_000


def test_unpickler_goes_on_where_a_file_had_nothing_yet():
    made = arrays()
    file = io.BytesIO()
    pickler = waybill.Pickler(file)
    pickler.dump(made)
    pickler.dump([made["first"]])
    unpickler = waybill.Unpickler(Dribble(file.getvalue(), blocks=True))

    def load():
        while True:
            try:
                return unpickler.load()
            except BlockingIOError:
                pass

    # A file that has nothing makes read() give None, which is no EOFError.
    source = Dribble(file.getvalue(), blocks=True)
    unpickler = waybill.Unpickler(source)
    loaded = load()
    (again,) = load()

    assert_equal(loaded, made)
    assert again is loaded["first"]


def refusal_of(load, *arguments, **options):
    with pytest.raises(waybill.DecodeError) as caught:
        load(*arguments, **options)
    return caught.value.code, caught.value.offset


def refusals_of(data, path):
    """Codes and offsets with which each way to load a whole file refuses the data."""
    path.write_bytes(data)
    ways = refusal_of(waybill.load, path), refusal_of(waybill.load, path, mmap=True)
    return {*ways, refusal_of(waybill.loads, data)}


@pytest.mark.parametrize("cut", [1, 8, 9, 5_000, 400_000, 3_000_000])
def test_a_stream_that_ends_early_is_refused(cut, tmp_path):
    data = waybill.dumps(arrays())
    stream = io.BytesIO(data[:-cut])

    refusals = refusals_of(data[:-cut], tmp_path / "file")

    for code, offset in {*refusals, refusal_of(waybill.load, stream)}:
        assert code in ("truncated", "malformed")
        assert 0 <= offset <= len(data)


def test_what_pads_is_checked(tmp_path):
    data = bytearray(waybill.dumps(arrays()))
    size = int.from_bytes(data[-8:], "big")
    assert data[size] == 0
    data[size] = 1

    assert refusals_of(data, tmp_path / "file") == {("malformed", size)}


def test_what_follows_a_payload_is_named_by_its_place(tmp_path):
    data = waybill.dumps(arrays())
    expected = {("trailing_bytes", len(data))}

    assert refusals_of(data + b"more", tmp_path / "file") == expected


def test_an_altered_buffer_is_refused_before_anything_is_built(tmp_path):
    data = bytearray(waybill.dumps([print, arrays()["first"]]))
    data[-100] ^= 1
    path = tmp_path / "file"
    path.write_bytes(data)

    for load in (lambda: waybill.load(path), lambda: waybill.loads(data)):
        with refused_as("digest_mismatch"):
            load()


def test_signature_is_checked_before_buffers_are_read(tmp_path):
    key, other = SigningKey.generate(), SigningKey.generate()
    path = tmp_path / "file"
    waybill.save(arrays(), path, key=key)
    data = path.read_bytes()

    assert_equal(waybill.load(path, keys=KeyRing(key)), arrays())
    assert_equal(waybill.loads(data, keys=KeyRing(key)), arrays())
    with path.open("rb") as file:
        with pytest.raises(waybill.SignatureError):
            waybill.load(file, keys=KeyRing(other))
        assert file.tell() < 100_000
    altered = bytearray(data)
    altered[-100] ^= 1
    with refused_as("digest_mismatch"):
        waybill.loads(altered, keys=KeyRing(key))


PEAK = """
import sys, waybill, numpy
path, task = sys.argv[1:]
if task == "dump":
    value = numpy.ones(200 << 17)
    before = peak()
    with open(path, "wb") as file:
        waybill.dump(value, file)
    print(peak() - before)
else:
    before = peak()
    value = waybill.load(path)
    print(peak() - before - value.nbytes / (1 << 20))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_dump_and_load_take_no_memory_besides_the_array(tmp_path):
    path = tmp_path / "file"
    for task in ("dump", "load"):
        taken = float(fresh_process.run_script(own_memory.PEAK + PEAK, path, task))
        assert taken < 10  # MiB, of an array of 200; 5 %.


def test_a_file_that_keeps_its_view_cannot_use_it_later():
    kept = []

    class Keeper(Dribble):
        def readinto(self, view):
            kept.append(view)
            return super().readinto(view)

    source = Keeper(waybill.dumps(arrays()))
    source.read = source.inner.read
    assert_equal(waybill.load(source), arrays())

    for view in kept:
        with pytest.raises(ValueError, match="released"):
            bytes(view)


def test_load_takes_the_options_that_loads_takes(tmp_path):
    path = tmp_path / "file"
    waybill.save(arrays(), path)
    options = {"encoding": "latin1", "errors": "replace", "fix_imports": False}

    assert_equal(waybill.load(path, missing="later", **options), arrays())
    mapped = waybill.load(path, mmap="copy", missing="later", **options)
    assert (mapped["first"] == arrays()["first"]).all()
