"""A payload that fails or is refused changes no class, and moves no baseline."""

import pytest
from class_state_worker import PlaceError

SOURCE = """
class K:
    x = 1
    gone = 1
    table = {'a': 1}
    items = [1]
    def run(self): return 'old'
class L: x = 1
class Bomb:
    def __reduce__(self): return int, ('no number',)
class SetsState:
    def __setstate__(self, state): raise ValueError('no state')
    def __getstate__(self): return 1
"""
CHANGE = """
K.x = L.x = 2
K.new = 2
K.table['b'] = 2
K.items.append(2)
K.run = lambda self: 'new'
del K.gone
"""
UNDO = """
K.x = L.x = 1
del K.new, K.table['b'], K.items[1]
K.gone = 1
"""
READ = (
    "K.x, L.x, hasattr(K, 'new'), hasattr(K, 'gone'), K.table, K.items, K().run(),"
    " K.own"
)
BEFORE = (1, 1, False, True, {"a": 1, "w": 3}, [1], "old", 3)
AFTER = (2, 2, True, False, {"a": 1, "b": 2, "w": 3}, [1, 2], "new", 3)
SENT = "{'K': K, 'L': L}"

#: What is sent, changed, and cannot be loaded.
FAILING = {
    "raises after the classes": "{'K': K, 'L': L, 'bomb': Bomb()}",
    "raises before the classes": "{'bomb': Bomb(), 'K': K, 'L': L}",
    "raises between the classes": "{'K': K, 'bomb': Bomb(), 'L': L}",
    "raises within an instance": "{'k': [K(), (L, [Bomb()])]}",
    "raises in __setstate__": "{'K': K, 'L': L, 'state': SetsState()}",
    "raises in a global": "{'K': K, 'L': L, 'f': lambda: bomb}",
    "raises in an attribute": "{'K': K, 'L': L, 'with': WithBomb}",
}


@pytest.fixture
def places(places):
    home, worker = places
    home.do(SOURCE)
    home.do("bomb = Bomb()")
    home.do("class WithBomb: x = bomb")
    worker.load(home.dumps(SENT))
    worker.do("K.own = 3; K.table['w'] = 3")
    return home, worker


def demand_nothing_has_changed(home, worker):
    assert worker.get(READ) == BEFORE
    # Nor has what is compared with: the same changes take effect when they arrive.
    worker.load(home.dumps(SENT))
    assert worker.get(READ) == AFTER


@pytest.mark.parametrize("how", FAILING)
def test_a_payload_that_fails_changes_no_class(places, how):
    home, worker = places
    home.do(CHANGE)

    for _ in range(2):
        with pytest.raises(PlaceError):
            worker.load(home.dumps(FAILING[how]))

    demand_nothing_has_changed(home, worker)


def test_an_attribute_that_fails_changes_no_class(places):
    home, worker = places
    home.do(CHANGE)
    home.do("K.bomb = L.bomb = bomb")
    with pytest.raises(PlaceError):
        worker.load(home.dumps(SENT))
    home.do("del K.bomb, L.bomb")

    demand_nothing_has_changed(home, worker)


def test_what_a_failing_payload_says_is_not_compared_with(places):
    home, worker = places
    home.do(CHANGE)
    with pytest.raises(PlaceError):
        worker.load(home.dumps("{'K': K, 'L': L, 'bomb': Bomb()}"))
    home.do(UNDO)
    worker.do("K.x = 3")

    worker.load(home.dumps(SENT))

    # The sender has changed nothing since the payload that came last.
    assert worker.get("K.x, L.x, K.table, K.items") == (3, 1, {"a": 1, "w": 3}, [1])


@pytest.mark.parametrize("rule", ["deny call builtins", "deny lookup fractions"])
def test_a_payload_that_a_policy_refuses_changes_no_class(places, rule):
    home, worker = places
    home.do(CHANGE)
    home.do("""
    import fractions
    class Calls:
        def __reduce__(self): return complex, (1, 2)
    """)
    program = """
    ALLOWED = '\\nallow code\\nallow import *\\nallow lookup *\\nallow call *'
    try:
        waybill.loads(data, policy=waybill.security.Policy(rule + ALLOWED))
    except waybill.PolicyError as error:
        refused = True
    else:
        refused = False
    """
    refused = "'c': Calls(), 'f': fractions.Fraction"
    for sent in (f"{{'K': K, 'L': L, {refused}}}", f"{{{refused}, 'K': K, 'L': L}}"):
        worker.do(program, data=home.dumps(sent), rule=rule)
        assert worker.get("refused")

    demand_nothing_has_changed(home, worker)


def test_a_payload_that_was_altered_changes_no_class(places):
    home, worker = places
    home.do(CHANGE)
    payload = home.dumps(SENT)
    for altered in (payload[:-1], payload[:-20] + bytes(20), payload + b"x"):
        with pytest.raises(PlaceError):
            worker.load(altered)

    demand_nothing_has_changed(home, worker)


def test_a_first_payload_that_fails_leaves_no_class_behind(places):
    home, worker = places
    home.do("class M: x, table, gone = 1, {'old': 1}, 1")
    for _ in range(2):
        with pytest.raises(PlaceError):
            worker.load(home.dumps("{'M': M, 'bomb': Bomb()}"))
    home.do("M.x = M.y = 2; M.table = {'new': 2}; del M.gone")

    worker.load(home.dumps("{'M': M}"))

    assert worker.get("M.x, M.y, M().x, M.table") == (2, 2, 2, {"new": 2})
    assert not worker.get("hasattr(M, 'gone')")


