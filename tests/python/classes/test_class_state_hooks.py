"""Classes that have a say in what they are: enumerations, metaclasses, hooks, bases."""

import pytest
from class_state_worker import PlaceError
from class_stories import Story


def test_members_stay_the_same_objects_when_their_class_has_changed(pair):
    home, worker = pair
    home.do("class K(enum.Enum): A, B = 1, 2\nkeyed = {K.A: 1}")
    worker.load(home.dumps("{'K': K, 'keyed': keyed}"))
    worker.do("first, held = list(K), keyed")
    home.do("K.note = 1")

    worker.load(home.dumps("{'K': K, 'again': keyed, 'b': K.B}"))

    assert worker.get("[*map(id, K)] == [*map(id, first)], b is K.B") == (True, True)
    assert worker.get("held[K.A], again[K.A], K.note") == (1, 1, 1)


NAMES_OF_COMPILERS = [
    "__static_attributes__", "__firstlineno__", "__annotations_cache__"
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES_OF_COMPILERS)
def test_a_name_that_only_some_compilers_make_is_no_state(pair, name):
    story = Story(
        define=f"class K: x = 1\nsetattr(K, '{name}', ('a',))",
        worker=f"type.__setattr__(K, '{name}', ('b',))",
        home=f"if '{name}' in vars(K): delattr(K, '{name}')\nK.x = 2",
        read=f"K.x, vars(K)['{name}']",
        expected=(2, ("b",)),
    )

    story.demand(*pair)


METACLASS = """
class Meta(type):
    def __setattr__(cls, name, value): raise TypeError('constant')
    def __delattr__(cls, name): raise TypeError('constant')
class K(metaclass=Meta):
    x = 1
    gone = 1
    table = {'a': 1}
    def run(self): return 1
"""


def test_what_a_metaclass_does_when_attributes_are_set_is_not_done(pair):
    story = Story(
        define=METACLASS,
        home="""
        type.__setattr__(K, 'x', 2)
        type.__setattr__(K, 'new', 2)
        type.__setattr__(K, 'run', lambda self: 2)
        type.__delattr__(K, 'gone')
        K.table['b'] = 2
        """,
        read="K.x, K.new, K().run(), hasattr(K, 'gone'), K.table",
        expected=(2, 2, 2, False, {"a": 1, "b": 2}),
    )

    story.demand(*pair)


HOOKED = """
import sys
class Base:
    kinds = {}
    def __init_subclass__(cls, **options):
        sys.hook_has_run = True
        cls.mark = 'set by the hook'
        Base.kinds[cls.__name__] = cls
class K(Base): pass
del K.mark
Base.kinds.clear()
"""


def test_the_hook_of_a_base_does_not_show(pair):
    home, worker = pair
    home.do(HOOKED)
    for _ in range(3):
        worker.load(home.dumps("{'K': K, 'Base': Base}"))

        assert worker.get("hasattr(K, 'mark'), Base.kinds") == (False, {})
    assert not worker.get("hasattr(__import__('sys'), 'hook_has_run')")


def test_the_hook_of_a_base_runs_for_classes_of_the_worker(pair):
    home, worker = pair
    home.do(HOOKED)
    worker.load(home.dumps("{'K': K, 'Base': Base}"))
    worker.do("class Own(K): pass")
    home.do("class Later(Base): pass")

    worker.load(home.dumps("{'K': K, 'Base': Base, 'Later': Later}"))

    # By key: the sender's, then the worker's own.
    expected = (["Later", "Own"], "set by the hook")
    assert worker.get("list(Base.kinds), Own.mark") == expected


#: Makes a module of `text`.
MODULE = """
import importlib.machinery, sys, types
module = sys.modules['its_bases'] = types.ModuleType('its_bases')
module.__spec__ = importlib.machinery.ModuleSpec('its_bases', None)
exec(text, vars(module))
"""
#: How a class of a module of that name makes the bases of K impossible there.
CONFLICTS = {
    "layout": "class B: __slots__ = ('s',)\nclass A: __slots__ = ('t',)",
    "order": "class A: pass\nclass B(A): pass",
    "no base": "class A: pass\nB = bool",
}


def assert_conflict_about(name, worker, payload):
    with pytest.raises(PlaceError) as caught:
        worker.load(payload)

    assert (caught.value.kind, caught.value.code) == ("DecodeError", "class_conflict")
    assert name in caught.value.message and "K" in caught.value.message


@pytest.mark.parametrize("conflict", CONFLICTS)
@pytest.mark.parametrize("order", ["{'other': Other, 'K': K}", "{'K': K, 'o': Other}"])
def test_bases_that_are_impossible_are_an_error_that_changes_nothing(
    pair, conflict, order
):
    home, worker = pair
    home.do(MODULE, text="class A: pass\nclass B: pass")
    worker.do(MODULE, text=CONFLICTS[conflict])
    home.do("""
    from its_bases import A, B
    class K(A): x = 1
    class Other: x = 1
    """)
    worker.load(home.dumps("{'K': K, 'Other': Other}"))
    home.do("K.x = Other.x = 2; K.__bases__ = (A, B)")

    assert_conflict_about("__bases__", worker, home.dumps(order))

    assert worker.get("K.x, Other.x, len(K.__bases__)") == (1, 1, 1)

    home.do("K.__bases__ = (A,)")
    worker.load(home.dumps("{'K': K, 'Other': Other}"))
    assert worker.get("K.x, Other.x") == (2, 2)


@pytest.mark.parametrize("order", ["{'other': Other, 'K': K}", "{'K': K, 'o': Other}"])
def test_a_metaclass_that_is_impossible_is_an_error_that_changes_nothing(pair, order):
    home, worker = pair
    home.do(MODULE, text="class M(type): pass\nclass N(type): pass")
    worker.do(MODULE, text="class M(type): pass\nimport ctypes\nN = type(ctypes.Union)")
    home.do("""
    from its_bases import M, N
    class K(metaclass=M): x = 1
    class Other(metaclass=M): x = 1
    """)
    worker.load(home.dumps("{'K': K, 'Other': Other}"))
    home.do("K.x = Other.x = 2; K.__class__ = N")

    assert_conflict_about("__class__", worker, home.dumps(order))

    assert worker.get("K.x, Other.x, type(K).__name__") == (1, 1, "M")


def test_a_metaclass_that_was_set_is_taken_back_with_what_fails(pair):
    home, worker = pair
    home.do(MODULE, text="class A: pass\nclass B: pass")
    worker.do(MODULE, text=CONFLICTS["order"])
    home.do("""
    from its_bases import A, B
    class M(type): pass
    class N(type): pass
    class K(A, metaclass=M): __slots__ = {'a': 1}
    slot = K.a
    K.a = 5
    """)
    worker.load(home.dumps("{'K': K, 'N': N}"))
    home.do("K.__class__ = N; K.a = slot; K.__slots__['a'] = 2")
    home.do("class Last(A): pass")
    worker.load(home.dumps("{'Last': Last}"))
    home.do("Last.__bases__ = (A, B)")

    with pytest.raises(PlaceError, match="class_conflict"):
        worker.load(home.dumps("{'K': K, 'N': N, 'Last': Last}"))

    assert worker.get("type(K).__name__, K.a, K.__slots__") == ("M", 5, {"a": 1})
