"""Counts the instructions of the hot paths, and compares them with those on record.

    python benchmarks/instructions.py [--record] [NAME...]

Times differ between runs and between machines; instruction counts do not. callgrind of
valgrind counts those of the extension alone: those of the interpreter and of the C
library depend on their builds. Counts depend on the compiler and the version of Python,
so they are recorded for one of each; with others they are only printed.

instructions.json holds the counts, each with the reason for its size. A count that
differs by more than 10 % fails the run, also if it is lower: an outdated record guards
nothing. Runs of one build differ by 0.1 %; two builds of the same source differ by up
to 4 %, since the linker partitions the program anew to optimise it. --record writes new
counts and keeps the reasons.
"""

import argparse
import functools
import json
import os
import platform
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
RECORD = HERE / "instructions.json"
TOLERANCE = 0.10

#: Payloads of functions with unique code, which no cache holds.
NEW = """
for number in range(100):
    exec(f"def new(x): return json.dumps(x), collections.abc.Mapping, {number}", scope)
    new_data.append(dumps(scope.pop("new")))
"""

#: A NumPy array, which is sent by the reducers of two classes.
ARRAY = """
import numpy
array, buffers = numpy.arange(10.0), []
data_of_array = dumps(array)
data_out_of_band = dumps(array, buffer_callback=buffers.append)
def keep(buffer): pass
"""

#: The function of a script and the closure of SETUP, in a file with their source.
SOURCED = """
import pathlib, tempfile
text = (
    "def in_script(x): return json.dumps(x), collections.abc.Mapping\\n"
    "def outer(n):\\n def inner(x): return json, x * n\\n return inner\\n"
)
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, "script.py")
    file.write_text(text)
    exec(compile(text, str(file), "exec"), script)
    sourced, inner = script["in_script"], script["outer"](3)
    assert text[:30].encode() in dumps(sourced, source=True)
    for _ in range(5): dumps(sourced, source="auto"), dumps(inner, source="auto")
"""

#: {path: (call, number of calls, further setup)}, in the scope of SETUP.
PATHS = {
    "a function sent again": ("dumps(bare)", 200),
    "a function of a script sent again": ("dumps(in_script)", 200),
    "a closure sent again": ("dumps(closure)", 200),
    "a function sent again with source": (
        "dumps(sourced, source='auto')",
        200,
        SOURCED,
    ),
    "a closure sent again with source": ("dumps(inner, source='auto')", 200, SOURCED),
    "a task": ("dumps((bare, (1, 'part'), {'retries': 3}))", 200),
    "a prepared call": ("prepared.dumps({'x': 1, 'y': 2}, keep=('x',))", 200),
    "a prepared call with a date": ("prepared.dumps(dates[0])", 200),
    "a function received": ("loads(new_data.pop())", 100, NEW),
    "a function received again": ("loads(data_of_held)", 200),
    "a function received again, dropped": ("loads(data_of_gone)", 200),
    "a closure received": ("loads(data_of_closure)", 200),
    "a task received": ("loads(data_of_task)", 200),
    "a task received and dropped": ("task = loads(data_of_dropped); del task", 200),
    "a class": ("dumps(cls)", 100),
    "an instance and its class": ("dumps(made)", 100),
    "a class received": ("loads(data_of_class)", 100),
    "an instance": ("dumps(instances)", 20),
    "an instance received": ("loads(data_of_instances)", 20),
    "a date received": ("loads(data_of_dates)", 20),
    "a small message": ("dumps(message)", 200),
    "a small message received": ("loads(data_of_message)", 200),
    "plain records": ("dumps(records)", 20),
    "plain records received": ("loads(data_of_records)", 20),
    "objects of three classes received": ("loads(data_of_order)", 100),
    "numbers": ("dumps(numbers)", 20),
    "numbers received": ("loads(data_of_numbers)", 20),
    "an array": ("dumps(array)", 100, ARRAY),
    "an array received": ("loads(data_of_array)", 100, ARRAY),
    "an array out of band": ("dumps(array, buffer_callback=keep)", 100, ARRAY),
    "its payload received": ("loads(data_out_of_band, buffers=buffers)", 100, ARRAY),
}

