"""Arrays that map a file, and views of a payload in memory."""

import ast
import gc
import mmap
import subprocess
import sys
import tracemalloc
import weakref

import fresh_process
import pytest
import waybill
from refusals import refused_as

numpy = pytest.importorskip("numpy")

NUMBERS = numpy.arange(200_000.0).reshape(400, 500)
SIZE = 100_000


def base_of(array):
    while isinstance(array, numpy.ndarray):
        array = array.base
    return array.obj if isinstance(array, memoryview) else array


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file"
    waybill.save(
        {"a": NUMBERS, "b": NUMBERS.T, "f": lambda x: x + 1, "raw": b"x" * SIZE}, path
    )
    return path


def test_mapped_arrays_are_views_of_the_file(path):
    loaded = waybill.load(path, mmap=True)

    assert isinstance(base_of(loaded["a"]), mmap.mmap)
    assert base_of(loaded["a"]) is base_of(loaded["b"])
    assert not loaded["a"].flags.writeable
    assert (loaded["a"] == NUMBERS).all()
    assert (loaded["b"] == NUMBERS.T).all()
    assert loaded["f"](1) == 2
    assert loaded["raw"] == b"x" * SIZE
    assert loaded["a"].ctypes.data % 64 == 0


def test_what_is_written_to_a_private_map_stays_in_the_process(path):
    before = path.read_bytes()

    loaded = waybill.load(path, mmap="copy")
    loaded["a"][0] = 7

    assert loaded["a"].flags.writeable
    assert (loaded["a"][0] == 7).all()
    assert path.read_bytes() == before
    assert (waybill.load(path, mmap=True)["a"] == NUMBERS).all()


def test_digests_of_mapped_buffers_are_compared_on_request(path):
    data = bytearray(path.read_bytes())
    data[-50_000] ^= 1
    path.write_bytes(data)

    with refused_as("digest_mismatch"):
        waybill.load(path, mmap=True, check="now")


def test_a_small_payload_can_be_loaded_with_mmap(tmp_path):
    path = tmp_path / "file"
    waybill.save({"a": 1}, path)

    assert waybill.load(path, mmap=True) == {"a": 1}


def test_an_empty_file_and_one_that_goes_on_are_refused(path):
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(waybill.DecodeError):
        waybill.load(path, mmap=True)
    path.write_bytes(b"")
    with pytest.raises(waybill.DecodeError):
        waybill.load(path, mmap=True)


def read_from_memory(path):
    with path.open("rb") as file:
        memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return waybill.loads(memory, copy=False)


@pytest.mark.parametrize(
    "read",
    [lambda path: waybill.load(path, mmap=True), waybill.open, read_from_memory],
    ids=["mapped", "opened", "in memory"],
)
@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: bytes(64 << 20), "not_an_envelope"),
        (lambda: b"\x9a" + b"\xff" * (64 << 20), "not_an_envelope"),
        (lambda: waybill.dumps(numpy.full(8 << 20, -1))[:-1000], "truncated"),
    ],
    ids=["zeros", "an array", "a payload"],
)
def test_of_a_file_that_is_none_or_was_cut_little_is_read(make, code, read, path):
    path.write_bytes(make())

    tracemalloc.start()
    with pytest.raises(waybill.DecodeError) as caught:
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert caught.value.code == code
    assert (
        peak < path.stat().st_size / 8
    )  # The file could be more than there is memory.


@pytest.mark.parametrize(
    "options", [{"check": "now"}, {"mmap": "w"}, {"mmap": True, "check": "often"}]
)
def test_wrong_options_are_refused(path, options):
    with pytest.raises((TypeError, ValueError)):
        waybill.load(path, **options)


def test_mmap_needs_a_path(path):
    with path.open("rb") as file, pytest.raises(TypeError):
        waybill.load(file, mmap=True)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, mmap.mmap])
def test_views_of_a_payload_in_memory(kind):
    data = waybill.dumps({"a": NUMBERS, "raw": b"x" * SIZE, "other": bytearray(SIZE)})
    if kind is mmap.mmap:
        held = mmap.mmap(-1, len(data))
        held[:] = data
    else:
        held = kind(data)

    loaded = waybill.loads(held, copy=False)

    assert (loaded["a"] == NUMBERS).all()
    assert not loaded["a"].flags.writeable
    assert type(loaded["raw"]) is bytes
    assert type(loaded["other"]) is bytearray
    assert base_of(loaded["a"]) is (data if kind is memoryview else held)


