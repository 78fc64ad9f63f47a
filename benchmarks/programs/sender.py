"""A typical script that sends tasks:

    python sender.py SERIALIZER WORK FILE COUNT RUNS

If WORK ends in " prepared", the functions of its calls are prepared before.

Prints the seconds of one `dumps`: the minimum of RUNS runs over COUNT objects. Writes
the payloads to FILE, for worker.py.
"""

import collections
import datetime
import functools
import gc
import importlib
import json
import math
import os.path
import pickle
import sys
import time
from math import floor
from os.path import join

SCALE = 2.5


def clean(row, *, keep=("x", "y"), scale=1.0):
    return {name: row[name] * scale for name in keep if name in row}


def total(rows, start: float = 0.0) -> float:
    return start + sum(math.sqrt(row * row) for row in rows)


def counted(words, most=3):
    return collections.Counter(words).most_common(most)


def scaled(value):
    return floor(value * SCALE)


def summary(rows, digits=2):
    """Calls helpers of this script, and names that it imports."""
    values = [scaled(row["x"]) for row in rows]
    return {"path": join("out", "part"), "sum": round(sum(values), digits)}


def report(rows, indent=None):
    return json.dumps([summary(rows)], indent=indent)


def bare(path):
    return os.path.basename(path), collections.abc.Mapping


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def norm(self):
        return math.hypot(self.x, self.y)


class Customer:
    def __init__(self, name):
        self.name = name


class Item:
    def __init__(self, price):
        self.price = price

    def rounded(self):
        return floor(self.price)


class Order:
    limits = {"items": 100}

    def __init__(self, number):
        self.customer = Customer(f"customer {number}")
        self.items = [Item(number + 0.5), Item(2)]

    def total(self):
        return sum(item.rounded() for item in self.items)


ROWS = [{"x": number, "y": 2 * number} for number in range(3)]


def tasks(count):
    """Calls of three functions in turn, each with other arguments."""
    kinds = (
        lambda n: (clean, ({"x": n, "y": 1},), {"scale": 2.0}),
        lambda n: (total, ([n, 2, 3],), {}),
        lambda n: (counted, (["a", "b", str(n)],), {"most": 2}),
    )
    return [kinds[n % 3](n) for n in range(count)]


def tasks_with_helpers(count):
    kinds = (
        lambda n: (summary, (ROWS,), {"digits": n % 5}),
        lambda n: (report, (ROWS,), {"indent": n % 3}),
    )
    return [kinds[n % 2](n) for n in range(count)]


def functions(count):
    return [(total, report, counted)[n % 3] for n in range(count)]


def bare_functions(count):
    return [bare] * count


def instances(count):
    return [Point(n, n + 1) for n in range(count)]


def graphs(count):
    """Objects with attributes of two other classes."""
    return [Order(n) for n in range(count)]


def bill(number, discount=0.0):
    """Makes objects of classes of this script."""
    return Order(number).total() * (1 - discount)


def tasks_with_classes(count):
    return [(bill, (n,), {"discount": 0.1}) for n in range(count)]


def latest(rows, day, *, key="id"):
    return day, max(row[key] for row in rows)


def tasks_with_data(count):
    """Calls with a hundred rows and one date."""
    day = datetime.date(2026, 1, 1)
    rows = [
        {"id": n, "name": f"row {n}", "x": n / 3, "tags": ["a"]} for n in range(100)
    ]
    return [(latest, (rows, day), {"key": ("id", "x")[n % 2]}) for n in range(count)]


WORKS = {
    work.__name__: work
    for work in (
        tasks,
        tasks_with_helpers,
        functions,
        bare_functions,
        instances,
        graphs,
        tasks_with_classes,
        tasks_with_data,
    )
}


def dumps_each(serializer, objects):
    """A function that dumps all objects, and returns the payloads."""
    dumps = importlib.import_module(serializer).dumps
    return lambda: [dumps(item) for item in objects]


def dumps_prepared(serializer, calls):
    """A function that dumps all calls, with prepared functions if the serializer has
    them. msgpack packs the arguments alone, since it cannot send functions."""
    if serializer == "msgpack":
        pack = importlib.import_module(serializer).packb
        return lambda: [pack((args, kwargs)) for _, args, kwargs in calls]
    if serializer != "waybill":
        return dumps_each(serializer, calls)
    prepare = functools.cache(importlib.import_module(serializer).prepare)
    ready = [
        (prepare(function).dumps, args, kwargs) for function, args, kwargs in calls
    ]
    return lambda: [dumps(*args, **kwargs) for dumps, args, kwargs in ready]


def main(serializer, work, file, count, runs):
    name, _, how = work.partition(" ")
    dumps_all = dumps_prepared if how == "prepared" else dumps_each
    work = dumps_all(serializer, WORKS[name](count))
    best = math.inf
    for _ in range(runs):
        gc.collect()
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    print(best / count)
    with open(file, "wb") as out:
        pickle.dump(work(), out)


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:]))