SETUP = """
import collections, datetime, json, sys, waybill
from waybill import dumps, loads
class Point:
    def __init__(self, x, y): self.x, self.y = x, y
Point.__module__, Point.__qualname__ = "collections", "Point"
collections.Point = Point  # Found by name.
scope = {"__name__": "__main__", "json": json, "collections": collections}
exec("def bare(x): return json.dumps(x), collections.abc.Mapping", scope)
exec("def outer(n):\\n def inner(x): return json, x * n\\n return inner", scope)
bare, closure = scope["bare"], scope["outer"](3)
script = {**scope, "__package__": None, "__spec__": None}
exec("def in_script(x): return json.dumps(x), collections.abc.Mapping", script)
in_script = script["in_script"]
exec("def clean(row, *, keep=('x', 'y')): return [row[k] for k in keep]", script)
prepared = waybill.prepare(script["clean"])
data_of_dropped = dumps((script.pop("clean"), ({"x": 1, "y": 2},), {}))
exec("def held(x): return json.loads(x)", scope)
exec("class C:\\n a = 1\\n def f(self): return json, self.a\\n g = property(f)", scope)
cls = scope["C"]
made = cls()
made.x, made.y = 1, "two"
dates = [datetime.date(2024, 1, 1) + datetime.timedelta(i) for i in range(100)]
instances = [Point(i, str(i)) for i in range(100)]
message = {"id": 7, "name": "task", "args": [1, 2.5, None, True], "retries": {"max": 3}}
records = [{"id": i, "name": f"user {i}", "score": i / 2} for i in range(100)]
exec("class Item: pass\\nclass Customer: pass", scope)
exec("class Order:\\n def __init__(self): self.c, self.i = Customer(), [Item()]", scope)
order = scope["Order"]()
order.c.name, order.i[0].price = "name", 2.5
data_of_order = dumps(order)
exec("def gone(x): return json.dumps(x), collections.abc.Mapping", scope)
data_of_gone, data_of_instances = dumps(scope.pop("gone")), dumps(instances)
data_of_message, data_of_records = dumps(message), dumps(records)
data_of_held, data_of_closure = dumps(scope["held"]), dumps(closure)
data_of_class, data_of_dates = dumps(cls), dumps(dates)
data_of_task = dumps((scope["held"], (1, "part"), {"retries": 3}))
numbers = [f(i * 2**(i % 50)) for i in range(500) for f in (int, float)]
data_of_numbers = dumps(numbers)
for _ in range(5): dumps(bare), dumps(closure), dumps(cls), dumps(made)
for _ in range(5): loads(data_of_gone)
for _ in range(5): dumps(in_script), loads(data_of_dropped)
for _ in range(5): loads(data_of_order)
for _ in range(5): held = loads(data_of_held)
for _ in range(5): task = loads(data_of_task)
new_data = []
{before}
for _ in range(int(sys.argv[1])): {call}
"""


def environment():
    """The platform, compiler and Python, on which the counts depend."""
    cache = (HERE.parent / "build" / "CMakeCache.txt").read_text("utf-8")
    compiler = re.search(r"CMAKE_CXX_COMPILER:\w+=(.*)", cache)[1]
    version = subprocess.run(
        [compiler, "-dumpfullversion"], capture_output=True, text=True, check=True
    ).stdout.strip()
    python = platform.python_version()
    return f"{sysconfig.get_platform()}, gcc {version}, Python {python}"


@functools.cache
def instructions_of(call, times, before):
    """Instructions of the extension in a process that makes the call `times` times."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        program = SETUP.replace("{before}", before).replace("{call}", call)
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        command += ["--quiet", sys.executable, "-c", program, str(times)]
        variables = {**os.environ, "PYTHONHASHSEED": "0"}
        subprocess.run(command, check=True, env=variables)
        return own_cost(out.read_text("utf-8", "replace"))


def own_cost(profile):
    """The self cost of the extension's functions in a callgrind profile.

    Costs are lines "+12 34" or "* 34" below a line with their object, "ob=(id) path".
    The line after "calls=" is the cost of a callee, which is not counted.
    """
    names, total, is_own, is_call = {}, 0, False, False
    for line in profile.splitlines():
        if line.startswith("ob="):
            number, _, name = line[3:].partition(" ")
            is_own = "_core." in names.setdefault(number, name)
        elif line.startswith("cob="):
            number, _, name = line[4:].partition(" ")
            names.setdefault(number, name)
        elif line.startswith("calls="):
            is_call = True
        elif line[:1] in "+-*0123456789" and line:
            if is_own and not is_call:
                total += int(line.split()[1])
            is_call = False
    return total


def measure(name):
    """Instructions of one call, without those of a process that makes none."""
    call, times, *before = PATHS[name]
    before = "".join(before)
    total = instructions_of(call, times, before)
    return round((total - instructions_of("pass", 0, before)) / times)


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--record", action="store_true", help="write the new figures")
    options.add_argument("names", nargs="*", metavar="NAME")
    chosen = options.parse_args()

    record = json.loads(RECORD.read_text("utf-8"))
    here = environment()
    comparable = here == record["environment"]
    if not comparable and not chosen.record:
        print(f"recorded for {record['environment']}, but this is {here}")
    failed = False
    for name in chosen.names or PATHS:
        count = measure(name)
        row = record["paths"].setdefault(name, {"instructions": 0, "reason": ""})
        recorded = row["instructions"]
        change = count / recorded - 1 if recorded else 0
        is_off = comparable and abs(change) > TOLERANCE and not chosen.record
        failed = failed or is_off
        mark = "OFF" if is_off else "" if comparable else "?"
        print(f"{name:36} {count:10,} {change:+8.1%} {mark}".rstrip(), flush=True)
        if chosen.record:
            row["instructions"] = count
    if chosen.record:
        record["environment"] = here
        RECORD.write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    elif failed:
        sys.exit(
            "find out why, then benchmarks/instructions.py --record, with the reason"
        )


if __name__ == "__main__":
    main()
