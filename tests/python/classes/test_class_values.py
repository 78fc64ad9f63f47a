"""Values in a class are asked nothing: not whether they are equal, nor what they hold.

What the sender's values are is told by the hashes of their content; the worker's own
are never looked at.
"""

import pytest

SENT = "{'K': K, 'V': V}"
VALUES = """
class Refuses(Exception): pass
class V:
    def __init__(self, n): self.n = n
    def refuse(self, *args): raise Refuses('asked')
    __eq__ = __ne__ = __lt__ = __hash__ = __bool__ = __len__ = refuse
    __contains__ = __iter__ = __repr__ = __str__ = __int__ = __index__ = refuse
"""


@pytest.fixture
def places(fresh_places):
    return fresh_places(3, "import gc, weakref")


#: Where the value stands; how the sender and the worker set it to V(n).
PLACES = {
    "attribute": ("x = V(1)", "K.x = V({})", "K.x"),
    "list": ("x = [V(1)]", "K.x = [V({})]", "K.x[0]"),
    "list, in place": ("x = [V(1)]", "K.x[0] = V({})", "K.x[0]"),
    "tuple": ("x = (V(1),)", "K.x = (V({}),)", "K.x[0]"),
    "dict": ("x = {'a': V(1)}", "K.x['a'] = V({})", "K.x['a']"),
    "dict, whole": ("x = {'a': V(1)}", "K.x = {{'a': V({})}}", "K.x['a']"),
    "dict in a dict": ("x = {'a': {1: V(1)}}", "K.x['a'][1] = V({})", "K.x['a'][1]"),
    "doc": ("__doc__ = V(1)", "K.__doc__ = V({})", "K.__doc__"),
    "default": ("x = lambda a=V(1): a", "K.x = lambda a=V({}): a", "K.x()"),
}


@pytest.mark.parametrize("place", PLACES)
def test_values_are_not_asked_whether_they_are_equal(places, place):
    home, worker, _ = places
    body, put, read = PLACES[place]
    home.do(f"{VALUES}\nclass K:\n    {body}")
    worker.load(home.dumps(SENT))
    worker.do(f"held = {read}")
    worker.load(home.dumps(SENT))
    if place != "default":
        assert worker.get(f"{read} is held")

    worker.do(put.format(3))
    worker.load(home.dumps(SENT))
    assert worker.get(f"{read}.n") == 3

    home.do(put.format(2))
    worker.load(home.dumps(SENT))
    assert worker.get(f"{read}.n") == 2


def test_values_of_a_passed_on_class_are_not_asked(places):
    home, a, b = places
    home.do(f"{VALUES}\nclass K: x, y = {{'a': V(1)}}, [V(1)]")
    for sender, receiver in ((home, a), (home, b), (a, b), (a, home)):
        receiver.load(sender.dumps(SENT))
    a.do("K.x['a'] = V(3); K.y[0] = V(3)")

    b.load(a.dumps(SENT))

    assert b.get("K.x['a'].n, K.y[0].n") == (1, 1)


def test_metaclasses_of_values_are_not_asked(places):
    home, worker, _ = places
    home.do("""
    class Meta(type):
        def __eq__(cls, other): raise ValueError('asked')
        def __hash__(cls): return 1
        def __bool__(cls): raise ValueError('asked')
        def __instancecheck__(cls, one): raise ValueError('asked')
        def __subclasscheck__(cls, one): raise ValueError('asked')
    class V(metaclass=Meta): pass
    class W(metaclass=Meta): pass
    class K: x, y = V, [V]
    """)
    worker.load(home.dumps(SENT))
    home.do("K.x = W; K.z = V")

    worker.load(home.dumps(SENT))

    expected = (True, "W", True, True)
    assert worker.get("K.x is not V, K.x.__name__, K.y[0] is V, K.z is V") == expected


