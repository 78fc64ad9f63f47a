"""`waybill salvage`: what is left of a file that was cut or altered."""

import contextlib
import json
import os
import subprocess

import pytest
import waybill
from command import BINARY, error_of, needs_binary, run
from refusals import refused_as
from terminals import open_terminal

numpy = pytest.importorskip("numpy")
pytestmark = needs_binary

FIRST = numpy.arange(20_000.0)
LAST = numpy.arange(30_000.0)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file"
    waybill.save({"first": FIRST, "n": 5, "rest": {"last": LAST, "raw": b"x"}}, path)
    return path


def cut(path, missing):
    os.truncate(path, os.path.getsize(path) - missing)


def states(path):
    done = run("salvage", path, "--json")
    told = json.loads(done.stdout)
    return done.returncode, told, {p["path"]: p["state"] for p in told["parts"]}


def test_a_whole_file_is_whole(path):
    code, told, parts = states(path)

    assert code == 0 and told["ok"]
    assert (told["missing_bytes"], told["buffers"], told["lost_buffers"]) == (0, 2, 0)
    assert set(parts.values()) == {"whole"}


@pytest.mark.parametrize("missing", [9, 1000, 30_000 * 8])
def test_parts_before_the_cut_are_whole(path, missing):
    cut(path, missing)

    code, told, parts = states(path)

    assert code == 2 and not told["ok"]
    assert (told["missing_bytes"], told["lost_buffers"]) == (missing, 1)
    assert parts == {
        "": "lost",
        "['first']": "whole",
        "['n']": "whole",
        "['rest']": "lost",
        "['rest']['last']": "lost",
        "['rest']['raw']": "whole",
    }
    text = run("salvage", path).stdout.decode()
    assert text.startswith(f"1 of 2 buffers are whole, {missing} bytes are missing")
    assert "lost" in text and "whole" in text


def test_only_the_trailer_may_be_missing(path):
    cut(path, 3)

    code, told, parts = states(path)

    assert code == 2 and told["missing_bytes"] == 3
    assert set(parts.values()) == {"whole"}


def test_an_altered_buffer_is_lost(path):
    data = bytearray(path.read_bytes())
    data[waybill.inspect(bytes(data))["buffers"][0]["offset"]] ^= 1
    path.write_bytes(data)

    code, told, parts = states(path)

    assert code == 2 and told["missing_bytes"] == 0
    assert parts["['first']"] == "lost" and parts["['rest']['last']"] == "whole"


def test_a_file_without_its_head_is_told(path):
    data = path.read_bytes()
    path.write_bytes(data[:100])

    done = run("salvage", path, "--json")

    assert done.returncode == 2
    assert error_of(done)["code"] == "truncated"


def test_what_is_whole_is_loaded_from_a_damaged_file(path):
    cut(path, 1000)
    with pytest.raises(waybill.DecodeError, match="truncated"):
        waybill.open(path)

    with waybill.open(path, damaged=True) as file:
        assert (file["first"].load() == FIRST).all()
        assert file["rest"]["raw"].load() == b"x"
        assert file["rest"]["last"].shape == LAST.shape
        for part in (file["rest"]["last"], file["rest"], file):
            with refused_as("truncated", match="ends before or in stored buffer"):
                part.load()


def test_a_whole_file_is_no_damaged_one(path):
    with waybill.open(path, damaged=True) as file:
        assert (file["rest"]["last"].load() == LAST).all()
    with waybill.open(path, damaged=True, check="now") as file:
        assert file["n"].load() == 5
    cut(path, 1000)
    with pytest.raises(waybill.DecodeError, match="digest_mismatch"):
        waybill.open(path, damaged=True, check="now")


def test_each_length_of_a_small_file_is_opened_or_refused(tmp_path):
    path = tmp_path / "file"
    value = {"a": numpy.arange(8192.0), "n": [1, 2]}
    waybill.save(value, path)
    data = path.read_bytes()
    row = waybill.inspect(data)["buffers"][0]
    head = row["offset"] - row["offset"] % 64
    for size in (*range(0, head + 130), *range(len(data) - 80, len(data) + 1)):
        path.write_bytes(data[:size])
        try:
            file = waybill.open(path, damaged=True)
        except waybill.DecodeError as error:
            assert size < row["offset"] and error.code == "truncated" or size == 0
            continue
        with file:
            assert file["n"].load() == [1, 2]
            is_there = size >= row["offset"] + row["length"]
            with (
                contextlib.nullcontext()
                if is_there
                else pytest.raises(waybill.DecodeError)
            ):
                assert (file["a"].load() == value["a"]).all()


def test_no_line_is_shown_for_what_is_quick(path):
    ours, theirs = open_terminal()
    for command in ("verify", "salvage"):
        subprocess.run([BINARY, command, path], stderr=theirs, check=True)
    os.set_blocking(ours, False)
    with pytest.raises(BlockingIOError):
        os.read(ours, 100)
    os.close(ours)
    os.close(theirs)
