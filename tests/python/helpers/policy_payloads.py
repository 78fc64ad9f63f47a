"""Payloads for policies, as friends and as hostile senders write them."""

import subprocess
import sys

import pytest
import waybill
from mutation_worker import DIGEST_SIZE, resealed


def refused(obj, policy, **options):
    """The words with which an object is not let in."""
    with pytest.raises(waybill.PolicyError) as caught:
        waybill.loads(waybill.dumps(obj), policy=policy, **options)
    assert caught.value.code == "refused"
    return str(caught.value)


def arrives(obj, policy):
    return waybill.loads(waybill.dumps(obj), policy=policy)


class Reduced:
    """Travels as a call."""

    def __init__(self, *reduced):
        self.reduced = reduced

    def __reduce__(self):
        return self.reduced


def payload_of(node, module_name, path):
    """An envelope with what `node` makes of a name, as a hostile sender would write it.

    `node` takes what makes the tag of a node, and the node that looks the name up.
    """
    msgpack = pytest.importorskip("msgpack")
    pytest.importorskip("xxhash")

    def tag(number):
        return msgpack.ExtType(0, bytes([number]))

    packed = msgpack.packb(
        [
            ["wb", 1, 3, 11, 0],
            {0: [[module_name, 0, None, None, None, 0]]},
            [],
            [],
            node(tag, [tag(7), msgpack.ExtType(2, b"\x00"), path]),
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


SECONDS = 60  # No time is asserted: what explodes takes years.


def words_of_loading(data, policy="waybill.DATA_ONLY"):
    """What a process of its own says of a payload, which must not keep it busy."""
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
