"""Files of 10 GB: written in little memory, and mapped, told and read in part without
reading all. They have holes: what is written that is zero is left out."""

import os
import subprocess
import sys

import pytest
import waybill

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.long

GIGABYTES = 10
WRITE = f"""
import sys, numpy, waybill

class WithHoles:
    def __init__(self, path): self.file = open(path, "wb")
    def write(self, data):
        if len(data) > 1 << 20 and not numpy.frombuffer(data, "u1")[:: 1 << 12].any():
            self.file.seek(len(data), 1)
        else:
            self.file.write(data)
        return len(data)
    def flush(self): self.file.flush()

large = numpy.zeros({GIGABYTES << 30} // 8)
small = numpy.arange(100_000.0)
out = WithHoles(sys.argv[1])
waybill.dump({{"large": large, "small": small, "f": lambda x: x + 1}}, out)
out.file.close()
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "file"
    subprocess.run([sys.executable, "-c", WRITE, path], check=True)
    assert path.stat().st_size > GIGABYTES << 30
    assert path.stat().st_blocks * 512 < 100 << 20
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


def test_what_the_command_tells_and_verifies(path):
    waybill_command = [sys.executable, "-m", "waybill"]
    told = subprocess.run(
        [*waybill_command, "ls", path], check=True, capture_output=True, text=True
    )
    assert "float64 (1342177280,)" in told.stdout
    subprocess.run([*waybill_command, "verify", path], check=True, capture_output=True)


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
