"""Dicts and sets: who changed, which keys, which arrival, which worker.

Of a dict or set in a class, the sender's changes take effect by key; the worker's own
keys stay, after the sender's.
"""

import pytest
from class_state_matrix import (
    Row,
    by_who,
    check,
    every_who,
    every_worker,
    keyed,
    members,
)
from class_stories import Story

DICTS = {"dict": "{0}", "ordered dict": "OrderedDict({0})"}
DICTS["default dict"] = "defaultdict(int, {0})"

_E = "class E(enum.Enum): A, B, C, W = 'abcw'"
_CLASSES = "\n".join(f"class {name}: pass" for name in "ABCW")

#: What is defined before K, the keys a, b, c and w, how keys are read, and as what.
KEYS = {
    "text": ("", "'a' 'b' 'c' 'w'", "key", "abcw"),
    "bytes": ("", "b'a' b'b' b'c' b'w'", "key", (b"a", b"b", b"c", b"w")),
    "numbers": ("", "1 2.5 -3 4j", "key", (1, 2.5, -3, 4j)),
    "None and bool": ("", "None True False 2", "key", (None, True, False, 2)),
    "members": (_E, "E.A E.B E.C E.W", "key.name", "ABCW"),
    "classes": (_CLASSES, "A B C W", "key.__name__", "ABCW"),
    "builtin classes": (
        "",
        "int str dict set",
        "key.__name__",
        ("int", "str", "dict", "set"),
    ),
    "tuples": (
        "",
        "(1,'a') (1,'b') () ((None,),)",
        "key",
        ((1, "a"), (1, "b"), (), ((None,),)),
    ),
    "frozensets": (
        "",
        "frozenset({1}) frozenset({2}) frozenset() frozenset({(1,)})",
        "key",
        (frozenset({1}), frozenset({2}), frozenset(), frozenset({(1,)})),
    ),
    "tuples of members and classes": (
        f"{_E}\n{_CLASSES}",
        "(E.A,A) (E.A,B) (E.C,C) (E.W,frozenset({W}))",
        "repr(key[0].name)",
        ("'A'", "'A'", "'C'", "'W'"),
    ),
}


def row_of_dicts(kind, keys):
    define, written, read, expected = KEYS[keys]
    a, b, c, w = written.split()
    first = DICTS[kind].format(f"{{{a}: 1, {b}: 2}}")
    helpers = [line.split()[1].partition("(")[0] for line in define.splitlines()]
    return Row(
        define=f"{define}\nclass K:\n    x = {first}",
        sender=f"K.x[{a}] = 10; K.x[{c}] = 3; del K.x[{b}]",
        worker=f"K.x[{a}] = 100; K.x[{w}] = 0",
        undo=f"K.x.clear(); K.x[{a}] = 1; K.x[{b}] = 2",
        read=f"[({read}, value) for key, value in K.x.items()]",
        expected=keyed(*expected),
        sends=(*(name.rstrip(":") for name in helpers), "K"),
    )


PAIRS = [("dict", keys) for keys in KEYS]
PAIRS += [(kind, keys) for kind in DICTS for keys in ("text", "members")][2:]


@pytest.mark.parametrize("kind, keys", PAIRS)
@every_who
@every_worker
def test_a_dict_is_patched_by_key(stage, kind, keys, who, worker):
    check(stage, row_of_dicts(kind, keys), who, worker)


#: What is defined before K, elements a, b, c and w, how they are read, and as what.
ELEMENTS = {
    "text": ("", "'a' 'b' 'c' 'w'", "one", "abcw"),
    "numbers": ("", "1 2 3 4.5", "one", (1, 2, 3, 4.5)),
    "members": (_E, "E.A E.B E.C E.W", "one.name", "ABCW"),
    "classes": (_CLASSES, "A B C W", "one.__name__", "ABCW"),
    "tuples": ("", "(1,) (2,) (2,'c') (3,)", "one", ((1,), (2,), (2, "c"), (3,))),
}


