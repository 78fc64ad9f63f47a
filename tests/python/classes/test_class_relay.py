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


def test_who_does_not_know_the_class_gets_its_current_state(chain):
    home, a, b, _ = chain
    relay(home, a)
    a.do("K.x = 3; K.own = 3; K.table['w'] = 3; K.items.append(3); del K.y")

    relay(a, b)

    expected = (3, 3, {"a": 1, "w": 3}, [1, 3], False)
    assert b.get("K.x, K.own, K.table, K.items, hasattr(K, 'y')") == expected


def test_changes_of_a_worker_do_not_reach_who_knows_the_class(chain):
    home, a, b, _ = chain
    relay(home, a)
    relay(home, b)
    a.do("K.x = 3; K.own = 3; K.table['w'] = 3; K.table['a'] = 3; del K.y")

    relay(a, b)

    assert b.get("K.x, K.y, hasattr(K, 'own'), K.table") == (1, 1, False, {"a": 1})


def test_changes_of_a_worker_in_place_do_not_reach_who_knows_the_class(chain):
    home, a, b, _ = chain
    relay(home, a)
    relay(home, b)
    a.do("K.items.append(3)")

    relay(a, b)

    assert b.get("K.items") == [1]


def test_changes_of_the_home_reach_the_end_of_the_chain(chain):
    home, a, b, c = chain
    relay(home, a, b, c)
    home.do("K.x = 2; K.new = 2; K.table['b'] = 2; del K.y; K.items = [2]")

    relay(home, a, b, c)

    expected = (2, 2, {"a": 1, "b": 2}, False, [2])
    assert c.get("K.x, K.new, K.table, hasattr(K, 'y'), K.items") == expected


def test_changes_of_the_home_pass_a_worker_that_has_changes_of_its_own(chain):
    home, a, b, c = chain
    relay(home, a, b, c)
    a.do("K.x = 3; K.own = 3; K.table['w'] = 3")
    b.do("K.y = 4; K.table['v'] = 4")
    home.do("K.new = 2; K.table['b'] = 2")

    relay(home, a, b, c)

    read = "K.x, K.y, K.new, sorted(K.table), hasattr(K, 'own')"
    assert a.get(read) == (3, 1, 2, ["a", "b", "w"], True)
    assert b.get(read) == (1, 4, 2, ["a", "b", "v"], False)
    assert c.get(read) == (1, 1, 2, ["a", "b"], False)


def test_a_method_that_the_home_has_changed_reaches_the_end_of_the_chain(chain):
    home, a, b, _ = chain
    relay(home, a, b)
    home.do("K.run = lambda self: 'new'")

    relay(home, a, b)

    assert b.get("K().run()") == "new"


def test_a_method_that_a_worker_put_there_does_not_reach_who_knows_the_class(chain):
    home, a, b, _ = chain
    relay(home, a)
    relay(home, b)
    a.do("K.run = lambda self: 'of the worker'")

    relay(a, b)

    assert b.get("K().run()") == "of the home"


def test_who_got_a_workers_state_still_hears_the_home(chain):
    home, a, b, _ = chain
    relay(home, a)
    a.do("K.x = 3; K.y = 3; K.table['w'] = 3")
    relay(a, b)
    home.do("K.x = 2")

    relay(home, b)

    # What the home has not changed since stays as the worker had it.
    assert b.get("K.x, K.y, K.table") == (2, 3, {"a": 1, "w": 3})


def test_who_got_a_workers_state_hears_the_home_through_the_worker(chain):
    home, a, b, _ = chain
    relay(home, a)
    a.do("K.x = 3; K.y = 3")
    relay(a, b)
    home.do("K.x = 2")

    relay(home, a, b)

    assert a.get("K.x, K.y") == b.get("K.x, K.y") == (2, 3)


def test_what_the_home_has_deleted_is_deleted_through_a_worker(chain):
    home, a, b, _ = chain
    relay(home, a, b)
    a.do("K.own = 3")
    home.do("del K.x")

    relay(home, a, b)

    assert b.get("hasattr(K, 'x'), K.y") == (False, 1)


def test_the_last_payload_wins_whoever_passed_it_on(chain):
    home, a, b, _ = chain
    relay(home, a)
    home.do("K.x = 2")
    relay(home, b)
    assert b.get("K.x") == 2

    # Its word is the older one.
    relay(a, b)
    assert b.get("K.x") == 1

    relay(home, b)
    assert b.get("K.x") == 2


def test_a_change_that_only_the_middle_has_seen_arrives_later(chain):
    home, a, b, _ = chain
    relay(home, a, b)
    for number in (2, 3):
        home.do(f"K.x = {number}; K.table['n{number}'] = {number}")
        relay(home, a)

    relay(a, b)

    assert b.get("K.x, K.table") == (3, {"a": 1, "n2": 2, "n3": 3})


def test_a_worker_that_gets_its_own_payload_back_keeps_its_state(chain):
    home, a, b, _ = chain
    relay(home, a, b)
    a.do("K.x = 3; K.own = 3")

    relay(a, b, a)

    assert a.get("K.x, K.own") == (3, 3)


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
