"""The encode cache: classes that hold objects, as dataclasses do.

What caches that are off give is what counts.
"""

import copyreg
import dataclasses
import gc
import itertools
import sys
import weakref

import fresh_process
import pytest
import waybill
from cached_classes import demand_arrival, demand_same_after
from cached_nodes import is_taken, nodes_taken
from cached_objects import CHANGES, KEPT, world
from sources import define, run
from without_caches import dumps_without_caches

#: What is sent of the classes, or of what reaches them.
PLACES = {
    "a dataclass": lambda w: w["Item"],
    "its instance": lambda w: w["Item"](3),
    "a frozen instance": lambda w: w["Point"](3),
    "a class that holds objects": lambda w: w["Holder"],
    "its instance, then an object": lambda w: [w["Holder"](), w["Holder"].conf],
    "what is in an object, then its class": lambda w: [
        getattr(w["Holder"].conf, "parts", None),
        w["Holder"](),
    ],
    "before the dict of an object": lambda w: [w["Holder"], vars(w["Holder"].conf)],
    "a task with instances": lambda w: (w["use"], (w["Item"](), w["Point"]()), {}),
    "before a field": lambda w: [
        w["Item"],
        vars(w["Item"])["__dataclass_fields__"]["rest"],
    ],
    "a class with types of types": lambda w: w["Typed"],
    "its instance, then a type": lambda w: [w["Typed"](), w["Optional"][int]],
    "a function that looks into types": lambda w: w["asks"],
    "a class with slots": lambda w: w["Wide"],
    "its instances": lambda w: [w["Wide"](), w["Wide"](), w["Named"](), w["Pair"]()],
    "a task with slots": lambda w: (w["use"], (w["Pair"](), w["Wide"]()), {}),
    "named tuples": lambda w: [w["Row"], w["Line"], w["Row"](1), tuple.__new__],
    "before a sentinel": lambda w: [w["Point"], dataclasses.MISSING],
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_a_held_object_depends_on_shows_at_once(change, place):
    w = world()
    assert all(is_taken(w[name]) for name in KEPT)

    demand_same_after(change, place, w)


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_objects_in_classes_that_went_as_kept_arrive(place):
    demand_arrival(place, world())


#: What a program can do to dataclasses itself. Each is undone by the second.
CHANGES_OF_DATACLASSES = {
    "a name of a sentinel that comes first": (
        "m = vars(dataclasses)['MISSING']; dataclasses.LAST = m;"
        "del dataclasses.MISSING; dataclasses.MISSING = m",
        "del dataclasses.LAST",
    ),
    "a sentinel that is another": (
        "old = dataclasses.MISSING; dataclasses.MISSING = type(old)()",
        "dataclasses.MISSING = old",
    ),
    "a module that a sentinel is said to be of": (
        "dataclasses._FIELD.__module__ = 'elsewhere'",
        "del dataclasses._FIELD.__module__",
    ),
    "a say of fields": (
        "dataclasses.Field.__getstate__ = lambda self: 1",
        "del dataclasses.Field.__getstate__",
    ),
    "names of the slots of fields": (
        "dataclasses.Field.__slotnames__.reverse()",
        "dataclasses.Field.__slotnames__.reverse()",
    ),
    "a reducer of unions": (
        "import copyreg; old = copyreg.dispatch_table[type(int | str)];"
        "copyreg.pickle(type(int | str), lambda u: (int, ()))",
        "copyreg.pickle(type(int | str), old)",
    ),
    "a reducer of types of typing": (
        "import copyreg, typing; kind = type(typing.List[int]);"
        "copyreg.pickle(kind, lambda t: 'List')",
        "del copyreg.dispatch_table[kind]",
    ),
    "what typing has under a name": (
        "import typing; old = typing.Union; typing.Union = int",
        "typing.Union = old",
    ),
    "the class of fields": (
        "old = dataclasses.Field; dataclasses.Field = int",
        "dataclasses.Field = old",
    ),
}


# From Python 3.15 on it is made in C, by its name.
if not hasattr(dataclasses.MISSING, "__dict__"):
    del CHANGES_OF_DATACLASSES["a sentinel that is another"]


@pytest.mark.parametrize("change", CHANGES_OF_DATACLASSES)
def test_a_change_of_dataclasses_shows_at_once(change):
    w = world()
    assert is_taken(w["Item"])
    assert nodes_taken(lambda: [w["Item"], w["Typed"]]) == 2
    there, back = CHANGES_OF_DATACLASSES[change]

    try:
        demand_same_after(run(there), lambda w: [w["Item"], w["Typed"]], w)
    finally:
        exec(back, w)
    assert waybill.dumps(w["Item"]) == dumps_without_caches(w["Item"])


@pytest.mark.parametrize("name", ["Conf", "Pair", "Wide"])
def test_a_reducer_for_held_objects_shows_at_once(name):
    w = world()
    assert is_taken(w["Holder"])

    copyreg.pickle(w[name], lambda self: (int, (7,)))
    try:
        assert waybill.dumps(w["Holder"]) == dumps_without_caches(w["Holder"])
    finally:
        del copyreg.dispatch_table[w[name]]
    assert waybill.dumps(w["Holder"]) == dumps_without_caches(w["Holder"])


def made_otherwise(cls, *args):
    return cls.__name__, *args


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_another_function_that_makes_objects_is_asked_at_once(place, monkeypatch):
    w = world()
    assert all(is_taken(w[name]) for name in KEPT)
    waybill.dumps(place(w))

    monkeypatch.setattr(copyreg, "__newobj__", made_otherwise)
    demand_same_after(lambda w: None, place, w)
    monkeypatch.undo()
    demand_same_after(lambda w: None, place, w)


def test_held_objects_are_not_kept_alive():
    w = world()
    assert all(is_taken(w[name]) for name in KEPT)
    names = ("Item", "Point", "Holder", "Conf", "Pair", "factory")
    watched = [weakref.ref(w[name]) for name in names]
    watched.append(weakref.ref(w["Holder"].conf))

    w.clear()
    gc.collect()

    assert not any(reference() for reference in watched)


def test_no_references_are_lost_or_left_where_objects_are_compared():
    w = world()
    for place in PLACES.values():
        for _ in range(4):
            waybill.dumps(place(w))
    fields = vars(w["Item"])["__dataclass_fields__"]
    watched = [w["Conf"], w["Holder"].conf, w["Holder"].wide, fields, fields["made"]]
    watched += [fields["made"].metadata, fields["made"].type, dataclasses._FIELD]
    before = [sys.getrefcount(obj) for obj in watched]

    for _ in range(50):
        waybill.dumps([w["Item"](), w["Holder"]()])

    assert [sys.getrefcount(obj) for obj in watched] == before


def test_objects_in_each_other_without_end_are_sent_as_ever():
    w = world()
    deep = w["Conf"]()
    for _ in range(100):
        outer = w["Conf"]()
        outer.inner, deep = deep, outer
    w["Holder"].conf = deep

    for _ in range(4):
        assert waybill.dumps(w["Holder"]) == dumps_without_caches(w["Holder"])


def test_a_class_of_more_fields_than_are_compared_is_sent_as_ever():
    scope = [(f"field_{number}", int, number) for number in range(200)]
    made = dataclasses.make_dataclass("Made", scope)

    for _ in range(4):
        assert waybill.dumps(made(1)) == dumps_without_caches(made(1))


MEDDLING = """
import sys, typing, waybill
class Mate: pass
scope = {"__name__": "nowhere"}
exec("def f(*, a=None, b=(1, 2), c='x', **k): return 1", scope)
f = scope["f"]
# Unions are made in C from Python 3.14 on.
kind = (typing.Optional if sys.version_info < (3, 14) else typing.List)[Mate]
is_on = False
kept = []
class Arguments:
    def __iter__(self):
        if is_on:
            many = [{} for _ in range(300)]  # What is freed next is used again.
            del many
            setattr(f, PLACE, NEXT)
            kept.append([bytearray(64) for _ in range(500)])
        return iter((Mate, type(None)))
kind.__args__ = Arguments()
def parts():
    return {"a": kind, **{f"k{n}": "v" * 30 + str(n) for n in range(40)}}
for _ in range(5):
    is_on = False
    setattr(f, PLACE, parts())
    for _ in range(4): waybill.dumps(f)
    is_on = True
    waybill.dumps(f)
"""


@pytest.mark.parametrize(
    ("place", "after"),
    [("__kwdefaults__", "None"), ("__dict__", "{}"), ("__annotations__", "{}")],
)
def test_code_may_replace_what_is_looked_at_meanwhile(place, after):
    script = MEDDLING.replace("PLACE", repr(place)).replace("NEXT", after)

    fresh_process.run_script(script)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="it takes no attributes")