@pytest.mark.parametrize("kind", ELEMENTS)
@every_who
@every_worker
def test_a_set_is_patched_by_element(stage, kind, who, worker):
    define, written, read, expected = ELEMENTS[kind]
    a, b, c, w = written.split()
    helpers = [line.split()[1].partition("(")[0] for line in define.splitlines()]
    row = Row(
        define=f"{define}\nclass K:\n    x = {{{a}, {b}}}",
        sender=f"K.x.add({c}); K.x.discard({b})",
        worker=f"K.x.add({w}); K.x.discard({a})",
        undo=f"K.x.clear(); K.x.update(({a}, {b}))",
        read=f"sorted({read} for one in K.x)",
        expected=members(*expected),
        sends=(*(name.rstrip(":") for name in helpers), "K"),
    )

    check(stage, row, who, worker)


# ---- What lies inside of a key's value is whole

NESTED = Row(
    define="class K: x = {'a': {'p': 1}, 'b': [1]}",
    sender="K.x['a']['q'] = 2",
    worker="K.x['a']['w'] = 3; K.x['b'].append(2)",
    undo="del K.x['a']['q']",
    read="K.x",
    expected=by_who(
        {"a": {"p": 1}, "b": [1]},
        nobody=({"a": {"p": 1}, "b": [1]}, {"a": {"p": 1, "w": 3}, "b": [1, 2]}),
        sender=(
            {"a": {"p": 1, "q": 2}, "b": [1]},
            {"a": {"p": 1, "q": 2, "w": 3}, "b": [1, 2]},
        ),
        worker=(
            {"a": {"p": 1, "w": 3}, "b": [1, 2]},
            {"a": {"p": 1, "q": 2}, "b": [1, 2]},
        ),
        same=({"a": {"p": 1, "q": 2}, "b": [1]}, {"a": {"p": 1}, "b": [1]}),
        different=({"a": {"p": 1, "q": 2}, "b": [1, 2]}, {"a": {"p": 1}, "b": [1, 2]}),
    ),
)


@every_who
@every_worker
def test_what_a_key_holds_is_replaced_whole(stage, who, worker):
    check(stage, NESTED, who, worker)


# ---- The container stays the same object, with its type and order