#: What cannot be sent or hashed, or says so when it is tried.
UNSENDABLE = {
    "lock": "__import__('threading').Lock()",
    "generator": "(n for n in [])",
    "frame": "__import__('sys')._getframe()",
    "reducer that raises": "Unsendable()",
    "large": "'x' * 100_000_000",
}


@pytest.mark.parametrize("what", UNSENDABLE)
def test_values_that_the_worker_has_put_there_are_not_looked_at(places, what):
    home, worker, _ = places
    home.do(VALUES + "class K: x, y, table = 1, 1, {'a': 1}")
    worker.load(home.dumps(SENT))
    worker.do("""
    class Unsendable:
        def refuse(self, *args): raise ValueError('asked')
        __reduce_ex__ = __reduce__ = __getstate__ = __eq__ = __hash__ = refuse
    """)
    worker.do(f"put = K.x = K.own = K.table['a'] = K.table['w'] = {UNSENDABLE[what]}")
    for _ in range(3):
        worker.load(home.dumps(SENT))
    assert worker.get("K.x is K.own is K.table['a'] is K.table['w'] is put")

    home.do("K.x = 2; K.table['a'] = 2")
    worker.load(home.dumps(SENT))

    assert worker.get("K.x, K.table['a'], K.own is put") == (2, 2, True)


def test_a_replaced_value_dies(places):
    home, worker, _ = places
    home.do(VALUES + "class P: pass\nclass K: x, table = P(), {'a': P()}")
    worker.load(home.dumps(SENT))
    worker.do("gone = [weakref.ref(one) for one in (K.x, K.table['a'])]")
    home.do("K.x = K.table['a'] = 2")

    worker.load(home.dumps(SENT))
    worker.do("gc.collect()")

    assert worker.get("[r() is None for r in gone]") == [True, True]


def test_what_came_with_a_payload_and_is_not_used_dies(places):
    home, worker, _ = places
    home.do(VALUES + "class P: pass\nclass K: x, table = P(), {'a': P()}")
    for _ in range(4):
        worker.load(home.dumps(SENT))
    worker.do("P = type(K.x)\ngc.collect()")

    alive = "sum(type(one) is P for one in gc.get_objects())"
    assert worker.get(alive) == 2


def test_a_value_that_changes_the_class_as_it_dies_breaks_nothing(places):
    home, worker, _ = places
    home.do(VALUES + "class K: x, y, table = 1, 1, {'a': 1}")
    worker.load(home.dumps(SENT))
    worker.do("""
    class Dies:
        def __init__(self, name): self.name = name
        def __del__(self):
            K.table['of the dead ' + self.name] = 1
            K.died = 1
            if 'y' in vars(K): del K.y
    K.x = Dies('x')
    K.table['a'] = Dies('a')
    """)
    home.do("K.x = 2; K.table['a'] = 2; K.table['b'] = 2")

    worker.load(home.dumps(SENT))
    worker.load(home.dumps(SENT))

    assert worker.get("K.x, K.table['a'], K.table['b'], K.died") == (2, 2, 2, 1)
    expected = ["a", "b", "of the dead a", "of the dead x"]
    assert worker.get("sorted(K.table)") == expected


DESCRIPTOR = """
class Descriptor:
    n = 0
    def __get__(self, one, owner): raise ValueError('asked')
    def __set__(self, one, value): raise ValueError('asked')
    def __delete__(self, one): raise ValueError('asked')
    def __set_name__(self, owner, name): raise ValueError('asked')
"""


def test_a_descriptor_of_the_class_is_not_asked(places):
    home, worker, _ = places
    home.do(VALUES + DESCRIPTOR + "class K: y = 1\nK.x = Descriptor()")
    worker.load(home.dumps(SENT))
    home.do("vars(K)['x'].n = 2; K.y = 2")

    worker.load(home.dumps(SENT))

    assert worker.get("vars(K)['x'].n, K.y") == (2, 2)
    home.do("del K.x")
    worker.load(home.dumps(SENT))
    assert worker.get("'x' in vars(K)") is False