def test_a_reducer_of_a_type_of_types_shows_at_once():
    scope = world()
    exec("class Optionally: part = Optional[type('Mate', (), {})]", scope)
    for _ in range(4):
        waybill.dumps(scope["Optionally"])
    vars(scope["Optionally"].part)["__reduce_ex__"] = lambda protocol: (int, (7,))

    assert waybill.dumps(scope["Optionally"]) == dumps_without_caches(
        scope["Optionally"]
    )


def test_names_that_copyreg_keeps_show_at_once():
    scope = world()
    exec("class Plain:\n def __init__(self): self.level = 1", scope)
    sent = scope["Plain"]()
    sent.__reduce_ex__(4)  # copyreg makes its list.
    for _ in range(4):
        waybill.dumps(sent)
    scope["Plain"].__slotnames__.append("level")

    assert waybill.dumps(sent) == dumps_without_caches(sent)


def test_a_reducer_that_a_program_sets_is_called_as_often_as_without_caches(
    monkeypatch,
):
    made = define("""
        import http, logging, pathlib
        log, path = logging.getLogger("a"), pathlib.PurePosixPath("a")
        status = http.HTTPStatus.OK
        def f(): return log, path, status
    """)
    numbers = itertools.count()
    reduce = lambda *_: (str, (f"number {next(numbers)}",))
    places = [(type(made.log), "__reduce__"), (type(made.path), "__reduce__")]
    places += [(made.status, "__reduce_ex__"), (type(made.log), "__reduce_ex__")]

    for place, name in places:
        for _ in range(3):
            waybill.dumps(made.f)
        with monkeypatch.context() as patch:
            patch.setattr(place, name, reduce)
            numbers = itertools.count()
            found = [waybill.dumps(made.f) for _ in range(4)]
            numbers = itertools.count()
            assert found == [dumps_without_caches(made.f) for _ in range(4)]
