"""A script that talks over a connection of multiprocessing to a process of another
Python; run by test_mixed_pythons.py, with the port where that listens."""

import enum
import sys
from multiprocessing.connection import Client

import waybill
import waybill.integrations.multiprocessing

FACTOR = 3


class Point:
    def __init__(self, x):
        self.x = x

    def moved(self, by):
        return Point(self.x + by)


class Color(enum.Enum):
    RED = 1


class Wrong(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


def moved(point, by=1):
    return point.moved(by * FACTOR)


def raises(code):
    raise Wrong(code)


def asked(connection, *call):
    """What the other side makes of a call; classes of the script go by value."""
    connection.send(waybill.pickled(call))
    answer = connection.recv()
    if isinstance(answer, BaseException):
        raise answer
    return answer


def main(port):
    waybill.integrations.multiprocessing.install(source="auto")
    with Client(("127.0.0.1", port), authkey=b"key") as connection:
        there = connection.recv()
        for by in (1, 2, 1):
            point = asked(connection, moved, Point(1), by)
            assert type(point) is Point and point.x == 1 + 3 * by
        assert asked(connection, lambda: [Color.RED, Point]) == [Color.RED, Point]
        made = asked(connection, lambda n: lambda x: moved(Point(x)).x + n, 5)
        assert made(1) == 9
        assert asked(connection, made, 2) == 10
        try:
            asked(connection, raises, 7)
        except Wrong as error:
            assert error.code == 7
        else:
            raise AssertionError("nothing was raised")
        connection.send(lambda: FACTOR)  # By itself, since no main has it.
        assert connection.recv()() == FACTOR
        connection.send(None)
    print("from {}.{} to {}.{}".format(*sys.version_info[:2], *there))


if __name__ == "__main__":
    main(int(sys.argv[1]))
