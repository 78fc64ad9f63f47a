"""Spoiled payloads give an error, or the object that was sent; never a crash."""

import golden_files
import pytest
import repeats
import waybill
from mutation_worker import MASKS, RESEALED_STEP
from refusals import refused_as
from resealing import DIGEST_SIZE, resealed, sealed, spoil

OWN = golden_files.own()
OWN_HEADS = golden_files.own_without_buffers()


@pytest.mark.parametrize("way, count", [("cut", 1), ("flip", 3)])
@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_payload_that_is_cut_or_changed_is_refused(path, way, count, tmp_path):
    answer = spoil(way, path, tmp_path)

    assert answer["wrong"] == []
    assert sum(answer["tally"].values()) == count * path.stat().st_size
    if way == "cut":
        assert list(answer["tally"]) == ["DecodeError truncated"]


@pytest.mark.parametrize("path", OWN_HEADS, ids=lambda path: path.stem)
def test_changed_payload_with_a_digest_that_fits_does_not_crash(path, tmp_path):
    answer = spoil("reseal", path, tmp_path)

    assert answer["wrong"] == []
    changed = path.stat().st_size - DIGEST_SIZE - 1
    assert sum(answer["tally"].values()) >= len(MASKS) * changed // RESEALED_STEP


@pytest.mark.long
@pytest.mark.parametrize("path", OWN_HEADS, ids=lambda path: path.stem)
def test_no_value_of_any_byte_crashes_behind_the_digest(path, tmp_path):
    # Millions of payloads: the largest has 14 kB.
    answer = spoil("reseal-all", path, tmp_path, seconds=3600)

    assert answer["wrong"] == []


@pytest.mark.long
@pytest.mark.parametrize("path", OWN_HEADS, ids=lambda path: path.stem)
def test_no_spliced_payload_crashes_behind_the_digest(path, tmp_path):
    answer = spoil("splice", path, tmp_path)

    assert answer["wrong"] == []


def many_kinds_of_code(path):
    """Writes a payload of code with loops, handlers, cells and more than 255 names."""
    names = "\n".join(f"    use(name{i}.part)" for i in range(200))
    source = f"""
def code(first, *rest, key=1, **others):
    def inner(x):
        nonlocal first
        first = x
        return [first + y for y in rest if y > x]
    try:
        with open(first) as file:
            for number, line in enumerate(file):
                while line and number < 10:
                    line = line[key:-1]
                yield f"{{line!r:>5}}", lambda: (line, number)
    except (OSError, ValueError) as error:
        raise RuntimeError(others) from error
    finally:
        del rest
{names}
"""
    scope = {}
    exec(compile(source, "many.py", "exec"), scope)
    path.write_bytes(waybill.dumps(scope["code"].__code__))
    return path


def test_changed_code_with_a_digest_that_fits_does_not_crash(tmp_path):
    answer = spoil("code", many_kinds_of_code(tmp_path / "code.waybill"), tmp_path)

    assert answer["wrong"] == []
    assert answer["tally"]["DecodeError malformed"] > repeats.times(1000)
    assert answer["tally"]["DecodeError unknown_tag"] > repeats.times(100)
    assert answer["tally"]["code objects"] > repeats.times(1000)


def test_resealing_is_what_sealing_does():
    data = waybill.dumps([1, "two"])
    at = waybill.inspect(data)["sections"]["digest"]["offset"]

    assert resealed(data[:at] + bytes(10) + data[at + 10 :], at) == data


@pytest.mark.parametrize(
    "data",
    [
        b"\xdd\xff\xff\xff\xff",
        b"\x99\xdd\xff\xff\xff\xff",
        b"\x99\x95\xa2wb\x01\x03\x0b\xcd\r\xa7\xdf\xff\xff\xff\xff",
        b"\x99\x95\xa2wb\x01\x03\x0b\xcd\r\xa7\x80\xdd\xff\xff\xff\xff",
        b"\x99\x95\xa2wb\x01\x03\x0b\xcd\r\xa7\x80\x90\x90\xc6\xff\xff\xff\xff",
    ],
)
def test_count_beyond_the_input_reserves_nothing(data):
    with pytest.raises(waybill.DecodeError):
        waybill.loads(data + bytes(100))


def test_payload_written_by_hand_loads():
    assert waybill.loads(sealed(b"\x92\x01\x02")) == [1, 2]


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b"\xd4\x01\x00", "bad_reference"),
        (b"\xd4\x02\x00", "undeclared"),
        (b"\x92\xd4\x00\x63\x01", "unknown_tag"),
        (b"\xd4\x63\x00", "unknown_tag"),
        (b"\xd4\x06\x63", "unknown_tag"),
        (b"\x95\xd4\x00\x0a\x00\xc0\x90\x80", "undeclared"),
        (b"\xc1", "malformed"),
        (b"\xa2\xc3\x28", "malformed"),
    ],
)
def test_bad_payload_is_named(payload, code):
    with refused_as(code):
        waybill.loads(sealed(payload))


def test_buffers_are_numbered_in_their_order():
    first, second = b"\x93\xd4\x00\x12\x00\xc3", b"\x93\xd4\x00\x12\x01\xc3"
    buffers = [b"a", b"b"]

    arrived = waybill.loads(sealed(b"\x92" + first + second), buffers=buffers)

    assert arrived == [b"a", b"b"]
    for payload in second, b"\x92" + first + first:
        with refused_as("malformed", match="does not follow that of the one before"):
            waybill.loads(sealed(payload), buffers=buffers)


def test_unhashable_key_is_an_error_of_the_payload():
    with pytest.raises(waybill.DecodeError):
        waybill.loads(sealed(b"\x81\x90\x01"))


def test_unhashable_set_item_is_an_error_of_the_payload():
    with pytest.raises(waybill.DecodeError):
        waybill.loads(sealed(b"\x92\xd4\x00\x02\x90"))


def test_equal_keys_in_one_dict_are_an_error_or_the_last_one_wins():
    try:
        value = waybill.loads(sealed(b"\x82\x01\x02\x01\x03"))
    except waybill.DecodeError:
        return

    assert value == {1: 3}


@pytest.mark.slow
def test_ten_million_open_brackets_are_no_crash():
    with pytest.raises(waybill.DecodeError):
        waybill.loads(sealed(b"\x91" * 10_000_000))
