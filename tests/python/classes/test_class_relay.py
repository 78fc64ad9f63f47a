"""Who speaks: the process that made a class changes it; others pass on its word.

A worker's payload gives its current state to those who do not know the class. Those who
do get what the home last said, and nothing that the worker has changed itself.
"""

import pytest

SOURCE = """
class K:
    x = 1
    y = 1
    table = {'a': 1}
    items = [1]
    def run(self): return 'of the home'
"""
SENT = "{'K': K}"


@pytest.fixture
def chain(fresh_places):
    """A home and three workers."""
    places = fresh_places(4)
    places[0].do(SOURCE)
    return places


def relay(*places):
    """Each sends what it has to the next."""
    for sender, receiver in zip(places, places[1:]):
        receiver.load(sender.dumps(SENT))


# ---- Results


def test_results_do_not_change_the_class_at_home(chain):
    home, worker, _, _ = chain
    relay(home, worker)
    worker.do("K.x = 3; K.own = 3; K.table['w'] = 3; K.items.append(3); del K.y")
    home.do("before = K")

    for result in (SENT, "{'one': K()}", "{'f': lambda: K}", "{'all': [K, K()]}"):
        home.load(worker.dumps(result))

    assert home.get("K is before")
    expected = (1, 1, False, {"a": 1}, [1])
    assert home.get("K.x, K.y, hasattr(K, 'own'), K.table, K.items") == expected


def test_an_older_payload_of_its_own_does_not_change_the_class_at_home(chain):
    home = chain[0]
    old = home.dumps(SENT)
    home.do("K.x = 2; K.new = 2; del K.y; K.table['b'] = 2")

    home.load(old)

    expected = (2, 2, False, {"a": 1, "b": 2})
    assert home.get("K.x, K.new, hasattr(K, 'y'), K.table") == expected


def test_results_of_a_forked_worker_do_not_change_the_class_at_home(chain):
    home = chain[0]
    home.dumps(SENT)
    worker = home.fork()
    worker.do("K.x = 3; K.own = 3; before = K")
    home.do("before = K")

    home.load(worker.dumps(SENT))

    assert home.get("K is before, K.x, hasattr(K, 'own')") == (True, 1, False)


# ---- A chain

#: Steps: places that send in turn, or a place and what it does; then what places have.
RELAYS = {
    "who does not know the class gets its current state": (
        [
            "home a",
            "a: K.x = K.own = 3; K.table['w'] = 3; K.items.append(3); del K.y",
            "a b",
        ],
        "K.x, K.own, K.table, K.items, hasattr(K, 'y')",
        {"b": (3, 3, {"a": 1, "w": 3}, [1, 3], False)},
    ),
    "changes of a worker do not reach who knows the class": (
        [
            "home a",
            "home b",
            "a: K.x = K.own = K.table['w'] = K.table['a'] = 3; del K.y",
            "a b",
        ],
        "K.x, K.y, hasattr(K, 'own'), K.table",
        {"b": (1, 1, False, {"a": 1})},
    ),
    "changes of a worker in place do not reach who knows the class": (
        ["home a", "home b", "a: K.items.append(3)", "a b"],
        "K.items",
        {"b": [1]},
    ),
    "changes of the home reach the end of the chain": (
        [
            "home a b c",
            "home: K.x = K.new = K.table['b'] = 2; del K.y; K.items = [2]",
            "home a b c",
        ],
        "K.x, K.new, K.table, hasattr(K, 'y'), K.items",
        {"c": (2, 2, {"a": 1, "b": 2}, False, [2])},
    ),
    "changes of the home pass a worker that has changes of its own": (
        [
            "home a b c",
            "a: K.x = K.own = K.table['w'] = 3",
            "b: K.y = K.table['v'] = 4",
            "home: K.new = K.table['b'] = 2",
            "home a b c",
        ],
        "K.x, K.y, K.new, sorted(K.table), hasattr(K, 'own')",
        {
            "a": (3, 1, 2, ["a", "b", "w"], True),
            "b": (1, 4, 2, ["a", "b", "v"], False),
            "c": (1, 1, 2, ["a", "b"], False),
        },
    ),
    "a method that the home has changed reaches the end of the chain": (
        ["home a b", "home: K.run = lambda self: 'new'", "home a b"],
        "K().run()",
        {"b": "new"},
    ),
    "a method that a worker put there does not reach who knows the class": (
        ["home a", "home b", "a: K.run = lambda self: 'of the worker'", "a b"],
        "K().run()",
        {"b": "of the home"},
    ),
    # What the home has not changed since stays as the worker had it.
    "who got a worker's state still hears the home": (
        ["home a", "a: K.x = K.y = K.table['w'] = 3", "a b", "home: K.x = 2", "home b"],
        "K.x, K.y, K.table",
        {"b": (2, 3, {"a": 1, "w": 3})},
    ),
    "who got a worker's state hears the home through the worker": (
        ["home a", "a: K.x = K.y = 3", "a b", "home: K.x = 2", "home a b"],
        "K.x, K.y",
        {"a": (2, 3), "b": (2, 3)},
    ),
    "what the home has deleted is deleted through a worker": (
        ["home a b", "a: K.own = 3", "home: del K.x", "home a b"],
        "hasattr(K, 'x'), K.y",
        {"b": (False, 1)},
    ),
    "the last payload wins whoever passed it on": (
        ["home a", "home: K.x = 2", "home b"],
        "K.x",
        {"b": 2},
    ),
    "the last payload wins though its word is the older one": (
        ["home a", "home: K.x = 2", "home b", "a b"],
        "K.x",
        {"b": 1},
    ),
    "the last payload wins that comes after an older one": (
        ["home a", "home: K.x = 2", "home b", "a b", "home b"],
        "K.x",
        {"b": 2},
    ),
    "a change that only the middle has seen arrives later": (
        [
            "home a b",
            "home: K.x = K.table['n2'] = 2",
            "home a",
            "home: K.x = K.table['n3'] = 3",
            "home a",
            "a b",
        ],
        "K.x, K.table",
        {"b": (3, {"a": 1, "n2": 2, "n3": 3})},
    ),
    "a worker that gets its own payload back keeps its state": (
        ["home a b", "a: K.x = K.own = 3", "a b a"],
        "K.x, K.own",
        {"a": (3, 3)},
    ),
}


