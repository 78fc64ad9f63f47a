"""`waybill ls` and `waybill cat FILE PATH`: parts of a file, without Python."""

import json
import os
import subprocess
import sys

import pytest
import waybill
from command import BINARY, error_of, needs_binary, run
from waybill.security import SigningKey

numpy = pytest.importorskip("numpy")
pytestmark = needs_binary

LARGE = numpy.arange(20_000.0).reshape(100, 200)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file"
    waybill.save(
        {
            "weights": LARGE,
            "small": numpy.array([[1, 2], [3, 4]], dtype=">i4"),
            "config": {"lr": 0.1, "layers": [64, [1, [2, [3]]]]},
            "f": lambda x: x,
        },
        path,
    )
    return path


def listed(path, *arguments):
    done = run("ls", path, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return {part["path"]: part for part in json.loads(done.stdout)["parts"]}


def test_parts_are_listed_with_type_shape_and_size(path):
    parts = listed(path)

    assert list(parts)[:4] == ["", "['weights']", "['small']", "['config']"]
    assert parts[""]["type"] == "dict" and parts[""]["count"] == 4
    weights = parts["['weights']"]
    assert (weights["type"], weights["item"]) == ("numpy.ndarray", "float64")
    assert weights["shape"] == [100, 200] and weights["buffer"] == 0
    assert LARGE.nbytes < weights["size"] < LARGE.nbytes + 200
    assert parts["['small']"]["item"] == ">i4"
    assert parts["['config']['lr']"]["text"] == "0.1"
    assert parts["['f']"]["type"] == "function"


def test_people_get_a_line_for_each_part(path):
    lines = run("ls", path).stdout.decode().splitlines()

    assert len(lines) == 7
    size, *rest = lines[1].split()
    assert int(size) > LARGE.nbytes
    assert " ".join(rest) == "numpy.ndarray float64 (100, 200) ['weights']"
    assert lines[4].split() == ["9", "float", "['config']['lr']", "0.1"]
    assert not any(line != line.rstrip() for line in lines)


def test_depth_and_items_bound_what_is_shown(path):
    deep = listed(path, "--depth", "9")
    assert "['config']['layers'][1][1][1][0]" in deep
    assert list(listed(path, "--depth", "0")) == [""]
    few = listed(path, "--items", "1")
    assert list(few) == ["", "['weights']"] and few[""]["hidden"] == 3
    assert "3 not shown" in run("ls", path, "--items", "1").stdout.decode()


def test_what_is_shared_is_looked_into_once(tmp_path):
    value = []
    for _ in range(60):
        value = [value, value]
    waybill.save(value, tmp_path / "file")

    assert len(listed(tmp_path / "file", "--depth", "64")) == 1 + 2 * 60


def test_a_path_begins_below(path):
    assert list(listed(path, "['config']['layers']")) == [
        "['config']['layers']",
        "['config']['layers'][0]",
        "['config']['layers'][1]",
        "['config']['layers'][1][0]",
        "['config']['layers'][1][1]",
    ]


def test_a_path_that_leads_nowhere_is_an_error(path):
    for command in ("ls", "cat"):
        done = run(command, path, "['nothing']", "--json")
        error = error_of(done)
        assert done.returncode == 3
        assert error["detail"].startswith("nothing is at ['nothing']; the payload is a")
        assert error["offset"] > 0


def test_cat_writes_a_part(path):
    done = run("cat", path, "['config']", "--indent", "-1")

    assert json.loads(done.stdout) == {"lr": 0.1, "layers": [64, [1, [2, [3]]]]}


def test_cat_writes_arrays_as_lists(path):
    assert json.loads(run("cat", path, "['small']").stdout) == [[1, 2], [3, 4]]
    assert json.loads(run("cat", path, "['weights']").stdout) == LARGE.tolist()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", ">f8"])
def test_cat_writes_what_numpy_lists(name, order, tmp_path):
    array = numpy.array([[0, 1, 2], [3, 100, 5]], dtype=name, order=order)
    waybill.save([array], tmp_path / "file")

    assert json.loads(run("cat", tmp_path / "file", "[0]").stdout) == array.tolist()


def test_compressed_arrays_are_listed_and_written(tmp_path):
    waybill.save({"a": LARGE}, tmp_path / "file", compress="zstd")

    part = listed(tmp_path / "file")["['a']"]
    assert part["shape"] == [100, 200] and part["size"] < LARGE.nbytes / 2
    assert json.loads(run("cat", tmp_path / "file", "['a']").stdout) == LARGE.tolist()


def test_cat_refuses_what_is_no_data(path):
    done = run("cat", path, "['f']")

    assert done.returncode == 3
    assert b"a function, which is not plain data" in done.stderr


def test_an_altered_buffer_is_no_matter_but_for_who_writes_it(path):
    data = bytearray(path.read_bytes())
    row = waybill.inspect(bytes(data))["buffers"][0]
    data[row["offset"]] ^= 1
    path.write_bytes(data)

    assert run("ls", path).returncode == 0
    assert run("cat", path, "['config']").returncode == 0
    done = run("cat", path, "['weights']", "--json")
    assert done.returncode == 2
    assert error_of(done)["code"] == "digest_mismatch"


def test_signatures_are_checked_where_a_key_is_given(path, tmp_path):
    key = tmp_path / "key"
    key.write_text(SigningKey.generate().public_text + "\n")

    for command in (("ls", path), ("cat", path, "['config']")):
        done = run(*command, "--key", key)
        assert done.returncode == 4, done.stderr


def test_listing_reads_from_a_pipe(path):
    assert run("ls", "-", data=path.read_bytes()).stdout == run("ls", path).stdout


@pytest.mark.skipif(
    "WAYBILL_SANITIZED" in os.environ, reason="sanitizers take memory of their own"
)
def test_large_files_are_mapped(tmp_path):
    path = tmp_path / "file"
    waybill.save({"zeros": numpy.zeros(40_000_000), "n": 5}, path, durable=False)
    script = (
        "import os, resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    for command in (["ls", path], ["cat", path, "['n']"]):
        done = subprocess.run(
            [sys.executable, "-c", script, BINARY, *command],
            capture_output=True,
            text=True,
        )
        assert int(done.stdout) < 100_000, done.stderr  # KiB; the file has 320 MB.
    os.unlink(path)


def test_arrays_in_arrays_are_no_envelope():
    assert run("ls", "-", data=b"\x98" * 50).returncode == 2
