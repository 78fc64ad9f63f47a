"""The plain data that the benchmarks send, by name."""

import dataclasses
import datetime
import random


@dataclasses.dataclass
class Point:
    x: float
    y: float
    label: str


def records(count=10_000):
    return [
        {"id": i, "name": f"user {i}", "score": i * 0.5, "tags": ["new", "paid"]}
        for i in range(count)
    ]


def ints(count=100_000):
    """Integers of all lengths up to 60 bits."""
    generator = random.Random(1)
    return [generator.getrandbits(1 + i % 60) for i in range(count)]


def floats(count=100_000):
    generator = random.Random(1)
    return [generator.random() for _ in range(count)]


def strings(count=50_000):
    return [f"value number {i}" for i in range(count)]


def byte_strings(count=50_000):
    return [i.to_bytes(4, "big") * 8 for i in range(count)]


def nested(depth=12):
    return [nested(depth - 1), nested(depth - 1)] if depth else [1, None, "leaf"]


def tuples(count=20_000):
    return [(i, i * 0.5, f"row {i}") for i in range(count)]


def shared(count=20_000):
    """Many references to few objects."""
    pool = [[i, f"node {i}"] for i in range(count // 20)]
    generator = random.Random(1)
    return [generator.choice(pool) for _ in range(count)]


def sets(count=10_000):
    return [{f"tag {i % 50}", f"user {i}", f"group {i % 7}"} for i in range(count)]


def dataclass_objects(count=10_000):
    return [Point(i * 0.5, i * 2.0, f"point {i}") for i in range(count)]


def datetimes(count=10_000):
    start = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    return [start + datetime.timedelta(seconds=37 * i) for i in range(count)]


def big_dict(count=100_000):
    return {f"key {i}": i for i in range(count)}


def message():
    return {
        "id": 7,
        "name": "task",
        "args": [1, 2.5, None, True],
        "retries": {"max": 3},
    }


DATA = {
    "records": records,
    "ints": ints,
    "floats": floats,
    "strings": strings,
    "bytes": byte_strings,
    "nested lists": nested,
    "tuples": tuples,
    "shared lists": shared,
    "sets": sets,
    "dataclasses": dataclass_objects,
    "datetimes": datetimes,
    "big dict": big_dict,
    "small message": message,
}


def objects(count):
    """`count` objects: a list of lists of an int, a float and a str."""
    whole = [[i, i * 0.5, f"object {i}"] for i in range((count - 1) // 4)]
    return whole + list(range((count - 1) % 4))
