"""A client that sends tasks with Celery to a worker of another Python; run by
test_mixed_pythons.py, beside the module `project`."""

import dataclasses
import sys
import traceback

import waybill
from project import add, call

waybill.configure(source="auto")

FACTOR = 3


@dataclasses.dataclass
class Point:
    x: int

    def moved(self, by):
        return Point(self.x + by)


class Wrong(Exception):
    def __init__(self, code, *, part):
        super().__init__(f"{code} of {part}")
        self.code, self.part = code, part


def moved(point, by=1):
    return point.moved(by * FACTOR)


def raises(code):
    raise Wrong(code, part="all")  # Here it fails.


def version():
    return sys.version_info[:2]


def get(result):
    return result.get(timeout=30, interval=0.02)


def main():
    there = get(call.delay(version))
    for by in (1, 2, 1):
        point = get(call.delay(moved, Point(1), by))
        assert type(point) is Point and point.x == 1 + 3 * by
    chain = call.s(lambda: 20) | add.s(1) | add.s(21)
    assert get(chain.delay()) == 42
    made = get(call.delay(lambda n: lambda x: moved(Point(x)).x + n, 5))
    assert made(1) == 9
    assert get(call.delay(made, 2)) == 10
    try:
        get(call.delay(raises, 7))
    except Wrong as error:
        assert (error.code, error.part, str(error)) == (7, "all", "7 of all")
        shown = "".join(traceback.format_exception(error))
        assert "in raises" in shown and "# Here it fails." in shown, shown
    else:
        raise AssertionError("nothing was raised")
    print("from {}.{} to {}.{}".format(*version(), *there))


if __name__ == "__main__":
    main()
