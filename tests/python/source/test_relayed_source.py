"""What came as source, and goes through several processes of one version, can go back
to the version that sent it."""

import subprocess
import sys

import pytest
from other_python import as_of_another_python

SCRIPT = """
import dataclasses, enum, sys, typing, waybill

class Color(enum.Enum):
    RED = 1

class Pair(typing.NamedTuple):
    left: int
    right: Color = Color.RED

@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: list = dataclasses.field(default_factory=list)

def adder(n):
    def add(x):
        return x + n
    return add

def task(x):
    return Pair(x), Point(x), adder(x)

sys.stdout.buffer.write(waybill.dumps(task, source=True))
"""
RELAY = """
import sys, waybill
task = waybill.loads(sys.stdin.buffer.read())
sys.stdout.buffer.write(waybill.dumps(task, source=True))
"""
WORKER = """
import sys, waybill
task = waybill.loads(sys.stdin.buffer.read())
sys.stdout.buffer.write(waybill.dumps([task(1), task(2)], source=True))
"""
READER = """
import sys, waybill
(pair, point, add), (_, other, _) = waybill.loads(sys.stdin.buffer.read())
print(pair.left, pair.right.name, point, point < other, type(point)(3).y, add(4))
"""


def run(folder, program, given=b""):
    """What a program writes, whose file is gone when the next one runs."""
    path = folder / "program.py"
    path.write_text(program)
    done = subprocess.run([sys.executable, path], input=given, capture_output=True)
    path.unlink()
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("relays", [0, 1, 2])
def test_results_go_back_to_the_python_that_sent_their_classes(tmp_path, relays):
    data = as_of_another_python(run(tmp_path, SCRIPT))
    for _ in range(relays):
        data = run(tmp_path, RELAY, data)

    result = as_of_another_python(run(tmp_path, WORKER, data))

    told = run(tmp_path, READER, result).decode()
    assert told == "1 RED Point(x=1, y=[]) True [] 5\n"


def test_own_functions_that_come_back_with_source_go_without_as_before(tmp_path):
    program = """
import sys, waybill
def task(x):
    return x + 1  # A comment.
waybill.loads(waybill.dumps(task, source=True))
sys.stdout.write(str(b"A comment" in waybill.dumps(task)))
"""

    assert run(tmp_path, program) == b"False"


def test_code_that_came_without_source_before_travels_on_with_what_came_later(tmp_path):
    program = """
import sys, waybill
text = "def task(x):\\n    return x + 1  # A comment.\\n"
import linecache
linecache.cache["told.py"] = len(text), None, text.splitlines(True), "told.py"
exec(compile(text, "told.py", "exec"))
for data in (waybill.dumps(task), waybill.dumps(task, source=True)):
    print(data.hex())
"""
    plain, told = run(tmp_path, program).split()
    receiver = f"""
import sys, waybill
waybill.configure(caches=sys.stdin.read() == "with")
first = waybill.loads(bytes.fromhex({plain.decode()!r}))
print(b"A comment" in waybill.dumps(first))
second = waybill.loads(bytes.fromhex({told.decode()!r}))
print(b"A comment" in waybill.dumps(second))
"""
    for caches in (b"with", b"without"):
        assert run(tmp_path, receiver, caches) == b"False\nTrue\n"


@pytest.mark.parametrize("is_foreign", [False, True])
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("after", [True, False])
def test_caches_do_not_decide_what_travels_on(tmp_path, is_foreign, before, after):
    data = run(tmp_path, SCRIPT)
    if is_foreign:
        data = as_of_another_python(data)
    relay = f"""
import linecache, sys, waybill
waybill.configure(caches={before})
things = waybill.loads(sys.stdin.buffer.read())
linecache.clearcache()
waybill.configure(caches={after})
sys.stdout.buffer.write(waybill.dumps(things))
"""

    result = as_of_another_python(run(tmp_path, relay, data))

    assert run(tmp_path, WORKER, result)
