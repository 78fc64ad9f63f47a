"""A script that sends tasks with Dask to workers of another Python; run by
test_mixed_pythons.py with the address of the scheduler."""

import dataclasses
import enum
import sys
import traceback
import typing

import dask
import distributed
import waybill
import waybill.integrations.dask

RATE = 2


class Point:
    """A class of the script."""

    made = 0

    def __init__(self, x):
        self.x = x
        type(self).made += 1

    def moved(self, by):
        return type(self)(self.x + by)


class Point3(Point):
    def moved(self, by):
        return super().moved(scaled(by))


@dataclasses.dataclass(order=True, slots=True)
class Sample:
    name: str
    values: list[float] = dataclasses.field(default_factory=list)

    def mean(self) -> float:
        return sum(self.values) / len(self.values)


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Pair(typing.NamedTuple):
    left: Point
    right: Color = Color.BLUE


class Wrong(Exception):
    def __init__(self, code, *, part):
        super().__init__(f"{code} of {part}")
        self.code, self.part = code, part


def scaled(x):
    return x * RATE


def moved(point, by):
    return point.moved(by)


def packed(point):
    return {"pair": Pair(point), "sample": Sample("s", [1, 2]), "colors": list(Color)}


def raises(code):
    try:
        return 1 // 0
    except ZeroDivisionError as error:
        raise Wrong(code, part="all") from error  # Here it fails.


def version():
    return sys.version_info[:2]


def check_results(client):
    for by in (1, 2, 1):  # The same function again, with what it is given new.
        point = client.submit(moved, Point(1), by, pure=False).result()
        assert type(point) is Point and point.x == 1 + by
    points = client.gather(client.map(lambda n: Point3(n).moved(1), range(20)))
    assert [point.x for point in points] == [n + 2 for n in range(20)]
    assert {type(point) for point in points} == {Point3}
    told = client.submit(packed, Point(4)).result()
    assert type(told["pair"]) is Pair and type(told["pair"].left) is Point
    assert told["pair"].right is Color.BLUE and told["colors"] == list(Color)
    assert told["sample"] == Sample("s", [1, 2]) and told["sample"].mean() == 1.5


def check_futures(client):
    first = client.submit(Point, 5)
    second = client.submit(moved, first, 10)
    third = client.submit(lambda *points: [p.x for p in points], first, second)
    assert third.result() == [5, 15]
    assert type(client.submit(lambda p: p, client.scatter(Point(3))).result()) is Point
    kind = client.submit(lambda a, b: type(a) is type(b), first, Point(1))
    assert kind.result() is True
    graph = [dask.delayed(moved)(dask.delayed(Point)(n), 1) for n in range(3)]
    total = dask.delayed(lambda points: sum(point.x for point in points))(graph)
    assert client.compute(total).result() == 6


def check_functions(client):
    made = client.submit(lambda n: lambda x: scaled(x) + n, 3).result()
    assert made(2) == 7
    assert client.submit(made, 5).result() == 13  # What came back goes again.


def check_errors(client):
    try:
        client.submit(raises, 7).result()
    except Wrong as error:
        assert (error.code, error.part, str(error)) == (7, "all", "7 of all")
        shown = "".join(traceback.format_exception(error))
        assert "in raises" in shown and "# Here it fails." in shown, shown
    else:
        raise AssertionError("nothing was raised")


def check_state(client):
    """What the script changes takes effect."""
    global RATE
    RATE = 10
    assert client.submit(scaled, 3, pure=False).result() == 30
    Point.moved = lambda self, by: type(self)(self.x - by)
    assert client.submit(moved, Point(5), 1, pure=False).result().x == 4


def main(address):
    with distributed.Client(address) as client:
        waybill.integrations.dask.install(client, source="auto")
        client.wait_for_workers(1)
        there = client.submit(version).result()
        check_results(client)
        check_futures(client)
        check_functions(client)
        check_errors(client)
        check_state(client)
        print("from {}.{} to {}.{}".format(*version(), *there))


if __name__ == "__main__":
    main(sys.argv[1])
