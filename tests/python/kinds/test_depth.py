"""Depth costs no stack: what is nested or linked a million times travels."""

import fresh_process
import pytest

SCRIPT = """
import functools, sys, types, waybill
sys.path.append(sys.argv[3])
import module_of_links
class Own: pass
class Slots: __slots__ = ("next",)

def linked(cls):
    def make(x):
        made = cls()
        made.next = x
        return made
    return make, lambda x: x.next

def error(x):
    made = ValueError()
    made.__cause__ = x
    return made

def closure(x): return lambda: x

KINDS = {
    "list": (lambda x: [x], lambda x: x[0]),
    "tuple": (lambda x: (x,), lambda x: x[0]),
    "dict": (lambda x: {"k": x}, lambda x: x["k"]),
    "own instances": linked(Own),
    "own instances with slots": linked(Slots),
    "imported instances": linked(module_of_links.Link),
    "namespaces": linked(types.SimpleNamespace),
    "partials": (lambda x: functools.partial(max, x, key=5), lambda x: x.args[0]),
    "closures": (closure, lambda x: x()),
    "errors": (error, lambda x: x.__cause__),
}
make, inner = KINDS[sys.argv[1]]
depth = int(sys.argv[2])
sent = None
for _ in range(depth): sent = make(sent)
data = waybill.dumps(sent)
arrived = waybill.loads(data)
again = waybill.dumps(arrived)
assert sys.argv[1] == "partials" or again == data
found = 0
while arrived is not None:
    # Taken apart from outside: CPython may recurse where it frees such a chain.
    arrived, found = inner(arrived), found + 1
while sent is not None: sent = inner(sent)
print(found)
"""
# How deep each is every day.
KINDS = dict.fromkeys(
    ("own instances", "own instances with slots", "imported instances", "partials")
    + ("closures", "errors"),
    20_000,
)
KINDS |= {"list": 1_000_000, "tuple": 200_000, "dict": 200_000, "namespaces": 100_000}


def depth_that_arrives(kind, depth, folder):
    (folder / "module_of_links.py").write_text("class Link: pass\n")
    return int(fresh_process.run_script(SCRIPT, kind, depth, folder, seconds=900))


@pytest.mark.parametrize("kind", KINDS)
def test_deep_object_arrives(kind, tmp_path):
    assert depth_that_arrives(kind, KINDS[kind], tmp_path) == KINDS[kind]


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_object_that_is_a_million_deep_arrives(kind, tmp_path):
    depth = 100_000 if kind in ("partials", "errors") else 1_000_000

    assert depth_that_arrives(kind, depth, tmp_path) == depth


@pytest.mark.once
def test_new_classes_that_hold_each_other_take_no_longer_for_each_level(tmp_path):
    # Each instance used to look through all those around it: 100 000 took 17 seconds.
    path = tmp_path / "chain"
    send = """
import sys, waybill
class One: pass
class Other: pass
value = None
for level in range(400_000):
    made = (One, Other)[level % 2]()
    made.next, value = value, made
with open(sys.argv[1], "wb") as file: waybill.dump(value, file)
while value is not None: value = value.next
"""
    receive = """
import sys, waybill
with open(sys.argv[1], "rb") as file: value = waybill.load(file)
found = 0
while value is not None: value, found = value.next, found + 1
print(found)
"""

    fresh_process.run_script(send, path)

    assert fresh_process.run_script(receive, path) == "400000\n"


#: Programs whose every level once took longer than the one before.
NESTED = {
    # Each used to look through all those around it for a class: 40 000 took 4 seconds.
    "closures that hold each other": """
def closure(x): return lambda: x
value = None
for level in range(300_000): value = closure(value)
arrived = waybill.loads(waybill.dumps(value))
while value is not None: value = value()
found = 0
while arrived is not None: arrived, found = arrived(), found + 1
assert found == 300_000
""",
    # Each reference used to look through all that is between it and what it means.
    "tuples in cycles": """
inmost = []
value = inmost
for _ in range(500_000): value = (value,)
inmost += [value] * 400_000
arrived = waybill.loads(waybill.dumps(value))
whole, depth = arrived, 0
while type(arrived) is tuple: (arrived,), depth = arrived, depth + 1
assert (depth, len(arrived)) == (500_000, 400_000)
assert arrived[0] is arrived[-1] is whole
arrived.clear(), inmost.clear()
""",
    # Each level used to try all those below it: 1 000 of them took a second.
    "sets that are nested deeply": """
value = frozenset()
for level in range(20_000): value = frozenset([value, level])
arrived = waybill.loads(waybill.dumps(value))
for level in reversed(range(20_000)):
    (arrived,) = arrived - {level}
assert str(arrived) == "frozenset()"
""",
}


@pytest.mark.once
@pytest.mark.parametrize("program", NESTED.values(), ids=NESTED)
def test_no_level_takes_longer_than_those_around_it(program):
    fresh_process.run_script(f"import waybill{program}")