CONTAINERS = {
    "dict": ("{'a': 1}", "K.x['b'] = 2"),
    "ordered dict": ("OrderedDict(a=1)", "K.x['b'] = 2"),
    "default dict": ("defaultdict(list, a=1)", "K.x['b'] = 2"),
    "set": ("{'a'}", "K.x.add('b')"),
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_a_container_that_is_patched_stays_the_same_object(pair, kind):
    home, worker = pair
    first, change = CONTAINERS[kind]
    home.do(f"class K: x = {first}")
    worker.load(home.dumps("{'K': K}"))
    worker.do("held = K.x")
    home.do(change)

    worker.load(home.dumps("{'K': K}"))

    assert worker.get("held is K.x, sorted(held)") == (True, ["a", "b"])
    assert worker.get("type(K.x).__name__") == home.get("type(K.x).__name__")


STORIES = {
    "the sender's keys stand in the sender's order before the worker's": Story(
        define="class K: x = {'b': 2, 'd': 4}",
        worker="K.x['w'] = 0; K.x['v'] = 0",
        home="K.x = {'a': 1, 'b': 2, 'c': 3, 'd': 4}",
        read="list(K.x)",
        expected=["a", "b", "c", "d", "w", "v"],
    ),
    "an order of a dict that the sender has changed arrives": Story(
        define="class K: x = dict(a=1, b=2)",
        worker="K.x['w'] = 0",
        home="K.x['a'] = K.x.pop('a')",
        read="list(K.x)",
        expected=["b", "a", "w"],
    ),
    "an order of an OrderedDict that the sender has changed arrives": Story(
        define="class K: x = OrderedDict(a=1, b=2)",
        worker="K.x['w'] = 0",
        home="K.x['a'] = K.x.pop('a')",
        read="list(K.x)",
        expected=["b", "a", "w"],
    ),
    "a factory that the sender has changed arrives": Story(
        define="class K: x = defaultdict(int, a=1)",
        worker="K.x['w']",
        home="K.x.default_factory = list",
        read="K.x['new'], sorted(K.x)",
        expected=([], ["a", "new", "w"]),
    ),
    "a large dict is patched too": Story(
        define="class K: x = {f'key {n}': n for n in range(3000)}",
        worker="K.x['own'] = 1; K.x['key 7'] = 'mine'",
        home="K.x['key 5'] = 'changed'; del K.x['key 6']",
        read="len(K.x), K.x['key 5'], K.x['key 7'], 'key 6' in K.x",
        expected=(3000, "changed", "mine", False),
    ),
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_container_is_what_both_sides_have_made_of_it(pair, story):
    story.demand(*pair)


#: Equal keys that are not the same.
EQUAL_KEYS = {
    "bool": ("1", "True"),
    "float": ("1", "1.0"),
    "sign of zero": ("0.0", "-0.0"),
    "member": ("1", "E.A"),
    "tuple": ("(0, (1,))", "(0, (True,))"),
    "frozenset": ("frozenset({1})", "frozenset({True})"),
}
HOLDING = {**DICTS, "set": "set({0})"}


@pytest.mark.parametrize("keys", EQUAL_KEYS)
@pytest.mark.parametrize("kind", HOLDING)
@pytest.mark.parametrize("is_changed", [True, False], ids=["changed", "added"])
def test_a_key_is_the_senders_where_an_equal_one_is_there(pair, kind, keys, is_changed):
    home, worker = pair
    before, after = EQUAL_KEYS[keys]
    home.do(f"""
    class E(enum.IntEnum): A = 1
    class K: x = {HOLDING[kind].format("{'z': 0}")}
    """)
    put = "K.x.update({{{}: 0}})" if kind != "set" else "K.x.add({})"
    if is_changed:
        home.do(f"K.x.clear(); {put.format(before)}; {put.format(repr('z'))}")
    worker.load(home.dumps("{'K': K, 'E': E}"))
    worker.do(f"held = K.x; {put.format(repr('w'))}; {put.format(before)}")
    home.do(f"K.x.clear(); {put.format(after)}; {put.format(repr('z'))}")

    worker.load(home.dumps("{'K': K, 'E': E}"))

    key = home.get(f"repr({after})")
    expected = [key, "'z'", "'w'"]
    found = worker.get("list(map(repr, K.x))")
    if kind == "set":
        found, expected = sorted(found), sorted(expected)
    assert (found, worker.get("held is K.x")) == (expected, True)


#: K.x at first; what the worker and the sender do in turn, and the items then.
TURNS = {
    "a key of the worker that the sender adds is the sender's": (
        "{'a': 1}",
        ("K.x['b'] = 'w'", "K.x['b'] = 's'", [("a", 1), ("b", "s")]),
        ("", "del K.x['b']", [("a", 1)]),
    ),
    "a key that the worker has deleted returns when the sender changes it": (
        "{'a': 1, 'b': 2}",
        ("del K.x['a']", "", [("b", 2)]),
        ("", "K.x['a'] = 5", [("a", 5), ("b", 2)]),
    ),
    "a dict that the worker has replaced stays until it changes": (
        "{'a': 1}",
        ("K.x = None", "", None),
        ("", "K.x['b'] = 2", [("a", 1), ("b", 2)]),
    ),
}


@pytest.mark.parametrize("turns", TURNS.values(), ids=TURNS)
def test_a_dict_is_what_was_said_in_turn(pair, turns):
    home, worker = pair
    first, *turns = turns
    home.do(f"class K: x = {first}")
    worker.load(home.dumps("{'K': K}"))
    for there, here, items in turns:
        worker.do(there)
        home.do(here)

        worker.load(home.dumps("{'K': K}"))

        assert worker.get("K.x and list(K.x.items())") == items
