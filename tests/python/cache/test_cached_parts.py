"""The encode cache: what a later reducer hands out of the middle of what was kept.

A container that only its holder refers to is written without a note of where it stands,
so it is written again where a reducer hands it out. Whether it is one, caches that are
off decide.
"""

import pytest
import waybill
from cached_classes import outcome
from cached_nodes import nodes_taken
from without_caches import dumps_without_caches

WORLD = """
class Given:  # Travels as a list of what it finds only then.
    def __init__(self, find): self.find = find
    def __reduce__(self): return list, ([self.find()],)

class C:
    def __init__(self, x): self.x, self.text = x, "y" * 99 + str(x)

class Slotted:
    __slots__ = "x", "y"
    def __init__(self, x): self.x, self.y = [x], {"k": [x]}

class Holder:
    kept, deep, texts = C([1]), [[1], {"k": [[2]]}, ([3],)], ["z" * 99 + str(1)]
    slotted = Slotted(1)
    made = {"a": {"b": {1, 2}}}
    def get(self, a=[[1]], *, b=[[2]]): return a
    get.mark = [[3]]

def outer(): return lambda: seen; seen = [[4], {5}]
def enclosing(seen): return lambda: seen
closed = enclosing([[4], {"k": [5]}])
TABLE = {"k": [[6]]}
def f(a=([7],), *, b={"k": [8]}): return TABLE["k"], C
f.mark = {"k": [9]}
"""

#: What is sent first, and parts of it. Each is made anew for each payload.
PARTS = {
    "the dict of an instance": ("C([1])", ["vars(o)"]),
    "what an instance has": ("C([[1], {'k': [2]}])", ["o.x", "o.x[0]", "o.x[1]['k']"]),
    "text of an instance": ("C(1)", ["o.text"]),
    "the dict of the second instance": ("[C([1]), C([2])]", ["vars(o[1])", "o[1].x"]),
    "both dicts": ("[C([1]), C([2])]", ["vars(o[0])", "vars(o[1])"]),
    "an instance behind a function": ("[f, C([1])]", ["vars(o[1])", "o[1].x"]),
    "a task": ("(f, (C([1]), C([2])), {'k': [3]})", ["vars(o[1][0])", "o[2]"]),
    "the dict of a held instance": ("Holder", ["vars(o.kept)", "o.kept.x"]),
    "slots of a held instance": ("Holder", ["o.slotted.x", "o.slotted.y['k']"]),
    "slots": ("Slotted(1)", ["o.x", "o.y", "o.y['k']"]),
    "slots of the second": ("[Slotted(1), Slotted(2)]", ["o[1].x", "o[1].y['k']"]),
    "attributes of a class": ("Holder", ["o.deep", "o.made", "o.texts"]),
    "what they hold": ("Holder", ["o.deep[0]", "o.deep[1]['k']", "o.deep[2][0]"]),
    "what they hold deeper down": ("Holder", ["o.deep[1]['k'][0]", "o.made['a']['b']"]),
    "text that they hold": ("Holder", ["o.texts[0]"]),
    "an instance, then of its class": ("Holder()", ["o.deep[0]", "vars(o.kept)"]),
    "defaults of a method": ("Holder", ["o.get.__defaults__[0][0]"]),
    "an attribute of a method": ("Holder", ["o.get.mark", "vars(o.get)['mark'][0]"]),
    "defaults": ("f", ["o.__defaults__", "o.__defaults__[0]", "o.__defaults__[0][0]"]),
    "keyword defaults": ("f", ["o.__kwdefaults__", "o.__kwdefaults__['b']['k']"]),
    "attributes of a function": ("f", ["vars(o)", "o.mark", "o.mark['k']"]),
    "a global": ("f", ["TABLE", "TABLE['k']", "TABLE['k'][0]"]),
    "a closure": ("closed", ["o()", "o()[0]", "o()[1]['k']"]),
    "a closure of the second": ("[f, closed]", ["o[1]()", "o[1]()[0]"]),
}


def world():
    scope = {"__name__": "nowhere"}
    exec(compile(WORLD, "<world>", "exec"), scope)
    return scope


def made(w, first, parts):
    """The first, then what hands out a part of it, each twice."""
    scope = {**w, "o": eval(first, w)}
    finds = [eval("lambda: " + part, scope) for part in parts for _ in range(2)]
    return [scope["o"], *map(w["Given"], finds)]


@pytest.mark.parametrize(("first", "parts"), PARTS.values(), ids=PARTS)
def test_what_is_handed_out_of_what_was_kept_goes_as_without_caches(first, parts):
    w = world()
    expected = outcome(dumps_without_caches, made(w, first, parts))
    waybill.clear_caches()

    for _ in range(6):
        assert outcome(waybill.dumps, made(w, first, parts)) == expected
        waybill.dumps(eval(first, w))
    assert outcome(dumps_without_caches, made(w, first, parts)) == expected


@pytest.mark.parametrize(("first", "parts"), PARTS.values(), ids=PARTS)
def test_what_holds_such_parts_is_kept(first, parts):
    w = world()

    assert nodes_taken(lambda: eval(first, w)) >= 1
    assert outcome(waybill.dumps, made(w, first, parts)) == outcome(
        dumps_without_caches, made(w, first, parts)
    )


def test_a_part_that_somebody_else_gets_hold_of_is_a_change():
    w = world()
    assert nodes_taken(lambda: w["Holder"]) == 1

    held = w["Holder"].deep[0]

    payload = [w["Holder"], w["Given"](lambda: w["Holder"].deep[0])]
    assert outcome(waybill.dumps, payload) == outcome(dumps_without_caches, payload)
    del held
    assert outcome(waybill.dumps, payload) == outcome(dumps_without_caches, payload)
