"""How long a process knows a class that it received, and which classes are one."""

import pytest

SENT = "{'K': K}"


@pytest.fixture
def places(fresh_places):
    return fresh_places(3, "import gc, weakref")


# ---- The table of received classes


def test_a_class_that_nobody_holds_keeps_its_state(places):
    home, worker, _ = places
    home.do("class K: x, y, table = 1, 1, {'a': 1}")
    worker.load(home.dumps(SENT))
    worker.do("K.x = K.own = 3; K.table['w'] = 3")
    worker.do("del K\nfor _ in range(3): gc.collect()")
    home.do("K.y = 2; K.table['b'] = 2")

    worker.load(home.dumps(SENT))

    expected = (3, 2, 3, {"a": 1, "b": 2, "w": 3})
    assert worker.get("K.x, K.y, K.own, K.table") == expected


def test_a_forgotten_class_that_nobody_holds_dies(places):
    home, worker, _ = places
    home.do("class K: x = 1")
    worker.load(home.dumps(SENT))
    worker.do("K.own = 3; reference = weakref.ref(K); del K")

    worker.do("answer = waybill.forget_classes(); gc.collect()")

    assert worker.get("answer, reference() is None") == (None, True)
    worker.load(home.dumps(SENT))
    assert worker.get("K.x, hasattr(K, 'own')") == (1, False)


def test_a_forgotten_class_that_lives_is_set_and_nothing_is_deleted(places):
    home, worker, _ = places
    home.do("class K: x, y, gone = 1, 1, 1")
    worker.load(home.dumps(SENT))
    worker.do("K.x = K.own = 3; held = K")
    worker.do("waybill.forget_classes()")
    home.do("K.y = 2; del K.gone")

    worker.load(home.dumps(SENT))

    assert worker.get("K is held, K.x, K.y, K.own, K.gone") == (True, 1, 2, 3, 1)
    # From here on all is as ever.
    worker.do("K.x = 3")
    home.do("del K.y")
    worker.load(home.dumps(SENT))
    assert worker.get("K.x, hasattr(K, 'y'), K.own") == (3, False, 3)


def test_forgetting_does_not_touch_the_programs_own_classes(places):
    home, worker, _ = places
    home.do("class K: x = 1")
    worker.load(home.dumps(SENT))
    home.do("waybill.forget_classes(); gc.collect(); before = K")

    home.load(worker.dumps(SENT))

    assert home.get("K is before")


SEVERAL = """
classes = []
for n in range(20):
    class K: pass
    K.n, K.text = n, str(n) * size
    classes.append(K)
"""
LOAD = """
references = []
for payload in payloads: references.append(weakref.ref(waybill.loads(payload)))
gc.collect()
alive = [n for n, reference in enumerate(references) if reference() is not None]
"""


def test_so_many_classes_are_kept_as_was_configured(places):
    home, worker, _ = places
    home.do("size = 1" + SEVERAL)
    worker.do("waybill.configure(max_classes=5)")

    payloads = home.get("[waybill.dumps(K) for K in classes]")
    worker.do(LOAD, payloads=payloads)

    # Those that came last.
    assert worker.get("alive") == [15, 16, 17, 18, 19]


def test_classes_of_so_many_bytes_are_kept_as_was_configured(places):
    home, worker, _ = places
    home.do("size = 10_000" + SEVERAL)
    worker.do("waybill.configure(max_class_bytes=105_000)")

    payloads = home.get("[waybill.dumps(K) for K in classes[:10]]")
    worker.do(LOAD, payloads=payloads)

    assert worker.get("alive") == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]

    payloads = home.get("[waybill.dumps(K) for K in classes]")
    worker.do(LOAD, payloads=payloads)

    # The text of those from ten on has 20,000 characters.
    assert worker.get("alive") == [15, 16, 17, 18, 19]


def test_a_class_larger_than_all_that_is_kept_still_arrives(places):
    home, worker, _ = places
    home.do("class K: x, text = 1, 'a' * 10_000")
    worker.do("waybill.configure(max_class_bytes=1000)")
    for number in range(3):
        home.do(f"K.x = {number}")

        worker.load(home.dumps(SENT))

        assert worker.get("K.x, K().x, len(K.text)") == (number, number, 10_000)


def test_a_bound_that_is_lowered_forgets_at_once(places):
    home, worker, _ = places
    home.do("size = 1" + SEVERAL)
    worker.do(LOAD, payloads=home.get("[waybill.dumps(K) for K in classes]"))
    assert worker.get("len(alive)") == 20

    worker.do("waybill.configure(max_classes=2); gc.collect()")

    assert worker.get("sum(r() is not None for r in references)") <= 2


@pytest.mark.parametrize("caches", [True, False])
def test_a_new_class_is_not_the_first_to_leave(places, caches):
    home, worker, _ = places
    home.do("""
        def counter_of(cls):
            def count():
                cls.n += 1
                return cls.n
            return count

        class A: n = 0
        class B: n = 0
        class C: n = 0
    """)
    worker.do(f"waybill.configure(max_classes=2, caches={caches}); kept = []")
    payloads = home.get("[waybill.dumps(counter_of(K)) for K in (A, B, A, B, C, C, C)]")

    worker.do(
        "for payload in payloads: kept.append(waybill.loads(payload))\n"
        "counts = [count() for count in kept]",
        payloads=payloads,
    )

    assert worker.get("counts") == [1, 1, 2, 2, 1, 2, 3]


