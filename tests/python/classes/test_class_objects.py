"""What a payload refers to elsewhere too is the object that the class has then.

It does not matter whether it stands before or after the class.
"""

import pytest
from class_state_worker import several
from class_stories import Story


@pytest.fixture(scope="module")
def processes():
    with several(2) as places:
        yield places


@pytest.fixture(params=[False, True], ids=["caches off", "caches on"])
def many(request, processes):
    """New namespaces of two processes that serve many tests."""
    name = request.node.name
    home, worker = (place.other(name) for place in processes)
    for place in (home, worker):
        place.do(f"waybill.configure(caches={request.param})")
    # Classes of other tests are of another content.
    home.do(f"name_of_the_test = {name!r}")
    yield home, worker


SOURCE = """
import collections, types
class P: pass
class K: x, test = {first}, name_of_the_test
class Holder: pass
def reads(): return X
def default(a=K.x): return a
def keyword(*, a=K.x): return a
def make(it): return lambda: it
closure = make(K.x)
X = K.x
holder = Holder()
holder.it = K.x
def reducer(*args): return args
class Reduced:
    def __reduce__(self): return reducer, (K.x, 1)
class State:
    def __getstate__(self): return {{'it': K.x}}
"""

#: What is sent beside the class, and what of it must be K.x.
PLACES = {
    "list": ("[K.x]", "it[0]"),
    "list in a list": ("[[K.x]]", "it[0][0]"),
    "tuple": ("(K.x, 1)", "it[0]"),
    "tuple in a tuple": ("((K.x,), 1)", "it[0][0]"),
    "dict": ("{'a': K.x}", "it['a']"),
    "ordered dict": ("collections.OrderedDict(a=K.x)", "it['a']"),
    "deque": ("collections.deque([K.x])", "it[0]"),
    "the object itself": ("K.x", "it"),
    "instance": ("holder", "it.it"),
    "state of an instance": ("State()", "it.it"),
    "argument of a reducer": ("Reduced()", "it[0]"),
    "global": ("reads", "it()"),
    "default": ("default", "it()"),
    "keyword default": ("keyword", "it()"),
    "closure": ("closure", "it()"),
    "namespace": ("types.SimpleNamespace(it=K.x)", "it.it"),
    "method of the object": ("K.x.copy", "it.__self__"),
    "slice": ("slice(K.x)", "it.stop"),
}
ORDERS = {
    "before": "{'it': %s, 'K': K}",
    "after": "{'K': K, 'it': %s}",
    "both": "{'it': %s, 'K': K, 'again': [K.x]}",
}
#: What K.x is, and what the worker does to it.
KINDS = {
    "dict": ("{'a': 1}", "K.x['w'] = 3"),
    "list": ("[1]", "K.x.append(3)"),
    "replaced by the worker": ("[1]", "K.x = {'w': 3}"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_attribute_elsewhere_in_the_payload_is_the_classes(many, place, order, kind):
    home, worker = many
    first, change = KINDS[kind]
    sent, read = PLACES[place]
    if place == "method of the object" and kind == "replaced by the worker":
        pytest.skip("a method stays bound to an object of its own type")
    home.do(SOURCE.format(first=first))
    payload = home.dumps(ORDERS[order] % sent)
    worker.load(payload)
    assert worker.get(f"{read} is K.x")
    worker.do(change)
    worker.do("held = K.x")

    for _ in range(3):
        worker.load(payload)
        assert worker.get(f"{read} is K.x is held")
        if order == "both":
            assert worker.get("again[0] is held")


#: What is the same wherever it stands, though a class has it.
FIXED = {
    "a class of a module": "float",
    "a function of a module": "copy.copy",
    "a class by value": "type('Inner', (), {})",
    "text": "'long ' * 30",
    "bytes": "b'long ' * 30",
}


@pytest.mark.parametrize("place", ["the object itself", "list", "default", "global"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("value", FIXED.values(), ids=FIXED)
def test_a_name_elsewhere_in_the_payload_is_the_payloads(many, place, order, value):
    home, worker = many
    sent, read = PLACES[place]
    home.do("import copy\n" + SOURCE.format(first=value))
    payload = home.dumps(ORDERS[order] % sent)
    worker.load(payload)
    worker.do(f"first = {read}\nK.x = [1]")

    worker.load(payload)

    assert worker.get(f"K.x, {read} == first") == ([1], True)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("order", ORDERS)
def test_an_attribute_that_the_sender_has_changed_is_one_object(many, place, order):
    home, worker = many
    sent, read = PLACES[place]
    home.do(SOURCE.format(first="[1]"))
    worker.load(home.dumps(ORDERS[order] % sent))
    worker.do("K.x.append(3)")
    home.do("K.x.append(2)")

    worker.load(home.dumps(ORDERS[order] % sent))

    assert worker.get(f"{read} is K.x, K.x") == (True, [1, 2])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("order", ORDERS)
def test_what_a_key_holds_is_one_object_too(many, place, order):
    home, worker = many
    sent, read = PLACES[place]
    home.do(SOURCE.format(first="[1]"))
    home.do("K.x = {'key': K.x}")
    text = ORDERS[order].replace("[K.x]", "[K.x['key']]")
    payload = home.dumps(text % sent.replace("K.x", "K.x['key']"))
    if place in {"state of an instance", "argument of a reducer"}:
        pytest.skip("these send the whole dict")
    worker.load(payload)
    worker.do("held = K.x['key']; held.append(3)")

    worker.load(payload)

    assert worker.get(f"{read} is K.x['key'] is held, held") == (True, [1, 3])


STORIES = {
    "a global that is an attribute is state of the class": Story(
        define="""
        table = {}
        class K: known = table
        def add(key): table[key] = 1
        def names(): return sorted(table), K.known is table
        """,
        sent="{'add': add, 'names': names}",
        worker="add('of the worker')",
        home="add('of the sender')",
        read="names()",
        expected=(["of the sender", "of the worker"], True),
    ),
    "a global that is no attribute is the payload's": Story(
        define="""
        table = {}
        class K: known = {}
        def add(key): table[key] = K.known[key] = 1
        def names(): return sorted(table), sorted(K.known)
        """,
        sent="{'add': add, 'names': names}",
        worker="add('w')",
        read="names()",
        expected=([], ["w"]),
    ),
    "a class that comes later gets the object that is there": Story(
        define="table = {'a': 1}\nclass K: x = table",
        worker="K.x['w'] = 3; held = K.x",
        home="class L: y = table",
        again="{'K': K, 'L': L}",
        read="K.x is L.y is held",
        expected=True,
    ),
    "an attribute that moves to another name is the payload's": Story(
        define="class K: x = {'a': 1}",
        worker="K.x['w'] = 3",
        home="K.y = K.x; del K.x; K.y['b'] = 2",
        again="{'K': K, 'y': K.y}",
        read="hasattr(K, 'x'), K.y is y, K.y",
        expected=(False, True, {"a": 1, "b": 2}),
    ),
    "an instance that is an attribute is the one that is there": Story(
        define="""
        class K:
            def __init__(self): self.count = 0
            def add(self): self.count += 1; return self.count
        K.only = K()
        def get(): return K.only
        """,
        sent="{'get': get, 'only': K.only}",
        worker="assert [get().add(), only.add()] == [1, 2]",
        read="get() is only is type(only).only, only.add()",
        expected=(True, 3),
    ),
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_an_object_of_a_class_is_one_wherever_it_is_named(places, story):
    story.demand(*places)


def test_a_global_that_is_an_attribute_is_so_for_methods_too(places):
    home, worker = places
    home.do("""
    table = {}
    class K:
        known = table
        def add(self, key): table[key] = 1
        def names(self): return sorted(table), self.known is table
    """)
    for key in ("one", "two"):
        worker.load(home.dumps("{'k': K()}"))
        worker.get(f"k.add('{key}')")

    assert worker.get("k.names()") == (["one", "two"], True)


def test_two_classes_that_share_an_object_share_it_afterwards(places):
    home, worker = places
    home.do("""
    table = {'a': 1}
    class K: x = table
    class L: y = table
    """)
    payload = "{'K': K, 'L': L}"
    worker.load(home.dumps(payload))
    worker.do("K.x['w'] = 3")
    home.do("table['b'] = 2")

    worker.load(home.dumps(payload))

    expected = (True, [("a", 1), ("b", 2), ("w", 3)])
    assert worker.get("K.x is L.y, list(K.x.items())") == expected
    # Each of them alone says the same, and the worker's own is nobody's word.
    for one in ("{'L': L}", "{'K': K}"):
        worker.load(home.dumps(one))
        assert worker.get("K.x is L.y, sorted(K.x)") == (True, ["a", "b", "w"])


#: What a known class has, and what the worker does to it.
SHARED = {
    "dict": ("{}", "Registry.table['w'] = 1"),
    "list": ("[]", "Registry.table.append(1)"),
    "instance": ("P()", "Registry.table.n = 1"),
}
#: What another class is before and after it gets that object, and where it has it.
SHARING = {
    "a new class": ("", "class Api: table = Registry.table", "Api.table"),
    "a new class, in a dict": (
        "",
        "class Api: tables = {'t': Registry.table}",
        "Api.tables['t']",
    ),
    "a new class, in a list": (
        "",
        "class Api: tables = [Registry.table]",
        "Api.tables[0]",
    ),
    "a known class": (
        "class Api: table = None",
        "Api.table = Registry.table",
        "Api.table",
    ),
    "a known class that had a dict": (
        "class Api: table = {1: 2}",
        "Api.table = Registry.table",
        "Api.table",
    ),
    "a known class that had a list": (
        "class Api: table = [1]",
        "Api.table = Registry.table",
        "Api.table",
    ),
}
PAIRS = ["{'Registry': Registry, 'Api': Api}", "{'Api': Api, 'Registry': Registry}"]


@pytest.mark.parametrize("kind", SHARED)
@pytest.mark.parametrize("sharing", SHARING)
@pytest.mark.parametrize("sent", PAIRS, ids=["known class first", "known class last"])
def test_an_object_that_another_class_gets_is_that_of_the_known_class(
    many, kind, sharing, sent
):
    home, worker = many
    first, change = SHARED[kind]
    before, after, place = SHARING[sharing]
    home.do(f"""
    class P: pass
    class Registry: table, test = {first}, name_of_the_test
    """)
    home.do(before)
    worker.load(home.dumps(sent if before else "{'Registry': Registry}"))
    worker.do(f"{change}; held = Registry.table")
    home.do(f"{after}\nApi.test = name_of_the_test")

    for _ in range(3):
        worker.load(home.dumps(sent))

        assert worker.get(f"{place} is Registry.table is held")


@pytest.mark.xfail(strict=True, reason="the contents are equal")
@pytest.mark.parametrize("kind", SHARED)
def test_equal_objects_of_known_classes_become_one(many, kind):
    home, worker = many
    first, _ = SHARED[kind]
    home.do(f"""
    class P: pass
    class Registry: table, test = {first}, name_of_the_test
    class Api: table, test = {first}, name_of_the_test
    """)
    worker.load(home.dumps(PAIRS[0]))
    home.do("Api.table = Registry.table")

    worker.load(home.dumps(PAIRS[0]))

    assert worker.get("Api.table is Registry.table")


#: Where a value stands that is left to the worker, and how the sender changes it.
LEFT = {
    "attribute": ("[1]", "K.x", "K.x.append(2)"),
    "key": ("{'key': [1]}", "K.x['key']", "K.x['key'].append(2)"),
}


@pytest.mark.parametrize("place", LEFT)
def test_an_attribute_that_is_left_to_the_worker_is_one_object_too(many, place):
    home, worker = many
    first, read, change = LEFT[place]
    home.do(f"class K: x, test = {first}, name_of_the_test")
    worker.load(home.dumps("{'K': K}"))
    worker.do(f"held = {read}; held.append(3)")
    home.do(change)

    worker.load(home.dumps(f"{{'K': K, 'it': {read}}}"), class_state="worker")

    assert worker.get(f"it is held is {read}, it") == (True, [1, 3])


@pytest.mark.xfail(strict=True, reason="what refers to a value from inside it")
def test_a_class_that_is_in_a_cycle_with_its_attribute_is_merged(places):
    home, worker = places
    home.do("""
    class K: x = {}
    K.x['me'] = K
    K.x['table'] = [K.x]
    K.x['number'] = 1
    """)
    payload = "{'K': K, 'x': K.x}"
    worker.load(home.dumps(payload))
    worker.do("K.x['w'] = 3; held = K.x")
    home.do("K.x['number'] = 2")

    worker.load(home.dumps(payload))

    read = "x is K.x is held, K.x['me'] is K, K.x['table'][0] is K.x"
    assert worker.get(read) == (True, True, True)
    assert worker.get("K.x['number'], K.x['w']") == (2, 3)


def test_two_attributes_that_are_one_object_stay_one(places):
    home, worker = places
    home.do("class K: x = y = {'a': 1}")
    worker.load(home.dumps("{'K': K}"))
    worker.do("K.x['w'] = 3; held = K.x")
    for number in range(3):
        home.do(f"K.x['b'] = {number}")
        worker.load(home.dumps("{'K': K}"))

        expected = (True, [("a", 1), ("b", number), ("w", 3)])
        assert worker.get("K.x is K.y is held, list(K.x.items())") == expected
        worker.load(home.dumps("{'K': K}"))
        assert worker.get("K.x is K.y is held, sorted(K.x)") == (True, ["a", "b", "w"])


def test_an_attribute_that_stands_in_another_stays_one_object(places):
    home, worker = places
    home.do("class K: x = {'a': 1}\nK.all = {'x': K.x}\nK.list = [K.x]")
    worker.load(home.dumps("{'K': K}"))
    worker.do("K.x['w'] = 3; held = K.x")
    worker.load(home.dumps("{'K': K}"))
    assert worker.get("K.x is K.all['x'] is K.list[0] is held")

    home.do("K.x['b'] = 2")
    worker.load(home.dumps("{'K': K}"))

    expected = (True, ["a", "b", "w"])
    assert worker.get("K.x is K.all['x'] is K.list[0] is held, sorted(K.x)") == expected
