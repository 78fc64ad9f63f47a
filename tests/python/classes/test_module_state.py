"""Namespaces of modules by value obey the rules of class state.

The module object that arrives is new, and the functions of its payload see that one.
State that the worker changed in the one before is moved into it.
"""

import pytest
from class_state_worker import PlaceError, several

MODULE = """
import importlib, os, sys, tempfile, types
def module(name, text):
    folder = tempfile.mkdtemp()
    with open(os.path.join(folder, name + '.py'), 'w') as file: file.write(text)
    sys.path.append(folder)
    return importlib.import_module(name)
"""
TEXT = """
limit = 1
count = 0
gone = 1
table = {'a': 1}
items = [1]
def add():
    global count
    count += 1
    return count
def get():
    names = [name for name in ('gone', 'new', 'own') if name in globals()]
    return limit, count, dict(table), list(items), names
class Inside:
    x = 1
"""
SENT = "{'add': settings.add, 'get': settings.get, 'settings': settings}"


@pytest.fixture
def places(fresh_places):
    places = fresh_places(3)
    places[0].do(MODULE)
    places[0].do("settings = module('settings_by_value', text)", text=TEXT)
    return places


def send(home, *workers, what=SENT):
    for worker in workers:
        worker.load(home.dumps(what, by_value=["settings_by_value"]))


def test_what_the_worker_counts_in_a_module_goes_on(places):
    home, worker, _ = places
    counted = []
    for _ in range(3):
        send(home, worker)
        counted.append(worker.get("[add(), add()]"))

    assert counted == [[1, 2], [3, 4], [5, 6]]


def test_changes_of_both_sides_are_merged(places):
    home, worker, _ = places
    send(home, worker)
    worker.do("add(); settings.table['w'] = 3; settings.own = 3")
    worker.do("settings.items.append(3)")
    home.do("settings.limit = settings.new = 2; settings.table['b'] = 2")
    home.do("del settings.gone")

    send(home, worker)

    expected = (2, 1, {"a": 1, "b": 2, "w": 3}, [1, 3], ["new", "own"])
    assert worker.get("get()") == expected
    assert worker.get("list(settings.table)") == ["a", "b", "w"]


def test_the_sender_wins_where_both_have_changed(places):
    home, worker, _ = places
    send(home, worker)
    worker.do("add(); settings.limit = 3; settings.items.append(3)")
    home.do("settings.count = 10; settings.limit = 2; settings.items.append(2)")

    send(home, worker)

    assert worker.get("get()[:2], get()[3]") == ((2, 10), [1, 2])


def test_functions_of_a_payload_see_its_module(places):
    home, worker, _ = places
    send(home, worker)
    worker.do("before = settings, get")
    home.do("settings.limit = 2")

    send(home, worker)

    assert worker.get("get.__globals__ is vars(settings)")
    assert worker.get("settings.get is get and settings.add is add")
    assert worker.get("before[0] is settings") is False


def test_a_function_that_the_sender_has_changed_arrives(places):
    home, worker, _ = places
    send(home, worker)
    worker.do("add()")
    home.do("exec('def get(): return count, \"new\"', vars(settings))")

    send(home, worker)

    assert worker.get("get()") == (1, "new")


def test_a_class_inside_of_a_module_is_merged_too(places):
    home, worker, _ = places
    send(home, worker)
    worker.do("settings.Inside.own = 3; inside = settings.Inside")
    home.do("settings.Inside.x = 2")

    send(home, worker)

    assert worker.get("settings.Inside is inside, inside.x, inside.own") == (True, 2, 3)


def test_a_task_that_uses_the_module_sees_the_change(places):
    home, worker, _ = places
    home.do("def task(): return settings.limit, settings.add()")
    answers = []
    for number in (1, 1, 2, 2):
        home.do(f"settings.limit = {number}")
        send(home, worker, what="{'task': task}")
        answers.append(worker.get("task()"))

    assert answers == [(1, 1), (1, 2), (2, 3), (2, 4)]


