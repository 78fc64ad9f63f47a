"""Streams from strangers are given up as soon as they are wrong, and walked once."""

import pickle

import pytest
import waybill
from refusals import refused_as

READERS = pytest.mark.parametrize(
    "load",
    [
        lambda read, **options: waybill.load(Stream(read), **options),
        lambda read, **options: waybill.Unpickler(Stream(read), **options).load(),
    ],
    ids=["load", "Unpickler"],
)


class Stream:
    def __init__(self, read):
        self.read = read

    def readline(self):
        raise AssertionError("no lines here")


class Endless:
    """A sender that never stops: `head`, then one byte for ever."""

    def __init__(self, head, byte):
        self.head, self.byte, self.given, self.calls = head, byte, 0, 0

    def read(self, size):
        self.calls += 1
        assert self.calls < 100_000
        given = self.head[self.given : self.given + size]
        given += self.byte * (size - len(given))
        self.given += size
        return given


def head_until(section):
    """An envelope up to where this section starts."""
    empty = waybill.dumps(None)
    return empty[: waybill.inspect(empty)["sections"][section]["offset"]]


@READERS
def test_containers_that_never_end_are_refused_at_the_depth_that_is_allowed(load):
    sender = Endless(head_until("debug_info"), b"\x91")

    with refused_as("limit_exceeded") as caught:
        load(sender.read, policy=waybill.DATA_ONLY)
    assert "max_depth" in str(caught.value)
    assert (
        sender.given < len(sender.head) + waybill.security.STRICT_LIMITS.max_depth + 10
    )


@READERS
@pytest.mark.parametrize(
    "head", [pickle.dumps([1] * 100), b"GET / HTTP/1.1\r\n", b"\xc1"]
)
def test_what_does_not_start_as_a_payload_is_refused_at_its_first_bytes(load, head):
    sender = Endless(head, b"\x00")

    with refused_as("not_an_envelope"):
        load(sender.read)
    assert sender.given < 10


@READERS
def test_claim_beyond_max_bytes_is_refused_at_max_bytes(load):
    sender = Endless(head_until("payload_length") + b"\xce\xff\xff\xff\xff", b"\x00")

    with refused_as("limit_exceeded") as caught:
        load(sender.read, limits=waybill.security.Limits(max_bytes=100_000))
    assert "max_bytes" in str(caught.value)
    assert sender.given == 100_001
