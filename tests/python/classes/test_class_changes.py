"""What becomes of changes of a class, in whatever form the class is sent."""

import pytest
from class_stories import Story

# ---- Whatever is sent that needs the class

SOURCE = """
import functools
class Base:
    def of_base(self): return self.x
class K(Base):
    x = 1
    table = {'a': 1}
    extra = 'there'
    def __init__(self, own=0): self.own = own
    def look(self): return self.x, dict(self.table), getattr(self, 'extra', 'gone')
class Sub(K): pass
class Holder: it = K
def get(n=0): return K(n).look()
def task(k, *rest): return k.look()
def outer():
    def inner(): return K().look()
    return inner
"""

#: What is sent at the n-th time, and how the state is read.
FORMS = {
    "class": ("K", "value().look()"),
    "instance": ("K(n)", "value.look()"),
    "instances": ("[K(n), K(n), {'k': K([n])}]", "value[2]['k'].look()"),
    "subclass": ("Sub", "value().look()"),
    "instance of a subclass": ("Sub(n)", "value.look()"),
    "bound method": ("K(n).look", "value()"),
    "function": ("get", "value()"),
    "closure": ("outer()", "value()"),
    "task": ("(get, (n,), {})", "value[0](*value[1])"),
    "task with an instance": ("(task, (K(n), n), {})", "value[0](*value[1])"),
    "task with a class": ("(lambda k: k(1).look(), (K,), {})", "value[0](*value[1])"),
    "partial": ("functools.partial(get, n)", "value()"),
    "class in another": ("Holder", "value.it().look()"),
    "instance in an instance": ("K([K(n)])", "value.own[0].look()"),
    "function that makes instances": ("lambda: K(n)", "value().look()"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("times", [1, 4])
def test_a_change_arrives_with_whatever_needs_the_class(places, form, times):
    home, worker = places
    home.do(SOURCE)
    sent, read = FORMS[form]
    answers = []
    changes = [
        "pass",
        "K.x = 2",
        "K.table['b'] = 2",
        "del K.extra",
        "K.x = 1; K.extra = 'back'; del K.table['b']",
    ]
    for number, change in enumerate(changes):
        home.do(change)
        for _ in range(times):
            home.do(f"n = {number}")
            worker.load(home.dumps("{'value': %s}" % sent))
            answers.append(worker.get(read))

    expected = [
        (1, {"a": 1}, "there"),
        (2, {"a": 1}, "there"),
        (2, {"a": 1, "b": 2}, "there"),
        (2, {"a": 1, "b": 2}, "gone"),
        (1, {"a": 1}, "back"),
    ]
    assert answers == [state for state in expected for _ in range(times)]


@pytest.mark.parametrize("form", FORMS)
def test_what_the_worker_has_changed_stays_whatever_is_sent(places, form):
    home, worker = places
    home.do(SOURCE)
    sent, read = FORMS[form]
    payload = "{'value': %s, 'K': K}" % sent
    home.do("n = 0")
    worker.load(home.dumps(payload))
    worker.do("K.x = 3; K.table['w'] = 0; del K.extra; K.own_name = 1")

    for _ in range(4):
        worker.load(home.dumps(payload))
        assert worker.get(read) == (3, {"a": 1, "w": 0}, "gone")
        assert worker.get("K.own_name") == 1


def test_a_payload_that_is_older_is_what_was_said_last(places):
    home, worker = places
    home.do("class K: x = 1")
    old = home.dumps("{'K': K}")
    home.do("K.x = 2; K.y = 2")
    new = home.dumps("{'K': K}")
    answers = []
    for payload in (old, new, old, new, new, old):
        worker.load(payload)
        answers.append(worker.get("K.x, hasattr(K, 'y')"))

    one, two = (1, False), (2, True)
    assert answers == [one, two, one, two, two, one]


WAYS = {
    "pickles for engines": ("engine.dumps(K)", "import pickle; K = pickle.loads(data)"),
    "an unpickler": (
        "waybill.dumps(K)",
        "import io; K = waybill.Unpickler(io.BytesIO(data)).load()",
    ),
}


@pytest.mark.parametrize("send, receive", WAYS.values(), ids=WAYS)
def test_a_change_arrives_by_other_ways(places, send, receive):
    home, worker = places
    home.do("from waybill.integrations import pickle as engine\nclass K: x = 1")
    worker.do(receive, data=home.get(send))
    worker.do("K.own = 1")
    home.do("K.x = 2")

    worker.do(receive, data=home.get(send))

    assert worker.get("K.x, K.own") == (2, 1)


# ---- One change at a time

STORIES = {
    "a function sees the attribute that the sender has changed": Story(
        define="class Conf: lr = 0.1\ndef get(): return Conf.lr",
        sent="{'get': get}",
        worker="assert get() == 0.1",
        home="Conf.lr = 0.5",
        read="get()",
        expected=0.5,
    ),
    "the registry of the worker keeps the classes of the worker": Story(
        define="""
        class Plugin:
            kinds = {}
            def __init_subclass__(cls): Plugin.kinds[cls.__name__] = cls
        class Csv(Plugin): pass
        """,
        sent="{'Plugin': Plugin}",
        worker="class Own(Plugin): pass",
        home="class Json(Plugin): pass",
        read="[k for k, v in Plugin.kinds.items() if v.__name__ == k],"
        "Plugin.kinds['Own'] is Own",
        expected=(["Csv", "Json", "Own"], True),
    ),
    "what the sender deleted is gone": Story(
        define="class K: x, y = 1, 1",
        home="del K.x",
        read="hasattr(K, 'x'), K.y",
        expected=(False, 1),
    ),
    "what the sender deleted is gone also if the worker had changed it": Story(
        define="class K: x = 1",
        worker="K.x = 3",
        home="del K.x",
        read="hasattr(K, 'x')",
        expected=False,
    ),
    "what both have deleted is gone without an error": Story(
        define="class K: x, table = 1, {'a': 1}",
        worker="del K.x; del K.table['a']",
        home="del K.x; del K.table['a']",
        read="hasattr(K, 'x'), K.table",
        expected=(False, {}),
    ),
    "an attribute of the worker's own stays": Story(
        define="class K: x = 1",
        worker="K.own = [1]; held = K.own",
        home="K.x = 2",
        read="K.x, K.own, K.own is held",
        expected=(2, [1], True),
    ),
    "an unchanged attribute stays the same object": Story(
        define="class K: x, y, z = [1], {'a': [1]}, object()",
        worker="held = K.x, K.y, K.y['a'], K.z",
        home="K.new = 1",
        read="[a is b for a, b in zip(held, (K.x, K.y, K.y['a'], K.z))]",
        expected=[True] * 4,
    ),
    "instances that are there see the change": Story(
        define="class K: x = 1",
        sent="{'one': K()}",
        home="K.x = 2",
        again="{'other': K()}",
        read="one.x, other.x, type(one) is type(other)",
        expected=(2, 2, True),
    ),
    "a registry knows the class that the sender has added": Story(
        define="""
        class Plugin:
            kinds = {}
            def __init_subclass__(cls): Plugin.kinds[cls.__name__] = cls
        class Csv(Plugin): pass
        """,
        sent="{'get': lambda: sorted(Plugin.kinds)}",
        worker="assert get() == ['Csv']",
        home="class Json(Plugin): pass",
        again="{'get': lambda: (Json.__name__, sorted(Plugin.kinds))}",
        read="get()",
        expected=("Json", ["Csv", "Json"]),
    ),
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_class_is_what_both_sides_have_made_of_it(places, story):
    story.demand(*places)


def test_an_attribute_of_the_workers_own_is_the_senders_once_it_has_sent_it(places):
    home, worker = places
    home.do("class K: pass")
    worker.load(home.dumps("{'K': K}"))
    worker.do("K.x = 'of the worker'")
    home.do("K.x = 'of the sender'")
    worker.load(home.dumps("{'K': K}"))
    assert worker.get("K.x") == "of the sender"

    home.do("del K.x")
    worker.load(home.dumps("{'K': K}"))

    assert not worker.get("hasattr(K, 'x')")


def test_what_the_worker_has_deleted_returns_only_when_the_sender_changes_it(places):
    home, worker = places
    home.do("class K: x = 1")
    worker.load(home.dumps("{'K': K}"))
    worker.do("del K.x")
    for _ in range(3):
        worker.load(home.dumps("{'K': K}"))
        assert not worker.get("hasattr(K, 'x')")
    home.do("K.x = 2")

    worker.load(home.dumps("{'K': K}"))

    assert worker.get("K.x") == 2
