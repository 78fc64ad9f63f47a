"""The paths that `waybill diff` tells are those of errors and explanations."""

import functools

import pytest
from command import needs_binary
from diffs import changes, define, diff, summary

__all__ = ["diff"]  # A fixture.

pytestmark = needs_binary


def test_value_of_a_closure_is_told_by_its_cell(diff):
    def make(seed, other):
        def grow(x):
            return x * seed + other

        grow.__module__ = "__main__"
        return grow

    found = diff(make(1, 2), make(5, 2))

    path = "grow.__closure__[1].cell_contents"
    assert summary(found) == f"the value at {path}"
    assert changes(found) == [("changed", path, "1", "5")]


def test_globals_and_defaults_are_parts_of_a_function(diff):
    source = "def f(x=LIMIT): return x + LIMIT"

    found = diff(define(source, LIMIT=1), define(source, LIMIT=2))

    expected = {"f.__globals__['LIMIT']", "f.__defaults__[0]"}
    assert {path for _, path, _, _ in changes(found)} == expected


def test_paths_are_those_of_errors_and_explanations(diff):
    class Held:
        def __init__(self, size):
            self.sizes = {"a": size}

        def __reduce__(self):
            return Held, (self.sizes["a"],), self.__dict__

    Held.__module__ = "__main__"
    sent = [define("def f(): return held", held=[Held(size), size]) for size in (1, 2)]

    found = diff(*sent)

    assert [path for _, path, _, _ in changes(found)] == [
        "f.__globals__['held'][0]<argument 0>",
        "f.__globals__['held'][0].sizes['a']",
        "f.__globals__['held'][1]",
    ]


@pytest.mark.parametrize(
    ("one", "other", "path"),
    [
        ({(1, "a"): 1}, {(1, "a"): 2}, "obj[(1, 'a')]"),
        ({"it's": 1}, {"it's": 2}, 'obj["it\'s"]'),
        ({frozenset(): 1}, {frozenset(): 2}, "obj[<frozenset>]"),
        ({"x" * 200: 1}, {"x" * 200: 2}, f"obj['{'x' * 99}…]"),
        ({1.5: [b""]}, {1.5: [b"1"]}, "obj[1.5][0]"),
    ],
)
def test_keys_are_shown_as_far_as_they_are_literals(diff, one, other, path):
    assert [row[1] for row in changes(diff(one, other))] == [path]


def test_path_of_a_method_names_its_object(diff):
    class Held:
        def __init__(self, size):
            self.size = size

        def run(self):
            return self.size

    Held.__module__ = "__main__"

    found = diff([Held(1).run], [Held(2).run])

    assert [row[1] for row in changes(found)] == ["obj[0].__self__.size"]


def test_arguments_of_a_reduced_object_have_paths(diff):
    one = [0, functools.partial(print, x=1)]
    other = [0, functools.partial(print, x=2)]

    [(change, path, old, new)] = changes(diff(one, other))

    assert path == "obj[1]<state>[2]['x']"
    assert (change, old, new) == ("changed", "1", "2")
