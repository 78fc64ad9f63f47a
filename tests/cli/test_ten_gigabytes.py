"""A file of 10 GB is mapped, told and read in part without reading all of it."""

import os
import shutil
import subprocess
import sys

import pytest
import waybill
from command import BINARY, needs_binary

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.long

GIGABYTES = 10
WRITE = f"""
import sys, numpy, waybill

large = numpy.zeros({GIGABYTES << 30} // 8)
small = numpy.arange(100_000.0)
obj = {{"large": large, "small": small, "f": lambda x: x + 1}}
waybill.save(obj, sys.argv[1], durable=False)
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "file"
    if shutil.disk_usage(path.parent).free < (GIGABYTES + 4) << 30:
        pytest.skip("no room on the disk")
    subprocess.run([sys.executable, "-c", WRITE, path], check=True)
    assert path.stat().st_size > GIGABYTES << 30
    yield path
    os.unlink(path)


def mebibytes_of(program, path):
    """What a process takes that runs this, and needs no page of the large array."""
    program = f"import sys, numpy, waybill\npath = sys.argv[1]\n{program}\n"
    program += (
        "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, path],
        check=True,
        capture_output=True,
        text=True,
    )
    return int(done.stdout) / 1024


def test_it_is_mapped_in_the_memory_of_its_code(path):
    taken = mebibytes_of(
        "obj = waybill.load(path, mmap=True)\n"
        'assert obj["f"](1) == 2 and obj["small"][-1] == 99_999\n'
        'assert obj["large"][-1] == 0 and obj["large"].nbytes == 10 << 30',
        path,
    )

    assert taken - mebibytes_of("", path) < 50


def test_a_part_of_it_is_read_in_as_little(path):
    taken = mebibytes_of(
        "with waybill.open(path) as file:\n"
        '    assert file["large"].shape == (10 << 27,)\n'
        '    assert file["large"][5 << 27 : (5 << 27) + 10].sum() == 0\n'
        '    assert file["small"].load()[7] == 7',
        path,
    )

    assert taken - mebibytes_of("", path) < 50


@needs_binary
def test_the_command_tells_and_verifies_it(path):
    told = subprocess.run(
        [BINARY, "ls", path], check=True, capture_output=True, text=True
    )
    assert "float64 (1342177280)" in told.stdout
    subprocess.run([BINARY, "verify", path], check=True, capture_output=True)


def test_a_byte_behind_four_gigabytes_that_was_changed_is_found(path):
    with open(path, "r+b") as file:
        file.seek(7 << 30)
        file.write(b"x")
    try:
        with pytest.raises(waybill.DecodeError, match="digest"):
            waybill.load(path, mmap=True, check="now")
    finally:
        with open(path, "r+b") as file:
            file.seek(7 << 30)
            file.write(b"\0")
    assert waybill.load(path, mmap=True, check="now")["small"][3] == 3