def test_a_payload_that_fails_changes_no_module(places):
    home, worker, _ = places
    send(home, worker)
    worker.do("add()")
    home.do("""
    class Bomb:
        def __reduce__(self): return int, ('no number',)
    settings.limit = 2
    """)
    with pytest.raises(PlaceError):
        send(home, worker, what="{'get': settings.get, 'bomb': Bomb()}")
    assert worker.get("get()[:2]") == (1, 1)

    send(home, worker)

    assert worker.get("get()[:2]") == (2, 1)


def test_results_do_not_change_the_module_at_home(places):
    home, worker, _ = places
    send(home, worker)
    worker.do("add(); settings.limit = 3; settings.own = 3")
    home.do("before = settings")

    home.load(worker.dumps("{'back': get, 'module': settings}"))

    expected = (True, (1, 0, {"a": 1}, [1], ["gone"]))
    assert home.get("settings is before, settings.get()") == expected


def test_one_side_alone_counts_for_modules_too(places):
    home, worker, other = places
    send(home, worker, other)
    for place in (worker, other):
        place.do("add(); settings.limit = 3; settings.own = 3")
    home.do("settings.limit = 2")
    payload = home.dumps(SENT, by_value=["settings_by_value"])

    worker.load(payload, class_state="sender")
    other.load(payload, class_state="worker")

    assert worker.get("get()[:2], get()[4]") == ((2, 0), ["gone"])
    assert other.get("get()[:2], get()[4]") == ((3, 1), ["gone", "own"])


def test_the_trace_tells_the_module(places):
    home, worker, _ = places
    send(home, worker)
    worker.do("""
    import types
    changes = []
    def note(change):
        if isinstance(change.cls, types.ModuleType):
            changes.append((change.cls.__name__, change.attribute, change.action))
    waybill.configure(trace=note)
    """)
    home.do("settings.limit = 2; del settings.gone; settings.table['b'] = 2")

    send(home, worker)

    assert worker.get("sorted(changes)") == [
        ("settings_by_value", "gone", "deleted"),
        ("settings_by_value", "limit", "set"),
        ("settings_by_value", "table", "patched"),
    ]


def test_a_module_that_was_forgotten_is_as_its_payload_says(places):
    home, worker, _ = places
    send(home, worker)
    worker.do("add(); del settings, get; waybill.forget_classes()")

    send(home, worker)

    assert worker.get("add()") == 1


def test_modules_of_one_name_and_other_content_are_apart(places):
    home, other, worker = places
    other.do(MODULE)
    other.do(
        "settings = module('settings_by_value', text)",
        text="count = 100\ndef add():\n    global count\n    count += 1\n"
        "    return count\nget = add\n",
    )
    send(home, worker)
    worker.do("add()")

    send(other, worker)

    # What came last is what is said of this name.
    assert worker.get("add()") == 101


def test_a_module_made_by_hand_is_a_new_one_each_time(places):
    # No file tells two of them with one name apart.
    home, worker, _ = places
    home.do(
        "hand = types.ModuleType('made_by_hand'); exec(text, vars(hand))", text=TEXT
    )
    sent = "{'add': hand.add, 'get': hand.get, 'hand': hand}"
    worker.load(home.dumps(sent))
    worker.do("add(); hand.own = 3")
    home.do("hand.limit = 2")

    worker.load(home.dumps(sent))

    assert worker.get("get()[:2], get()[4]") == ((2, 0), ["gone"])


def test_what_many_modules_have_is_looked_at_once():
    with several(2) as (home, worker):
        home.do(MODULE)
        home.do("""
names = [f'web_{number}' for number in range(8)]
for name in names:
    module(name, 'BLOB = ["x"]\\ndef get(): return len(globals())\\n')
for one in names:
    for other in names: setattr(sys.modules[one], other, sys.modules[other])
""")
        worker.do("""
import waybill._core as core, waybill
hashed, content_hash = [], core.content_hash
def counting(value, *options):
    hashed.append(value)
    return content_hash(value, *options)
core.content_hash = counting
""")
        what = "{name: sys.modules[name] for name in names}"
        worker.load(home.dumps(what, by_value=[f"web_{n}" for n in range(8)]))

        modules = worker.get("[v.__name__ for v in hashed if hasattr(v, 'BLOB')]")
        assert sorted(modules) == [f"web_{number}" for number in range(8)]
