"""Finds out which serializers can do the work of a row, before it is timed.

A round trip of data must give an equal object, with the same types and the same shared
references. A callable that is sent by value must work in a process that has imported
only the serializer: there,

    python benchmarks/capability.py PEER PROBE

reads a payload from its standard input and prints the result of the probe, an
expression of `value`.
"""

import dataclasses
import subprocess
import sys

import peers


def is_same(left, right, visited=None):
    """Whether both are equal in types, content and shared references."""
    visited = {} if visited is None else visited
    if type(left) is not type(right):
        return False
    if isinstance(left, (list, dict)):  # Mutable, so that their identity matters.
        if id(left) in visited:
            return visited[id(left)] is right
        visited[id(left)] = right
    if isinstance(left, (list, tuple)):
        if len(left) != len(right):
            return False
        pairs = zip(left, right, strict=True)
        return all(is_same(*pair, visited) for pair in pairs)
    if isinstance(left, dict):
        return is_same(tuple(left.items()), tuple(right.items()), visited)
    if dataclasses.is_dataclass(left):
        return is_same(vars(left), vars(right), visited)
    if hasattr(left, "dtype"):
        return left.dtype == right.dtype and bool((left == right).all())
    return left == right


def round_trips(dumps, loads, value):
    try:
        return is_same(value, loads(dumps(value)))
    except Exception:  # Peers raise errors of every type.
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


def require_waybill(peers, work):
    """Returns the peers. Raises AssertionError unless waybill is one of them."""
    if "waybill" not in peers:
        raise AssertionError(f"{work}: waybill cannot do it")
    return peers


def find_senders(candidates, case, work):
    return require_waybill(
        {n: p for n, p in candidates.items() if works_elsewhere(n, p, case)}, work
    )


def find_carriers(candidates, value, work):
    return require_waybill(
        {n: p for n, p in candidates.items() if round_trips(p.dumps, p.loads, value)},
        work,
    )


if __name__ == "__main__":
    value = peers.load(sys.argv[1]).loads(sys.stdin.buffer.read())
    print(repr(eval(sys.argv[2], {"value": value})))