def test_views_keep_the_payload_alive_and_let_go_of_it():
    class Held(bytearray):
        pass

    held = Held(waybill.dumps(NUMBERS))
    watch = weakref.ref(held)
    loaded = waybill.loads(held, copy=False)
    del held
    gc.collect()

    assert watch() is not None
    assert (loaded == NUMBERS).all()
    del loaded
    gc.collect()
    assert watch() is None


@pytest.mark.parametrize("value", [[1, "text"], [NUMBERS]])
def test_a_part_of_memory_is_read_as_that_part(value):
    data = waybill.dumps(value)
    part = memoryview(b"before" + data + b"behind")[6:-6]

    (first, *_) = waybill.loads(part, copy=False)

    assert numpy.all(first == value[0])


def test_copies_are_made_by_default():
    data = waybill.dumps(NUMBERS)

    loaded = waybill.loads(data)
    loaded[0] = 5

    assert loaded.flags.writeable
    assert (waybill.loads(data) == NUMBERS).all()


SHARED = """
import re, sys, waybill
loaded = waybill.load(sys.argv[1], mmap=True)
loaded.sum()
print("ready", flush=True)
input()
maps = re.split("(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", open("/proc/self/smaps").read())
(own,) = [text for text in maps if sys.argv[1] in text]
field = lambda name: int(re.search(name + ": *([0-9]+)", own)[1])
print(field("Rss"), field("Private_Dirty") + field("Private_Clean"), flush=True)
input()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_processes_share_the_pages_of_a_file(tmp_path):
    path = tmp_path / "file"
    waybill.save(numpy.ones(100 << 17), path)
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", SHARED, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    sizes = []
    for worker in workers:
        worker.stdin.write("\n")
        worker.stdin.flush()
        sizes.append([int(word) for word in worker.stdout.readline().split()])
    for worker in workers:
        worker.communicate("\n")

    for resident, private in sizes:
        assert resident > 100_000  # KiB; the array has 102 400.
        assert private < 10_000


SPOILED = """
import random, sys, warnings
import numpy, waybill
warnings.simplefilter("error")
path, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
arrays = {"a": numpy.arange(9000.0), "b": numpy.arange(70_000, dtype="u1"), "c": [1]}
with open(path, "wb") as file:
    waybill.dump(arrays, file)
whole = open(path, "rb").read()
head = int.from_bytes(whole[-8:], "big")


def is_same(loaded):
    return (
        loaded.keys() == arrays.keys()
        and loaded["c"] == [1]
        and all((loaded[key] == arrays[key]).all() for key in "ab")
    )


answers = {}
for _ in range(count):
    data = bytearray(whole)
    kind = chance.choice(["cut", "head", "anywhere", "trailer"])
    if kind == "cut":
        del data[chance.randrange(len(data)) :]
    else:
        low = {"head": 0, "anywhere": 0, "trailer": len(data) - 8}[kind]
        high = head if kind == "head" else len(data)
        data[chance.randrange(low, high)] ^= 1 << chance.randrange(8)
    with open(path, "r+b") as file:
        file.truncate(0)
        file.write(data)
    for check in ("now", "never"):
        try:
            loaded = waybill.load(path, mmap=True, check=check)
        except waybill.DecodeError as error:
            assert error.code and 0 <= error.offset <= len(whole), error
            answer = error.code
        else:
            for key in "ab":
                loaded[key].sum()
            answer = "same" if is_same(loaded) else "altered"
            assert answer == "same" or check == "never", kind
            del loaded
        answers[answer] = answers.get(answer, 0) + 1
print(answers)
"""


def spoil(count, seed, tmp_path):
    path = tmp_path / "spoiled"
    told = fresh_process.run_script(SPOILED, path, count, seed, seconds=900)
    return ast.literal_eval(told)


def test_spoiled_files_give_named_errors_or_equal_data(tmp_path):
    answers = spoil(300, 1, tmp_path)

    assert {"truncated", "digest_mismatch", "altered"} <= answers.keys()


@pytest.mark.long
def test_ten_thousand_spoiled_files_give_named_errors_or_equal_data(tmp_path):
    spoil(10_000, 2, tmp_path)
