"""Members that an enumeration gets, or loses, once it has travelled."""

import fresh_process
import pytest
from class_state_matrix import IMPORTS
from class_state_worker import PlaceError, several

#: What programs do that change an enumeration, as aenum's extend_enum.
CHANGES = """
def extend(cls, name, value):
    kind = cls._member_type_
    new = object.__new__(cls) if kind is object else kind.__new__(cls, value)
    new._name_, new._value_, new.__objclass__ = name, value, cls
    new._sort_order_ = len(cls._member_names_)
    cls._member_map_[name] = new
    cls._member_names_.append(name)
    cls._value2member_map_[value] = new
    if issubclass(cls, enum.Flag):
        cls._flag_mask_ |= value
        cls._singles_mask_ |= value
        cls._all_bits_ = 2 ** cls._flag_mask_.bit_length() - 1
    if hasattr(cls, '_hashable_values_'): cls._hashable_values_.append(value)
    type.__setattr__(cls, name, new)

def shrink(cls, name):
    gone = cls._member_map_.pop(name)
    cls._member_names_.remove(name)
    del cls._value2member_map_[gone._value_]
    if hasattr(cls, '_hashable_values_'): cls._hashable_values_.remove(gone._value_)
    type.__delattr__(cls, name)

def look(cls):
    return [(m.name, m.value, cls[m.name] is m is cls(m.value)) for m in cls]
"""
#: Raises where it is loaded.
BOMB = "class Bomb:\n    def __reduce__(self): return int, ('no number',)"
ENUM = "class K(enum.Enum):\n    A, B = 1, 2"


@pytest.fixture
def places():
    with several(3) as (home, worker, last):
        for place in (home, worker, last):
            place.do(IMPORTS)
            place.do(CHANGES)
        yield home, worker, last


def names(place):
    found = place.get("look(K)")
    assert all(is_whole for _, _, is_whole in found)
    return "".join(name for name, _, _ in found)


@pytest.fixture
def sent(places):
    """Home, and a worker that has the enumeration."""
    home, worker, _ = places
    home.do(ENUM)
    worker.load(home.dumps("{'K': K}"))
    worker.do("first = list(K)")
    return home, worker


@pytest.mark.parametrize(
    ("define", "value"),
    [
        (ENUM, "3"),
        ("class K(enum.IntEnum): A, B = 1, 2", "3"),
        ("class K(str, enum.Enum): A, B = 'a', 'b'", "'c'"),
        ("class K(enum.Flag): A, B = 1, 2", "4"),
        ("class K(enum.IntFlag): A, B = 1, 2", "4"),
        ("class K(enum.Enum): A, B = [1], (2,)", "(3,)"),
        (f"{ENUM}\n    def __init__(self, value): given.append(value)", "3"),
    ],
    ids=["plain", "int", "str", "flag", "int flag", "values without hash", "__init__"],
)
def test_member_that_home_adds_is_there(places, define, value):
    home, worker, _ = places
    home.do(f"given = []\n{define}")
    worker.load(home.dumps("{'K': K}"))
    worker.do("first = list(K)")
    home.do(f"extend(K, 'C', {value})")

    worker.load(home.dumps("{'K': K, 'c': K.C, 'again': K.C}"))

    assert names(worker) == "ABC"
    assert worker.get("c is again is K.C is K['C'], list(K)[:2] == first") == (
        True,
        True,
    )
    assert worker.get("[K.C.value, K.C._sort_order_]") == [home.get(value), 2]


def test_instances_of_a_member_that_arrives_in_data_alone_find_it(sent):
    home, worker = sent
    home.do("extend(K, 'C', 3)")

    worker.load(home.dumps("{'table': {K.C: [K.C]}}"))

    assert worker.get("list(table)[0] is table[K.C][0] is K.C") is True


def test_member_that_home_removes_goes(sent):
    home, worker = sent
    home.do("shrink(K, 'A')")

    worker.load(home.dumps("{'K': K}"))

    assert names(worker) == "B"
    assert worker.get("hasattr(K, 'A'), K.B is first[1]") == (False, True)
    with pytest.raises(PlaceError, match="1 is not a valid"):
        worker.get("K(1)")


def test_member_of_the_worker_stays(sent):
    home, worker = sent
    worker.do("extend(K, 'W', 9)\nown = K.W")
    home.do("extend(K, 'C', 3)\nshrink(K, 'A')")

    worker.load(home.dumps("{'K': K}"))

    assert sorted(names(worker)) == ["B", "C", "W"]
    assert worker.get("K.W is K(9) is own") is True


