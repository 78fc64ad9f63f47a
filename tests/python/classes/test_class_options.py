"""One side alone, classes set anew, and what tells what a merge has changed."""

import pytest
from class_state_worker import PlaceError
from class_stories import SENT, Story

SOURCE = """
class K:
    x = 1
    gone = 1
    table = {'a': 1}
    def run(self): return 'old'
"""
CHANGE = """
K.x = 2
K.new = 2
K.table['b'] = 2
K.run = lambda self: 'new'
del K.gone
"""
READ = (
    "K.x, getattr(K, 'new', 0), K.table, K().run(), hasattr(K, 'gone'),"
    " getattr(K, 'own', 0), K.y"
)
#: What is read by what has been asked for: both have changed the class.
MERGED = (2, 2, {"a": 1, "b": 2, "w": 3}, "new", False, 3, 3)
SENDER = (2, 2, {"a": 1, "b": 2}, "new", False, 0, 1)
WORKER = (3, 2, {"a": 1, "w": 3}, "new", True, 3, 3)
RESET = (2, 2, {"a": 1, "b": 2}, "new", True, 3, 1)


def change_both(home, worker, more=""):
    home.do(SOURCE + more)
    home.do("K.y = 1")
    worker.load(home.dumps(SENT))
    worker.do("K.x = K.y = K.own = 3; K.table['w'] = 3")
    home.do(CHANGE)


#: What the class says, what the process is told, what a call says, and what follows.
WORDS = [
    ("", {}, {}, MERGED),
    # A call, for its classes.
    ("", {}, {"class_state": "sender"}, SENDER),
    ("", {}, {"class_state": "worker"}, WORKER),
    ("", {}, {"reset_classes": True}, RESET),
    ("", {}, {"class_state": None}, MERGED),
    ("", {}, {"reset_classes": False}, MERGED),
    # The process, for calls that say nothing.
    ("", {"class_state": "sender"}, {}, SENDER),
    ("", {"class_state": "worker"}, {}, WORKER),
    ("", {"reset_classes": True}, {}, RESET),
    # A call goes before the process.
    ("", {"class_state": "sender"}, {"class_state": "worker"}, WORKER),
    ("", {"class_state": "worker"}, {"class_state": "sender"}, SENDER),
    ("", {"reset_classes": True}, {"reset_classes": False}, MERGED),
    # The class itself.
    ("sender", {}, {}, SENDER),
    ("worker", {}, {}, WORKER),
    # A call goes before the class.
    ("sender", {}, {"class_state": "worker"}, WORKER),
    ("worker", {}, {"class_state": "sender"}, SENDER),
]


@pytest.mark.parametrize("word, configured, options, expected", WORDS, ids=str)
def test_state_is_that_of_the_side_that_is_said_to_count(
    places, word, configured, options, expected
):
    home, worker = places
    says = f"    __waybill_state__ = '{word}'\n" if word else ""
    change_both(home, worker, says)
    worker.do(f"answer = waybill.configure(**{configured})")

    for _ in range(3):
        worker.load(home.dumps(SENT), **options)
        assert worker.get(READ) == expected
    assert worker.get("answer") is None


def test_what_is_configured_holds_for_children(places):
    home, worker = places
    change_both(home, worker)
    worker.do("waybill.configure(class_state='sender')")
    child = worker.fork()

    child.load(home.dumps(SENT))

    assert child.get(READ) == SENDER


def test_only_what_is_given_is_configured(places):
    home, worker = places
    change_both(home, worker)
    worker.do("waybill.configure(class_state='sender')")
    worker.do("waybill.configure(); waybill.configure(caches=True)")

    worker.load(home.dumps(SENT))

    assert worker.get(READ) == SENDER


def test_only_the_class_that_says_so_is_left_to_one_side(places):
    home, worker = places
    home.do("""
    class K: x, __waybill_state__ = 1, 'sender'
    class L: x, __waybill_state__ = 1, 'worker'
    class M: x = 1
    """)
    payload = "{'K': K, 'L': L, 'M': M}"
    worker.load(home.dumps(payload))
    worker.do("K.x = L.x = M.x = 3")
    worker.load(home.dumps(payload))
    assert worker.get("K.x, L.x, M.x") == (1, 3, 3)

    home.do("K.x = L.x = M.x = 2")
    worker.load(home.dumps(payload))

    assert worker.get("K.x, L.x, M.x") == (2, 3, 2)


def test_what_a_worker_has_deleted_does_not_return_where_its_state_counts(places):
    home, worker = places
    home.do("class K: x = 1")
    worker.load(home.dumps(SENT))
    worker.do("del K.x")
    home.do("K.x = 2; K.new = 2")

    worker.load(home.dumps(SENT), class_state="worker")

    assert worker.get("hasattr(K, 'x'), K.new") == (False, 2)


def test_what_the_last_payload_had_not_is_new_where_the_workers_state_counts(places):
    home, worker = places
    home.do("class K: x = 1")
    worker.load(home.dumps(SENT))
    worker.do("del K.x")
    home.do("del K.x")
    worker.load(home.dumps(SENT), class_state="worker")
    home.do("K.x = 2")

    worker.load(home.dumps(SENT), class_state="worker")

    assert worker.get("K.x") == 2


