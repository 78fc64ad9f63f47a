"""Payloads for tests of policies, of honest and of hostile senders."""

import subprocess
import sys

import pytest
import waybill
from mutation_worker import DIGEST_SIZE, resealed


def refused(obj, policy, **options):
    """The message of the PolicyError with which an object is refused."""
    with pytest.raises(waybill.PolicyError) as caught:
        waybill.loads(waybill.dumps(obj), policy=policy, **options)
    assert caught.value.code == "refused"
    return str(caught.value)


def round_trip_under(obj, policy):
    """The object after a round trip under a policy that allows it."""
    return waybill.loads(waybill.dumps(obj), policy=policy)


class Reduced:
    """Travels as a call."""

    def __init__(self, *reduced):
        self.reduced = reduced

    def __reduce__(self):
        return self.reduced


def payload_of(node, module_name, path):
    """An envelope with a name, as a hostile sender would write it.

    `node(tag, found)` returns the value of the payload: `tag(number)` makes the tag of
    a node, and `found` is the node that looks the name up.
    """
    msgpack = pytest.importorskip("msgpack")
    pytest.importorskip("xxhash")

    def tag(number):
        return msgpack.ExtType(0, bytes([number]))

    value = node(tag, [tag(7), msgpack.ExtType(2, b"\x00"), path])
    packed = msgpack.packb(
        [
            ["wb", 1, 3, 11, 0],
            {0: [[module_name, 0, None, None, None, 0]]},
            [],
            [],
            len(msgpack.packb(value)),
            value,
            {},
            bytes(8),
            None,
        ]
    )
    return resealed(packed, len(packed) - DIGEST_SIZE - 1)


def payload_of_global(module_name, path):
    return payload_of(lambda _, found: found, module_name, path)


def payload_of_call(module_name, path, *arguments):
    return payload_of(
        lambda tag, found: [tag(14), found, arguments, None, [], {}], module_name, path
    )


SECONDS = 60  # Any limit would do: an attack that succeeds takes years.


def output_of_loading(data, policy="waybill.DATA_ONLY"):
    """What another process prints about a payload. Fails if loading takes too long."""
    program = (
        "import sys, waybill\n"
        "data = sys.stdin.buffer.read()\n"
        f"try: print(len(waybill.loads(data, policy={policy})))\n"
        "except waybill.DecodeError as error: print(error.code, error)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        input=data,
        capture_output=True,
        check=True,
        timeout=SECONDS,
    )
    return result.stdout.decode()