def test_member_of_the_worker_does_not_come_home(sent):
    home, worker = sent
    worker.do("extend(K, 'W', 9)")

    home.load(worker.dumps("{'back': K}"))

    assert home.get("back is K") is True
    assert names(home) == "AB"


def test_member_that_was_removed_and_added_again_is_a_new_one(sent):
    home, worker = sent
    home.do("shrink(K, 'B')")
    worker.load(home.dumps("{'K': K}"))
    home.do("extend(K, 'B', 5)")

    worker.load(home.dumps("{'K': K}"))

    assert worker.get("look(K)") == [("A", 1, True), ("B", 5, True)]


def test_the_payload_that_comes_last_says_which_members_there_are(sent):
    home, worker = sent
    old = home.dumps("{'K': K}")
    home.do("extend(K, 'C', 3)")
    new = home.dumps("{'K': K}")

    worker.load(new)
    worker.load(old)
    assert names(worker) == "AB"
    worker.load(new)
    assert names(worker) == "ABC"


def test_member_comes_by_way_of_another_worker(places, sent):
    home, worker = sent
    last = places[2]
    last.load(home.dumps("{'K': K}"))
    home.do("extend(K, 'C', 3)")
    worker.load(home.dumps("{'K': K}"))

    last.load(worker.dumps("{'K': K, 'c': K.C}"))

    assert names(last) == "ABC"
    assert last.get("c is K.C") is True


@pytest.mark.parametrize("side", ["sender", "worker"])
def test_one_side_alone_may_say_which_members_there_are(sent, side):
    home, worker = sent
    worker.do("extend(K, 'W', 9)")
    home.do("extend(K, 'C', 3)")

    worker.load(home.dumps("{'K': K}"), class_state=side)

    # A payload may refer to each member that it brings.
    assert sorted(names(worker)) == (list("ABC") if side == "sender" else list("ABCW"))


def test_payload_that_fails_adds_and_removes_no_member(sent):
    home, worker = sent
    home.do(BOMB)
    home.do("extend(K, 'C', 3)\nshrink(K, 'A')")

    with pytest.raises(PlaceError, match="no number"):
        worker.load(home.dumps("{'K': K, 'c': K.C, 'bomb': Bomb()}"))

    assert names(worker) == "AB"
    assert worker.get("list(K) == first, hasattr(K, 'C')") == (True, False)


def test_payload_whose_class_conflicts_removes_no_member(sent):
    home, worker = sent
    home.do("class Base: pass\nclass L(Base): pass\nclass M: pass")
    worker.load(home.dumps("{'L': L, 'M': M}"))
    worker.do("class Own(M, L): pass")
    home.do("shrink(K, 'A')\nL.__bases__ = (M,)")

    with pytest.raises(PlaceError, match="class_conflict"):
        worker.load(home.dumps("{'K': K, 'L': L}"))

    assert names(worker) == "AB"


def test_aliases_come_and_go_with_their_names(sent):
    home, worker = sent
    home.do("K._member_map_['ALSO'] = K.A\ntype.__setattr__(K, 'ALSO', K.A)")
    worker.load(home.dumps("{'K': K}"))
    assert worker.get("K.ALSO is K.A is first[0], list(K) == first") == (True, True)
    home.do("del K._member_map_['ALSO']\ntype.__delattr__(K, 'ALSO')")

    worker.load(home.dumps("{'K': K}"))

    assert worker.get("hasattr(K, 'ALSO'), K(1) is K.A is first[0]") == (False, True)


def test_flags_know_the_bits_that_came(places):
    home, worker, _ = places
    home.do("class K(enum.Flag): A, B = 1, 2")
    worker.load(home.dumps("{'K': K}"))
    worker.do("both, complement = K.A | K.B, ~K.A")
    home.do("extend(K, 'C', 4)")

    worker.load(home.dumps("{'K': K}"))

    assert worker.get("(~K.A).value, (K.A | K.B) is both, K(7).value") == (6, True, 7)
    assert worker.get("K.A in K(7), [m.name for m in K(5)]") == (True, ["A", "C"])


def test_what_a_member_has_besides_its_value_comes_with_it(sent):
    home, worker = sent
    home.do("extend(K, 'C', 3)\nK.C.note = ['x']")

    worker.load(home.dumps("{'K': K}"))

    assert worker.get("K.C.note") == ["x"]