@pytest.mark.parametrize("steps, read, expected", RELAYS.values(), ids=RELAYS)
def test_what_a_chain_of_workers_passes_on(chain, steps, read, expected):
    places = dict(zip(("home", "a", "b", "c"), chain))
    for step in steps:
        names, _, program = step.partition(": ")
        if program:
            places[names].do(program)
        else:
            relay(*map(places.get, names.split()))

    assert {name: places[name].get(read) for name in expected} == expected


#: What the home and a worker set of a class that is not in its dict when it is made
#: again: what is defined, how it is set to one of three values, how it is read.
PROPERTIES = {
    "metaclass": (
        "class M(type): n = 1\nclass N(type): n = 2\nclass O(type): n = 3\n"
        "class K(metaclass=M): all = M, N, O",
        "K.__class__ = K.all[{} - 1]",
        "type(K).n",
    ),
    "names of slots": (
        "class K: __slots__ = {'a': 1}",
        "K.__slots__ = {{'a': {}}}",
        "K.__slots__['a']",
    ),
    "slot": (
        "class K: __slots__ = ('a',)\nslot = K.a",
        "K.a = {}",
        "K.a if type(K.a) is int else 1",
    ),
}


@pytest.mark.parametrize("kind", PROPERTIES)
def test_what_a_class_is_made_with_follows_the_home(fresh_places, kind):
    define, put, read = PROPERTIES[kind]
    home, a, b = fresh_places(3)
    home.do(define)
    relay(home, a)
    relay(home, b)
    a.do(put.format(3))
    relay(a, b)
    assert (a.get(read), b.get(read)) == (3, 1)

    home.do(put.format(2))
    relay(home, a, b)
    assert (a.get(read), b.get(read)) == (2, 2)

    home.do(put.format("slot" if kind == "slot" else 1))
    relay(home, a, b)
    assert (a.get(read), b.get(read)) == (1, 1)


#: What a worker does to a method.
REPLACING = {
    "replaced": "import builtins\n"
    "K.run = eval('lambda self: 0', {'__builtins__': builtins})",
    "deleted": "del K.run",
}


@pytest.mark.parametrize("replace", REPLACING.values(), ids=REPLACING)
def test_what_a_worker_passes_on_does_not_depend_on_its_caches(fresh_places, replace):
    home, a, b = fresh_places(3)
    b.do("waybill.configure(caches=False)")
    home.do("""
    from colorsys import rgb_to_hsv
    class K:
        def run(self): return rgb_to_hsv(0, 0, 0)
    """)
    payload = home.dumps("{'k': K(), 'K': K}")
    for worker in (a, b):
        worker.load(payload)
        worker.do(replace)
        for _ in range(3):
            worker.load(payload)
        worker.do("import colorsys; colorsys.rgb_to_hsv = colorsys.hsv_to_rgb")
        worker.load(payload)

    assert a.dumps("K") == b.dumps("K")


# ---- Forked workers


def test_a_forked_worker_is_no_home(chain):
    home, a, _, _ = chain
    relay(home, a)
    forked = home.fork()
    forked.do("K.x = 3; K.own = 3")

    relay(forked, a)

    assert a.get("K.x, hasattr(K, 'own')") == (1, False)


def test_the_first_payload_of_a_forked_worker_sets_what_it_carries(chain):
    home = chain[0]
    home.dumps(SENT)
    forked = home.fork()
    forked.do("made_here = K; K.x = 3; K.table['a'] = 3")
    home.do("K.y = 2; K.table['b'] = 2")

    forked.load(home.dumps(SENT))

    assert forked.get("K is made_here")
    assert forked.get("K.x, K.y, K.table['a'], K.table['b']") == (1, 2, 1, 2)


def test_the_first_payload_of_a_forked_worker_deletes_nothing(chain):
    home = chain[0]
    home.dumps(SENT)
    forked = home.fork()
    forked.do("K.own = 3")
    home.do("del K.x")

    forked.load(home.dumps(SENT))

    assert forked.get("K.x, K.own") == (1, 3)


def test_the_second_payload_of_a_forked_worker_deletes(chain):
    home = chain[0]
    home.dumps(SENT)
    forked = home.fork()
    forked.load(home.dumps(SENT))
    forked.do("K.own = 3; K.y = 3")
    home.do("del K.x")

    forked.load(home.dumps(SENT))

    assert forked.get("hasattr(K, 'x'), K.own, K.y") == (False, 3, 3)


def test_a_worker_that_was_forked_from_a_worker_knows_what_that_one_knew(chain):
    home, a, _, _ = chain
    relay(home, a)
    a.do("K.own = 3")
    forked = a.fork()
    forked.do("K.y = 4")
    home.do("K.x = 2")

    relay(home, forked)

    assert forked.get("K.x, K.y, K.own") == (2, 4, 3)
    assert a.get("K.x, K.y") == (1, 1)
