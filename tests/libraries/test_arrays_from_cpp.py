"""Arrays that a C++ program wrote are NumPy's in Python, and the other way round."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import waybill

numpy = pytest.importorskip("numpy", "2.0")

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(os.environ.get("WAYBILL_COMMAND", ROOT / "build/waybill"))
PROGRAM = COMMAND.resolve().parent / "write_arrays"

pytestmark = [
    pytest.mark.slow,  # NumPy is there in `make test`, too.
    pytest.mark.skipif(not PROGRAM.exists(), reason="the C++ tests are not built"),
]

ITEMS = (
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 "
    "complex64 complex128 >i2 >u4 >i8 >f4 >c16"
).split()


def run(*arguments):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True
    ).stdout


def same_value():
    """What the program writes, made by NumPy."""
    content = bytes(i // 3 % 2 for i in range(1_600_000))
    # Of one order of bytes there is one type, in the program too.
    types = {item: numpy.dtype(item) for item in ITEMS}

    def array(item, shape, order="C"):
        made = numpy.ndarray(shape, types[item], bytearray(content), order=order)
        return made.copy(order)

    return {
        "names": ["a", "b"],
        "small": {item: array(item, (2, 3)) for item in ITEMS},
        "step": 3,
        "large": {item: array(item, (1000, 100)) for item in ITEMS},
        "columns": array("float64", (100, 200), "F"),
        "few columns": array("float64", (2, 3), "F"),
        "one column": array("float64", (6, 1), "F"),
        "one": array("float32", ()),
        "none": array("float32", (0, 3)),
        "raw": [
            b"x" * 70_000,
            bytearray(b"y" * 70_000),
            {b"k" * 70_000: {b"s" * 70_000}},
        ],
        "edge": [array("int8", 65535), array("int8", 65536)],
    }


def described(value):
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    if isinstance(value, list):
        return [described(item) for item in value]
    if isinstance(value, numpy.ndarray):
        flags = value.flags
        order = flags.c_contiguous, flags.f_contiguous
        return type(value), value.dtype, value.shape, order, value.tobytes()
    return value


def arrays(value, path=""):
    if isinstance(value, numpy.ndarray):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from arrays(item, f"{path}[{key!r}]")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from arrays(item, f"{path}[{i}]")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("arrays") / "by_cpp.waybill"
    magic = int.from_bytes(importlib.util.MAGIC_NUMBER[:2], "little")
    run("write", path, *sys.version_info[:2], magic)
    return path


def test_bytes_of_cpp_are_those_of_dumps(written):
    assert written.read_bytes() == waybill.dumps(same_value())


def test_arrays_of_cpp_are_loaded(written):
    loaded = waybill.loads(written.read_bytes())

    assert described(loaded) == described(same_value())
    assert all(array.flags.writeable for _, array in arrays(loaded))
    assert described(waybill.load(written)) == described(loaded)


def test_large_arrays_of_cpp_are_mapped(written):
    loaded = waybill.load(written, mmap=True)

    assert described(loaded) == described(same_value())
    for _, array in arrays(loaded):
        is_mapped = not array.flags.writeable
        assert is_mapped == (array.nbytes >= 64 << 10)
        assert not is_mapped or array.ctypes.data % 64 == 0


def test_parts_of_cpp_are_opened(written):
    with waybill.open(written) as file:
        part = file.find("['large']['>c16']")

        assert (part.dtype, part.shape) == (numpy.dtype(">c16"), (1000, 100))
        assert part[7, :3].tolist() == same_value()["large"][">c16"][7, :3].tolist()


def test_arrays_of_cpp_are_verified(written):
    done = subprocess.run([COMMAND, "verify", written], capture_output=True)

    assert done.returncode == 0, done.stderr


def test_cpp_maps_what_python_saved(written, tmp_path):
    value = same_value()
    waybill.save(value, tmp_path / "by_python.waybill")

    told = run("read", tmp_path / "by_python.waybill")

    assert told.splitlines() == [line_of(path, array) for path, array in arrays(value)]
    assert run("read", written) == told


def line_of(path, array):
    shape = "".join(f"{extent}," for extent in array.shape)
    order = "C" if array.flags.c_contiguous else "F"
    name = array.dtype.name if array.dtype.isnative else array.dtype.str
    total = sum(array.tobytes())
    return f"{path} {name} ({shape}) {order} {array.nbytes} {total}"