def test_trace_tells_members_that_came_and_went(sent):
    home, worker = sent
    worker.do(
        "told = []\n"
        "waybill.configure(trace=lambda c: told.append((c.attribute, c.action)))"
    )
    home.do("extend(K, 'C', 3)\nshrink(K, 'A')")

    worker.load(home.dumps("{'K': K}"))

    assert worker.get("told") == [("C", "set"), ("A", "deleted")]


def test_attribute_in_the_place_of_a_member_stays(sent):
    home, worker = sent
    home.do("shrink(K, 'A')\nK.A = 6")

    worker.load(home.dumps("{'K': K}"))

    assert worker.get("K.A") == 6
    assert names(worker) == "B"


def test_member_that_the_worker_removed_stays_away(sent):
    home, worker = sent
    worker.do("shrink(K, 'A')")

    worker.load(home.dumps("{'K': K}"))

    assert names(worker) == "B"


def test_member_of_a_worker_does_not_reach_another_that_knows_the_class(places, sent):
    home, worker = sent
    last = places[2]
    home.do("K.A.note = 'home'")
    for place in (worker, last):
        place.load(home.dumps("{'K': K}"))
    worker.do("extend(K, 'W', 9)")

    last.load(worker.dumps("{'K': K}"))
    assert names(last) == "AB"
    last.do("K.A.note = 'own'")
    last.load(home.dumps("{'K': K}"))
    assert names(last) == "AB"
    assert last.get("K.A.note") == "own"


def test_attribute_that_a_failing_payload_replaced_is_there_again(sent):
    home, worker = sent
    worker.do("K.C = 'mine'")
    home.do(BOMB)
    home.do("extend(K, 'C', 3)")

    with pytest.raises(PlaceError, match="no number"):
        worker.load(home.dumps("{'K': K, 'bomb': Bomb()}"))

    assert worker.get("K.C") == "mine"


def test_member_stays_that_another_payload_has_brought_meanwhile(sent):
    home, worker = sent
    home.do("extend(K, 'C', 3)\nK.C.note = 1")
    worker.do("import sys\nsys.good = None")
    home.do(
        "class Bomb:\n"
        "    def __reduce__(self): return load_good, ()\n"
        "def load_good():\n"
        "    import sys, waybill\n"
        "    sys.kept = waybill.loads(sys.good)\n"
        "    return 1 / 0"
    )
    worker.do("sys.good = data", data=home.dumps("K.C"))

    with pytest.raises(PlaceError, match="zero"):
        worker.load(home.dumps("{'K': K, 'bomb': Bomb()}"))

    assert names(worker) == "ABC"
    assert worker.get("sys.kept is K.C, K.C.note") == (True, 1)


def test_state_of_a_new_member_comes_whoever_has_the_class(sent):
    home, worker = sent
    home.do("extend(K, 'C', 3)\nK.C.note = 1")

    worker.load(home.dumps("{'K': K}"), class_state="worker")

    assert worker.get("K.C.note") == 1


def test_state_of_other_members_stays_when_one_comes(places):
    home, worker, _ = places
    home.do("class K(enum.Enum):\n    A = 1\n    def __init__(self, v): self.calls = 0")
    worker.load(home.dumps("{'K': K}"))
    worker.do("K.A.calls = 2")
    home.do("extend(K, 'B', 2)\nK.B.calls = 7")

    worker.load(home.dumps("{'K': K}"))

    assert worker.get("K.A.calls, K.B.calls") == (2, 7)


def test_member_may_have_the_name_of_what_members_have(sent):
    home, worker = sent
    home.do("extend(K, 'C', 3)")
    home.do("K._member_map_['value'] = K._member_map_.pop('C')")
    home.do("K._member_names_[2] = K['value']._name_ = 'value'")
    home.do("type.__delattr__(K, 'C')")

    worker.load(home.dumps("{'K': K}"))

    assert worker.get("[m.value for m in K], K['value'] is K(3) is K.value") == (
        [1, 2, 3],
        True,
    )


def test_classes_load_while_another_thread_imports_enum():
    payload = fresh_process.sent_by("class K: table = {(1,): 2}\nsent = [K, K()]")
    program = """
import types
sys.modules["enum"] = types.ModuleType("enum")
answer = [waybill.loads(data)[0].table for _ in range(2)]
"""

    assert fresh_process.execute(program, payload) == [{(1,): 2}] * 2
