"""Members that an enumeration gets, or loses, once it has travelled."""

import textwrap

import fresh_process
import pytest
import waybill
from class_state_matrix import IMPORTS
from class_state_worker import PlaceError, several
from class_stories import Story

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

def names():
    found = look(K)
    assert all(is_whole for _, _, is_whole in found)
    return "".join(name for name, _, _ in found)
"""
#: Raises where it is loaded.
BOMB = "class Bomb:\n    def __reduce__(self): return int, ('no number',)"
ENUM = "class K(enum.Enum):\n    A, B = 1, 2"


@pytest.fixture
def places():
    with several(3) as places:
        for place in places:
            place.do(IMPORTS)
            place.do(CHANGES)
        yield places


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

    assert worker.get("names()") == "ABC"
    expected = (True, True)
    assert worker.get("c is again is K.C is K['C'], list(K)[:2] == first") == expected
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

    assert worker.get("names()") == "B"
    assert worker.get("hasattr(K, 'A'), K.B is first[1]") == (False, True)
    with pytest.raises(PlaceError, match="1 is not a valid"):
        worker.get("K(1)")


STORIES = {
    "a member of the worker stays": Story(
        define=ENUM,
        worker="extend(K, 'W', 9)\nown = K.W",
        home="extend(K, 'C', 3)\nshrink(K, 'A')",
        read="sorted(names()), K.W is K(9) is own",
        expected=(["B", "C", "W"], True),
    ),
    "flags know the bits that came": Story(
        define="class K(enum.Flag): A, B = 1, 2",
        worker="both, complement = K.A | K.B, ~K.A",
        home="extend(K, 'C', 4)",
        read="(~K.A).value, (K.A | K.B) is both, K(7).value,"
        "K.A in K(7), [m.name for m in K(5)]",
        expected=(6, True, 7, True, ["A", "C"]),
    ),
    "what a member has besides its value comes with it": Story(
        define=ENUM,
        home="extend(K, 'C', 3)\nK.C.note = ['x']",
        read="K.C.note",
        expected=["x"],
    ),
    "a trace tells members that came and went": Story(
        define=ENUM,
        worker="told = []\n"
        "waybill.configure(trace=lambda c: told.append((c.attribute, c.action)))",
        home="extend(K, 'C', 3)\nshrink(K, 'A')",
        read="told",
        expected=[("C", "set"), ("A", "deleted")],
    ),
    "an attribute in the place of a member stays": Story(
        define=ENUM,
        home="shrink(K, 'A')\nK.A = 6",
        read="K.A, names()",
        expected=(6, "B"),
    ),
    "a member that the worker removed stays away": Story(
        define=ENUM, worker="shrink(K, 'A')", read="names()", expected="B"
    ),
    "the state of other members stays when one comes": Story(
        define="class K(enum.Enum):\n"
        "    A = 1\n"
        "    def __init__(self, v): self.calls = 0",
        worker="K.A.calls = 2",
        home="extend(K, 'B', 2)\nK.B.calls = 7",
        read="K.A.calls, K.B.calls",
        expected=(2, 7),
    ),
    "a member may have the name of what members have": Story(
        define=ENUM,
        home="""
        extend(K, 'C', 3)
        K._member_map_['value'] = K._member_map_.pop('C')
        K._member_names_[2] = K['value']._name_ = 'value'
        type.__delattr__(K, 'C')
        """,
        read="[m.value for m in K], K['value'] is K(3) is K.value",
        expected=([1, 2, 3], True),
    ),
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_an_enumeration_is_what_both_sides_have_made_of_it(places, story):
    story.demand(*places[:2])


def test_member_of_the_worker_does_not_come_home(sent):
    home, worker = sent
    worker.do("extend(K, 'W', 9)")

    home.load(worker.dumps("{'back': K}"))

    assert home.get("back is K") is True
    assert home.get("names()") == "AB"


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
    assert worker.get("names()") == "AB"
    worker.load(new)
    assert worker.get("names()") == "ABC"


def test_member_comes_by_way_of_another_worker(places, sent):
    home, worker = sent
    last = places[2]
    last.load(home.dumps("{'K': K}"))
    home.do("extend(K, 'C', 3)")
    worker.load(home.dumps("{'K': K}"))

    last.load(worker.dumps("{'K': K, 'c': K.C}"))

    assert last.get("names()") == "ABC"
    assert last.get("c is K.C") is True


@pytest.mark.parametrize("side", ["sender", "worker"])
def test_one_side_alone_may_say_which_members_there_are(sent, side):
    home, worker = sent
    worker.do("extend(K, 'W', 9)")
    home.do("extend(K, 'C', 3)")

    worker.load(home.dumps("{'K': K}"), class_state=side)

    # A payload may refer to each member that it brings.
    assert sorted(worker.get("names()")) == (
        list("ABC") if side == "sender" else list("ABCW")
    )


def test_payload_that_fails_adds_and_removes_no_member(sent):
    home, worker = sent
    home.do(BOMB)
    home.do("extend(K, 'C', 3)\nshrink(K, 'A')")

    with pytest.raises(PlaceError, match="no number"):
        worker.load(home.dumps("{'K': K, 'c': K.C, 'bomb': Bomb()}"))

    assert worker.get("names()") == "AB"
    assert worker.get("list(K) == first, hasattr(K, 'C')") == (True, False)


def test_payload_whose_class_conflicts_removes_no_member(sent):
    home, worker = sent
    home.do("class Base: pass\nclass L(Base): pass\nclass M: pass")
    worker.load(home.dumps("{'L': L, 'M': M}"))
    worker.do("class Own(M, L): pass")
    home.do("shrink(K, 'A')\nL.__bases__ = (M,)")

    with pytest.raises(PlaceError, match="class_conflict"):
        worker.load(home.dumps("{'K': K, 'L': L}"))

    assert worker.get("names()") == "AB"


def test_aliases_come_and_go_with_their_names(sent):
    home, worker = sent
    home.do("K._member_map_['ALSO'] = K.A\ntype.__setattr__(K, 'ALSO', K.A)")
    worker.load(home.dumps("{'K': K}"))
    assert worker.get("K.ALSO is K.A is first[0], list(K) == first") == (True, True)
    home.do("del K._member_map_['ALSO']\ntype.__delattr__(K, 'ALSO')")

    worker.load(home.dumps("{'K': K}"))

    assert worker.get("hasattr(K, 'ALSO'), K(1) is K.A is first[0]") == (False, True)


def test_member_of_a_worker_does_not_reach_another_that_knows_the_class(places, sent):
    home, worker = sent
    last = places[2]
    home.do("K.A.note = 'home'")
    for place in (worker, last):
        place.load(home.dumps("{'K': K}"))
    worker.do("extend(K, 'W', 9)")

    last.load(worker.dumps("{'K': K}"))
    assert last.get("names()") == "AB"
    last.do("K.A.note = 'own'")
    last.load(home.dumps("{'K': K}"))
    assert last.get("names()") == "AB"
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

    assert worker.get("names()") == "ABC"
    assert worker.get("sys.kept is K.C, K.C.note") == (True, 1)


@pytest.mark.parametrize("is_known", [True, False])
def test_member_stays_that_a_payload_refers_to_while_one_without_it_is_loaded(
    sent, is_known
):
    home, worker = sent
    worker.do("import sys\nsys.old = data", data=home.dumps("{'K': K}"))
    home.do("extend(K, 'C', 3)")
    if is_known:
        worker.load(home.dumps("{'K': K, 'uses': K.C}"))
    home.do(
        "class LoadsOld:\n"
        "    def __reduce__(self): return load_old, ()\n"
        "class Uses:\n"
        "    def __reduce__(self): return K, (3,)\n"
        "def load_old():\n"
        "    import sys, waybill\n"
        "    return waybill.loads(sys.old)"
    )
    data = home.dumps("{'K': K, 'loads': LoadsOld(), 'uses': Uses()}")
    for _ in range(2):
        worker.load(data)
        assert worker.get("names()") == "ABC"
    worker.load(home.dumps("{'K': K, 'uses': Uses()}"))

    assert worker.get("K(3) is K.C")
    home.do("shrink(K, 'C')")
    worker.load(home.dumps("{'K': K}"))
    assert worker.get("names()") == "AB"


def test_member_goes_that_a_failing_payload_has_kept(sent):
    home, worker = sent
    worker.do("import sys\nsys.old = data", data=home.dumps("{'K': K}"))
    home.do("extend(K, 'C', 3)")
    worker.load(home.dumps("{'K': K, 'uses': K.C}"))
    home.do(
        "class Bomb:\n"
        "    def __reduce__(self): return load_old, ()\n"
        "def load_old():\n"
        "    import sys, waybill\n"
        "    waybill.loads(sys.old)\n"
        "    return 1 / 0"
    )
    with pytest.raises(PlaceError, match="zero"):
        worker.load(home.dumps("{'K': K, 'uses': K.C, 'bomb': Bomb()}"))

    assert worker.get("names()") == "AB"


def test_state_of_a_new_member_comes_whoever_has_the_class(sent):
    home, worker = sent
    home.do("extend(K, 'C', 3)\nK.C.note = 1")

    worker.load(home.dumps("{'K': K}"), class_state="worker")

    assert worker.get("K.C.note") == 1


def test_state_of_a_member_that_this_process_changed_stays_if_the_sender_keeps_it():
    source = """
        __name__ = "script"
        import enum
        class Box: pass
        class E(enum.Enum): A, B = 1, 2
        for member in E:
            member.box = Box()
            member.box.x = 0
        answer = [waybill.dumps(E)]
        E.B.box.x = 1
        answer.append(waybill.dumps(E))
    """
    first, second = fresh_process.execute(textwrap.dedent(source))
    kind = waybill.loads(first)
    kind.A.box.x = kind.B.box.x = 7
    waybill.loads(second)

    assert [kind.A.box.x, kind.B.box.x] == [7, 1]


def test_classes_load_while_another_thread_imports_enum():
    payload = fresh_process.sent_by("class K: table = {(1,): 2}\nsent = [K, K()]")
    program = """
import types
sys.modules["enum"] = types.ModuleType("enum")
answer = [waybill.loads(data)[0].table for _ in range(2)]
"""

    assert fresh_process.execute(program, payload) == [{(1,): 2}] * 2
