"""Finds out which serializers can do a piece of work at all, before it is timed.

Data has to come back equal, with the same types and the same sharing. What travels by
value has to work in a process that has imported nothing but the serializer: there,

    python benchmarks/able.py PEER PROBE

reads a payload from its standard input and prints what the probe, an expression of
`value`, gives.
"""

import dataclasses
import subprocess
import sys

import peers


def same(left, right, met=None):
    """Whether they are equal in types and content, and share what they share."""
    met = {} if met is None else met
    if type(left) is not type(right):
        return False
    if isinstance(left, (list, dict)):  # What programs tell apart by identity.
        if id(left) in met:
            return met[id(left)] is right
        met[id(left)] = right
    if isinstance(left, (list, tuple)):
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(same(*pair, met) for pair in pairs)
    if isinstance(left, dict):
        return same(tuple(left.items()), tuple(right.items()), met)
    if dataclasses.is_dataclass(left):
        return same(vars(left), vars(right), met)
    if hasattr(left, "dtype"):
        return left.dtype == right.dtype and bool((left == right).all())
    return left == right


def round_trips(dumps, loads, value):
    try:
        return same(value, loads(dumps(value)))
    except Exception:  # Peers have errors of every kind for what they cannot do.
        return False


def works_elsewhere(name, peer, case):
    """Whether the case works in a fresh process, when sent for the second time."""
    value = case.make()
    try:
        peer.dumps(value)
        data = bytes(peer.dumps(value))
    except Exception:
        return False
    there = subprocess.run(
        [sys.executable, __file__, name, case.probe], input=data, capture_output=True
    )
    return there.stdout.decode().strip() == repr(eval(case.probe, {"value": value}))


def demand_waybill(able, work):
    """The peers that are able, unless waybill is not among them."""
    if "waybill" not in able:
        raise AssertionError(f"{work}: waybill does not do it")
    return able


def that_send(candidates, case, work):
    return demand_waybill(
        {n: p for n, p in candidates.items() if works_elsewhere(n, p, case)}, work
    )


def that_carry(candidates, value, work):
    return demand_waybill(
        {n: p for n, p in candidates.items() if round_trips(p.dumps, p.loads, value)},
        work,
    )


if __name__ == "__main__":
    value = peers.load(sys.argv[1]).loads(sys.stdin.buffer.read())
    print(repr(eval(sys.argv[2], {"value": value})))