def test_a_class_that_fell_out_of_the_table_and_lives_stays_one_class(places):
    home, worker, _ = places
    home.do("size = 1" + SEVERAL)
    worker.do("waybill.configure(max_classes=2)")
    payloads = home.get("[waybill.dumps(K) for K in classes]")
    worker.do("first = waybill.loads(data); first.own = 3", data=payloads[0])
    worker.do(LOAD, payloads=payloads[1:])

    worker.do("again = waybill.loads(data)", data=payloads[0])

    assert worker.get("again is first, again.own, again.n") == (True, 3, 0)


# ---- Which classes are one

TEXT = "class K: x, y = 1, 1\n"


def test_equal_text_again_is_another_class_while_the_old_one_lives(places):
    home, worker, _ = places
    home.do(TEXT)
    home.do("Old = K")
    worker.load(home.dumps("{'Old': Old}"))
    home.do(TEXT)
    home.do("K.x = 2")

    worker.load(home.dumps("{'K': K, 'Old': Old}"))

    assert worker.get("K is Old, K.x, Old.x") == (False, 2, 1)
    home.do("Old.y = 5")
    worker.do("K.own = 3")
    worker.load(home.dumps("{'K': K}"))
    worker.load(home.dumps("{'Old': Old}"))
    assert worker.get("K.y, Old.y, K.own, hasattr(Old, 'own')") == (1, 5, 3, False)


def test_twins_of_one_process_stay_two_and_come_home_to_themselves(places):
    home, worker, _ = places
    home.do(TEXT)
    home.do("One = K")
    home.do(TEXT)
    home.do("Two = K; before = One, Two")
    worker.load(home.dumps("{'One': One}"))
    worker.load(home.dumps("{'Two': Two}"))
    assert worker.get("One is not Two")

    home.load(worker.dumps("{'One': One, 'Two': Two}"))

    assert home.get("(One, Two) == before")


def test_many_twins_stay_many(places):
    home, worker, _ = places
    home.do("""
    def make():
        class K: x = 1
        return K
    all_of_them = [make() for _ in range(30)]
    """)
    for _ in range(2):
        worker.load(home.dumps("{'all_of_them': all_of_them}"))
        assert worker.get("len(set(all_of_them))") == 30
    home.do("all_of_them[7].x = 2")
    worker.load(home.dumps("{'one': all_of_them[7]}"))
    assert worker.get("[n for n, K in enumerate(all_of_them) if K.x == 2]") == [7]


def test_equal_payloads_come_of_an_unchanged_script_that_runs_again(places):
    home, again, worker = places
    for place in (home, again):
        place.do(TEXT + "class L(K): z = K")

    assert home.dumps("{'K': K, 'L': L}") == again.dumps("{'K': K, 'L': L}")


#: What the old run says last, what the worker does, and what the new run finds there.
RUNS = {
    "the worker's state": ("", "K.x = K.own = 3", (True, 3, 1, 3, None)),
    "nothing that the old run had said": (
        "K.x = K.new = 2",
        "",
        (True, 1, 1, None, None),
    ),
}


@pytest.mark.parametrize("said, done, found", RUNS.values(), ids=RUNS)
def test_a_script_that_runs_again_finds(places, said, done, found):
    home, again, worker = places
    home.do(TEXT)
    worker.load(home.dumps(SENT))
    home.do(said)
    worker.load(home.dumps(SENT))
    worker.do(f"{done}\nheld = K")
    home.close()
    again.do(TEXT)

    worker.load(again.dumps(SENT))

    names = "(getattr(K, name, None) for name in ('x', 'y', 'own', 'new'))"
    assert worker.get(f"(K is held, *{names})") == found


def test_of_two_users_with_equal_text_the_last_to_send_wins(places):
    one, two, worker = places
    one.do(TEXT)
    two.do(TEXT)
    worker.load(one.dumps("{'One': K}"))
    worker.load(two.dumps("{'Two': K}"))
    assert worker.get("One is Two")
    two.do("K.x = 2")

    worker.load(two.dumps("{'Two': K}"))
    assert worker.get("One.x") == 2

    worker.load(one.dumps("{'One': K}"))
    assert worker.get("Two.x") == 1


def test_other_text_is_another_class(places):
    home, worker, _ = places
    home.do(TEXT)
    worker.load(home.dumps("{'Old': K}"))
    worker.do("Old.own = 3")
    home.do("class K: x, y = 2, 1")

    worker.load(home.dumps(SENT))

    expected = (False, 2, 1, False)
    assert worker.get("K is Old, K.x, Old.x, hasattr(K, 'own')") == expected


def test_a_class_that_is_made_like_one_that_was_received_is_not_that_one(places):
    home, worker, _ = places
    home.do(TEXT)
    worker.do(TEXT)
    worker.do("Own = K")

    worker.load(home.dumps(SENT))

    assert worker.get("K is Own, K.x, Own.x") == (False, 1, 1)
    home.load(worker.dumps("{'Own': Own, 'Back': K}"))
    assert home.get("Back is K, Own is K") == (True, False)