@pytest.mark.parametrize(
    "side, expected", [(None, "home"), ("sender", "home"), ("worker", "worker")]
)
def test_method_that_both_sides_have_added_is_that_of_the_side(places, side, expected):
    home, worker = places
    home.do("class K: x = 1")
    worker.load(home.dumps(SENT))
    worker.do("K.run = lambda self: 'worker'")
    home.do("K.run = lambda self: 'home'")

    worker.load(home.dumps(SENT), class_state=side)

    assert worker.get("K().run()") == expected


def test_after_a_payload_for_one_side_others_are_merged(places):
    home, worker = places
    home.do("class K: x, y = 1, 1")
    worker.load(home.dumps(SENT))
    worker.do("K.x = 3")
    worker.load(home.dumps(SENT), class_state="sender")
    assert worker.get("K.x") == 1
    worker.do("K.x = 3")
    home.do("K.y = 2")

    worker.load(home.dumps(SENT))

    assert worker.get("K.x, K.y") == (3, 2)


@pytest.mark.parametrize("word", ["both", "", 1])
def test_another_word_for_a_side_is_an_error(places, word):
    home, worker = places
    home.do("class K: x = 1")

    with pytest.raises(PlaceError) as caught:
        worker.load(home.dumps(SENT), class_state=word)
    with pytest.raises(PlaceError) as configured:
        worker.do(f"waybill.configure(class_state={word!r})")

    assert {caught.value.kind, configured.value.kind} <= {"ValueError", "TypeError"}


# ---- The trace

TRACED = """
changes = []
def note(change):
    assert type(change) is waybill.ClassChange
    cls, attribute, action = change
    assert (cls, attribute, action) == (change.cls, change.attribute, change.action)
    changes.append((cls.__name__, attribute, action))
waybill.configure(trace=note)
"""


STORIES = {
    "it tells each change of a merge": Story(
        define="""
        class K: x, gone, table, items, same = 1, 1, {'a': 1}, [1], 'same'
        class L: y = 1
        """,
        sent="{'K': K, 'L': L}",
        worker="K.own = 1" + TRACED,
        home="K.x = K.new = L.y = 2; del K.gone; K.table['b'] = 2; K.items.append(2)",
        read="sorted(changes)",
        expected=[
            ("K", "gone", "deleted"),
            ("K", "items", "set"),
            ("K", "new", "set"),
            ("K", "table", "patched"),
            ("K", "x", "set"),
            ("L", "y", "set"),
        ],
    ),
    "it is silent where nothing has changed": Story(
        define="class K: x, table = 1, {'a': 1}",
        worker="K.x = 3; K.table['w'] = 3" + TRACED,
        read="changes",
        expected=[],
    ),
    "it tells of a method that has changed": Story(
        define=SOURCE,
        worker=TRACED,
        home="K.run = lambda self: 'new'",
        read="changes",
        expected=[("K", "run", "set")],
    ),
    "it is called when the change is made": Story(
        define="class K: x = 1",
        worker="seen = []\n"
        "waybill.configure(trace=lambda change: seen.append(change.cls.x))",
        home="K.x = 2",
        read="seen",
        expected=[2],
    ),
    "it ends with None": Story(
        define="class K: x = 1",
        worker=TRACED + "waybill.configure(trace=None)",
        home="K.x = 2",
        read="changes, K.x",
        expected=([], 2),
    ),
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_the_trace_tells_what_a_merge_changes(places, story):
    story.demand(*places)


def test_the_trace_may_load_and_send(places):
    home, worker = places
    home.do("class K: x = 1")
    worker.load(home.dumps(SENT))
    home.do("class L: x = 1")
    worker.do(
        """
        other, inside = payload, []
        def note(change):
            inside.append(waybill.loads(waybill.dumps(change.cls)) is change.cls)
            inside.append(waybill.loads(other).x)
        waybill.configure(trace=note)
        """,
        payload=home.dumps("L"),
    )
    home.do("K.x = 2")

    worker.load(home.dumps(SENT))

    assert worker.get("inside, K.x") == ([True, 1], 2)


@pytest.mark.parametrize("caches", [True, False])
def test_a_payload_that_the_trace_loads_is_not_taken_for_the_one_around_it(
    places, caches
):
    home, worker = places
    home.do("""
        class K:
            x = "first"
            def read(self): return self.x
        def task(): return K().read(), K.x
    """)
    first = home.dumps("task")
    home.do("K.x = 'second'")
    worker.do(
        f"waybill.configure(caches={caches})\n"
        """
def load_first(change):
    if is_inside: inside()

def inside():
    global is_inside
    is_inside = False
    waybill.loads(first)

is_inside, results = False, []
waybill.configure(trace=load_first)
for _ in range(3):
    waybill.loads(first)
    is_inside = True
    waybill.loads(second)
    results.append(waybill.loads(second)())
""",
        first=first,
        second=home.dumps("task"),
    )

    assert worker.get("results") == [("second", "second")] * 3
