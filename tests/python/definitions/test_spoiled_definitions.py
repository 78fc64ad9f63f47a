"""Spoiled payloads with definitions are refused or loaded; they never crash."""

import pytest
import repeats
import waybill
from program_graphs import has_definitions
from resealing import resealed, sealed, spoil
from sources import define

PROGRAMS = {
    "cycle": "def f(): return g, held\ndef g(): return f, held\nheld = {'a': [1]}\n"
    "root = [f, held, g]",
    "classes": "class A:\n kept = []\n def m(self): return B\n"
    "class B(A):\n @classmethod\n def k(cls): return cls, A, f\n"
    "def f(x=A, *, y=1): return x, B\nroot = [B(), f, B.k, A.kept]",
    "chain": "def a(): return b\ndef b(): return c\ndef c(): return held\nheld = [1]\n"
    "root = {'a': a, 'b': [b, b], 'c': c}",
    "twins": "def f(): return held\nheld = 1\n"
    "g = type(f)(f.__code__, {'__name__': __name__, 'held': 2})\n"
    "root = [f, g]",
}
each_program = pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)


def payload_of(source):
    data = waybill.dumps(define(source).root)
    assert has_definitions(data)
    return data


@each_program
@pytest.mark.parametrize("way, count", [("cut", 1), ("flip", 3)])
def test_payload_that_is_cut_or_changed_is_refused(source, way, count, tmp_path):
    data = payload_of(source)

    answer = spoil(way, data, tmp_path)

    assert answer["wrong"] == []
    assert sum(answer["tally"].values()) == count * len(data)
    if way == "cut":
        assert list(answer["tally"]) == ["DecodeError truncated"]


@each_program
def test_changed_payload_with_a_digest_that_fits_does_not_crash(source, tmp_path):
    answer = spoil("reseal", payload_of(source), tmp_path)

    assert answer["wrong"] == []
    assert answer["tally"]["DecodeError malformed"] > repeats.times(50)
    assert answer["tally"]["loaded"] > repeats.times(10)


@each_program
def test_no_number_in_place_of_another_crashes(source):
    """Each small number in the payload becomes every other: counts and references."""
    data = payload_of(source)
    section = waybill.inspect(data)["sections"]["payload"]
    inside = range(section["offset"], section["offset"] + section["size"])

    loaded = refused = 0
    for position in (at for at in inside if data[at] < 16):
        for number in {*range(16), 0x7F, 0x90, 0xC0, 0xFF} - {data[position]}:
            body = data[:position] + bytes([number]) + data[position + 1 :]
            try:
                waybill.loads(resealed(body))
                loaded += 1
            except waybill.Error:
                refused += 1
            except (TypeError, ValueError, AttributeError):
                loaded += 1  # A sound payload that asks for what cannot be made.

    assert loaded > 10
    assert refused > 100


def resealed_with(data, old, new):
    assert data.count(old) == 1
    body = data.replace(old, new)
    return resealed(body)


HEAD = b"\x94\xd4\x00\x18"  # Four parts, of kDefinitions.


COUNTS = {
    **{f"{n} positions": (n, 0x93) for n in (0, 1, 5, 0x7F, 0xC0, 0xFF)},
    **{f"{n} definitions": (2, 0x90 | n) for n in (0, 1, 2, 4, 15)},
}


@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)
def test_another_count_of_positions_or_definitions_is_refused(counts):
    data = payload_of(PROGRAMS["chain"])
    start = data.index(HEAD) + len(HEAD)
    assert data[start : start + 2] == b"\x02\x93"

    spoiled = resealed_with(data, data[start - 4 : start + 2], HEAD + bytes(counts))

    with pytest.raises(waybill.DecodeError):
        waybill.loads(spoiled)


def test_definitions_inside_a_value_are_refused():
    assert waybill.loads(sealed(b"\x91\x01")) == [1]
    with pytest.raises(waybill.DecodeError):
        waybill.loads(sealed(b"\x91" + HEAD + b"\x00\x90\x01"))


@pytest.mark.parametrize("definition", [b"\x01", b"\x90", b"\xa1f", b"\xc0", b"\x80"])
def test_any_object_may_stand_among_definitions(definition):
    assert waybill.loads(sealed(HEAD + b"\x00\x91" + definition + b"\x01")) == 1


@pytest.mark.parametrize("count", [b"\xff", b"\xc0", b"\xcf" + b"\xff" * 8, b"\x01"])
def test_count_that_is_none_is_refused(count):
    with pytest.raises(waybill.DecodeError):
        waybill.loads(sealed(HEAD + count + b"\x90\x01"))