def test_foreign_code_of_the_payload_sees_no_class_half_changed(places):
    home, worker = places
    home.do("""
    class Pair: a = b = 1
    def look(): return Pair.a == Pair.b
    class Looks:
        def __reduce__(self): return look, ()
    """)
    for number in range(1, 6):
        home.do(f"Pair.a = Pair.b = {number}")
        worker.load(home.dumps("{'one': Looks(), 'Pair': Pair, 'two': Looks()}"))
        assert worker.get("one, two, Pair.a, Pair.b") == (True, True, number, number)


def test_a_payload_inside_of_a_payload_is_merged_on_its_own(places):
    home, worker = places
    home.do("""
    class Inner:
        def __init__(self, data): self.data = data
        def __reduce__(self): return waybill.loads, (self.data,)
    """)
    home.do("K.x = 2; inner = Inner(waybill.dumps(K)); K.x = 5")

    worker.load(home.dumps("{'again': inner, 'K': K}"))

    # The outer one ends last.
    assert worker.get("again is K, K.x, K.own") == (True, 5, 3)


def test_a_new_class_that_a_payload_inside_says_otherwise_is_that_of_the_outer(places):
    home, worker = places
    home.do("""
    class Inner:
        def __init__(self, data): self.data = data
        def __reduce__(self): return waybill.loads, (self.data,)
    class New: x, table = 2, {'n': 2}
    inner = Inner(waybill.dumps(New))
    New.x = New.table['n'] = 5
    """)
    payload = home.dumps("{'New': New, 'again': inner}")

    worker.load(payload)

    for _ in range(2):
        assert worker.get("again is New, New.x, New.table") == (True, 5, {"n": 5})
        worker.load(payload)


THREADS = """
import sys, threading
sys.setswitchinterval(1e-6)
errors, torn = [], []
def run(payload):
    try:
        for _ in range(300): waybill.loads(payload)
    except BaseException as error: errors.append(repr(error))
threads = [threading.Thread(target=run, args=(p,)) for p in (one, two)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_threads_that_load_in_turn_end_in_one_of_the_two_states(places):
    home, worker = places
    home.do("class Pair: a, b, table = 1, 1, {'n': 1, 'one': 1}")
    one = home.dumps("{'Pair': Pair}")
    home.do(
        "Pair.a = Pair.b = Pair.table['n'] = 2; Pair.new = 2; del Pair.table['one']"
    )
    two = home.dumps("{'Pair': Pair}")
    worker.load(one)
    worker.do("Pair.own = 3; Pair.table['w'] = 3")

    worker.do(THREADS, one=one, two=two)

    assert worker.get("errors") == []
    assert worker.get("Pair.a, Pair.b, Pair.table, hasattr(Pair, 'new'), Pair.own") in [
        (1, 1, {"n": 1, "one": 1, "w": 3}, False, 3),
        (2, 2, {"n": 2, "w": 3}, True, 3),
    ]


def two_states(home):
    """Payloads of a class with two states."""
    home.do("class Pair: a, table = 1, {'n': 1}")
    one = home.dumps("{'Pair': Pair}")
    home.do("Pair.a = Pair.table['n'] = 2")
    two = home.dumps("{'Pair': Pair}")
    return one, two


def test_threads_that_load_a_class_for_the_first_time_get_one_class(places):
    home, worker = places
    one, two = two_states(home)

    worker.do(THREADS, one=one, two=two)
    worker.load(one)

    assert worker.get("errors, Pair.a, Pair.table") == ([], 1, {"n": 1})


# Loads another payload when the table of baselines is locked next, as another thread
# might before.
MEANWHILE = """
from waybill._state.baselines import TABLE
class Lock:
    lock, payload = TABLE.lock, other
    def __enter__(self):
        payload, self.payload = self.payload, None
        if payload is not None: waybill.loads(payload)
        return self.lock.__enter__()
    def __exit__(self, *error):
        return self.lock.__exit__(*error)
TABLE.lock = Lock()
"""


def test_a_state_that_another_thread_merges_meanwhile_is_not_taken_for_this_one(places):
    home, worker = places
    one, two = two_states(home)
    worker.load(one)
    worker.do("waybill.clear_caches()")
    worker.load(one)

    worker.do(MEANWHILE, other=two)
    worker.load(one)
    worker.do("TABLE.lock = Lock.lock")
    worker.load(one)

    assert worker.get("Pair.a, Pair.table") == (1, {"n": 1})


def test_classes_that_another_thread_merges_meanwhile_are_of_one_payload(places):
    home, worker = places
    home.do("class One: x = 1\nclass Two: x = 1")
    payloads = [home.dumps("{'One': One, 'Two': Two}")]
    for change in "Two.x = 2", "One.x = Two.x = 3":
        home.do(change)
        payloads.append(home.dumps("{'One': One, 'Two': Two}"))
    worker.load(payloads[0])
    worker.do("waybill.clear_caches()")
    worker.load(payloads[0])

    worker.do(MEANWHILE, other=payloads[2])
    worker.load(payloads[1])
    worker.do("TABLE.lock = Lock.lock")

    assert worker.get("One.x, Two.x") == (1, 2)


def test_a_thread_that_changes_the_class_meanwhile_breaks_nothing(places):
    home, worker = places
    one, two = two_states(home)
    worker.load(one)
    changing = """
    def change():
        number = 0
        while not stop.is_set():
            number += 1
            Pair.table[number % 50] = number
            Pair.table.pop((number + 25) % 50, None)
            setattr(Pair, f'own{number % 50}', number)
    import threading
    stop = threading.Event()
    changer = threading.Thread(target=change)
    changer.start()
    """
    worker.do(changing)
    try:
        worker.do(THREADS, one=one, two=two)
    finally:
        worker.do("stop.set(); changer.join()")
    worker.load(two)
    worker.load(one)

    assert worker.get("errors, Pair.a, Pair.table['n']") == ([], 1, 1)
