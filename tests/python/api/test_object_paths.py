"""Paths are expressions of Python where it has one, and markers where it has none."""

import collections
import functools
import threading
import types

import pytest
import waybill
from sources import define

LOCK = threading.Lock()


class Holder:
    def __init__(self, held=LOCK):
        self.held = held


class Renaming:
    """What travels is not what it has."""

    def __getstate__(self):
        return {"sent": LOCK, "kept": 1}


class Hashed(Holder):
    def __hash__(self):
        return 1


class Slotted:
    __slots__ = ("held",)


class Table(dict):
    pass


class Listed(list):
    pass


class Made:
    def __init__(self, held, by_another_name=False):
        self.held = None if by_another_name else held
        self.made_of = [held]

    def __reduce__(self):
        return Made, tuple(self.made_of)


class Task:
    """Like those of Dask."""

    __slots__ = ("args", "key")

    def __init__(self, *args):
        self.key, self.args = "key", args

    def __getstate__(self):
        return (self.key, self.args)

    def __setstate__(self, state):
        pass


class Stately:
    def __getstate__(self):
        return (1, LOCK)

    def __setstate__(self, state):
        pass


def holding(made, **attributes):
    vars(made).update(attributes)
    return made


def slotted():
    made = Slotted()
    made.held = LOCK
    return made


def error_of(value):
    with pytest.raises(waybill.EncodeError) as caught:
        waybill.dumps(value)
    return caught.value


EXPRESSIONS = {
    "obj": LOCK,
    "obj[0]": (LOCK,),
    "obj['a'][1]": {"a": [1, LOCK]},
    "obj[(1, 'b')]": {(1, "b"): LOCK},
    "obj[1.5]": {1.5: LOCK},
    "obj[None]": {None: LOCK},
    "obj[b'x']": {b"x": LOCK},
    'obj["it\'s"]': {"it's": LOCK},
    "obj.held": Holder(),
    "obj[0].held": [Made(LOCK)],
    "obj.held[0].held": Holder([Holder()]),
    "obj.__dict__['no name']": holding(types.SimpleNamespace(), **{"no name": LOCK}),
    "f.__closure__[0].cell_contents": define(
        """
        def make(inner):
            def f(): return inner
            return f
        """
    ).make(LOCK),
    "f.__globals__['client'].held": define("def f(): return client", client=Holder()).f,
    "f.__defaults__[0]": define("def f(x=LOCK): pass", LOCK=LOCK).f,
    "f.__kwdefaults__['x']": define("def f(*, x=LOCK): pass", LOCK=LOCK).f,
    "f.__annotations__['x']": define("def f(x: LOCK): pass", LOCK=LOCK).f,
    "f.held": holding(define("def f(): pass").f, held=LOCK),
    "obj['x'][0]": Table(x=[LOCK]),
    "obj[2]": Listed([1, 2, LOCK]),
    "obj[0].args[1]": [Task(1, LOCK)],
    "obj.args[1]": functools.partial(print, 1, LOCK),
    "obj.held.cell_contents": Holder(types.CellType(LOCK)),
    "obj.stop": slice(1, LOCK),
    "obj.__self__.held": Holder().__init__,
    "C.held": define("class C: held = LOCK", LOCK=LOCK).C,
    "C.__bases__[0].held": define(
        "class A: held = LOCK\nclass C(A): pass", LOCK=LOCK
    ).C,
}
SLOTS = {"obj.held": slotted()}

MARKED = {
    "obj<element 0>.held": {Hashed()},
    "obj<key>.held": {Hashed(): 1},
    "obj<argument 0>": Made(LOCK, by_another_name=True),
    "obj<state>[1]": Stately(),
    "obj<state>['sent']": Renaming(),
    "obj[<tests.Key>]": {holding(Hashed(), held=1): LOCK},
    f"obj['{'k' * 99}…]": {"k" * 200: LOCK},
}


@pytest.mark.parametrize(("path", "value"), [*EXPRESSIONS.items(), *SLOTS.items()])
def test_python_evaluates_the_path_to_the_object(path, value):
    error = error_of(value)

    assert (error.path, error.type) == (path, "_thread.lock")
    assert error.evaluates
    is_named = isinstance(value, (type, types.FunctionType))
    assert eval(path, {value.__name__ if is_named else "obj": value}) is LOCK


@pytest.mark.parametrize(("path", "value"), MARKED.items())
def test_what_no_expression_reaches_has_a_marker(path, value):
    error = error_of(value)

    expected = path.replace("tests.Key", f"{Hashed.__module__}.Hashed")
    assert (
        error.path.replace(f"<{Hashed.__name__}>", f"<{__name__}.Hashed>") == expected
    )
    assert not error.evaluates


@pytest.mark.parametrize("path", ["f.__globals__['client'].held"])
def test_short_path_begins_at_the_last_variable(path):
    error = error_of(EXPRESSIONS[path])

    assert error.short == "client.held"
    assert (error.expression, error.function) == ("client", "f")


def test_short_path_through_two_functions_has_the_variable_of_the_second():
    inner = define("def inner(): return guard", guard=LOCK).inner
    error = error_of(define("def f(): return step()", step=inner).f)

    assert error.path == "f.__globals__['step'].__globals__['guard']"
    assert error.short == "guard"


def test_elements_of_a_set_have_no_index():
    assert "[" not in error_of({1, 2, Hashed()}).path


def test_items_of_an_ordered_dict_are_found_by_their_keys():
    error = error_of(collections.OrderedDict(a=1, b=LOCK))

    assert error.path == "obj['b']"
    assert error.evaluates


def test_paths_of_an_explanation_and_of_an_error_are_the_same():
    for value in [*EXPRESSIONS.values(), *MARKED.values()]:
        error = error_of(value)
        blocker = waybill.explain(value).blockers[0]
        for field in ("path", "short", "evaluates", "type", "reason", "remedy"):
            assert getattr(blocker, field) == getattr(error, field)
        assert (blocker.line, blocker.file) == (error.line, error.file)
