"""What annotations name by text travels: typing.get_type_hints works elsewhere."""

import collections.abc
import sys
import textwrap
import types
import typing
import xml.dom.minidom

import fresh_process
import pytest
import waybill
from sources import define

FUTURE = "from __future__ import annotations\n"


def made(source, future=True, **given):
    return define((FUTURE if future else "") + textwrap.dedent(source), **given)


def hints(function, subject="value"):
    """The names of the types that a receiver finds."""
    program = f"""
import typing
value = waybill.loads(data)
found = typing.get_type_hints({subject}, include_extras=True).items()
answer = {{k: v.__name__ if type(v) is type else str(v) for k, v in found}}
"""
    return fresh_process.execute(program, waybill.dumps(function))


def globals_of(function):
    loaded = waybill.loads(waybill.dumps(function))
    return {name for name in loaded.__globals__ if not name.startswith("__")}


SOURCE = """
import datetime, json, typing, xml.dom.minidom
from collections.abc import Callable
from typing import Annotated, Literal, Optional
class Own: pass
class Other: pass
alias = dict[str, Own]
def f(a: Own, b: int, c: alias, d: Missing = 1) -> datetime.date: pass
def chain(a: xml.dom.minidom.Document) -> Optional[json.JSONDecoder]: pass
def nested(a: list["Own"], b: Callable[["Other"], int] | None = None): pass
def special(a: Literal["Own"], b: Annotated[int, "Other"]): pass
def wrong(a: "1 +", b: "Own Other", c: "import Own", d: "", e: "(" * 300): pass
def keyword(*args: Own, key: Other, **more: json.JSONEncoder): pass
"""


def test_types_that_text_names_travel():
    own = made(SOURCE.replace(", d: Missing = 1", ""))

    assert hints(own.f) == {
        "a": "Own", "b": "int", "c": "dict[str, module_that_is_nowhere.Own]",
        "return": "date",
    }  # fmt: skip
    assert hints(own.keyword) == {
        "args": "Own", "key": "Other", "more": "JSONEncoder",
    }  # fmt: skip


def test_submodules_that_text_names_are_imported():
    own = made(SOURCE)

    records = {r.module: r.time for r in waybill.imports(own.chain)}
    assert records["xml.dom.minidom"] == "load"
    assert hints(own.chain)["a"] == "Document"


def test_text_in_text_and_in_generic_types_counts():
    own = made(SOURCE)
    eager = made(
        """
        import typing
        class Own: pass
        class Other: pass
        def f(a: "Own", b: typing.List["Other"], c: typing.Literal["json"]): pass
        def g(a: list["Own"], b: typing.Callable[["Other"], "Own"]): pass
        def h(a: collections.abc.Callable[["Own"], "Other"]): pass
        import json
        """,
        future=False,
        collections=collections,
    )

    assert globals_of(own.nested) == {"Own", "Other", "Callable"}
    assert hints(own.nested)["a"].endswith("Own]")
    # Deferred annotations come with what makes them.
    makers = {"typing", "collections"} if sys.version_info >= (3, 14) else set()
    for function in eager.f, eager.g, eager.h:
        assert globals_of(function) - makers == {"Own", "Other"}
    assert hints(eager.g)["b"].count("module_that_is_nowhere.O") == 2


def test_text_that_is_no_annotation_brings_nothing():
    own = made(SOURCE)

    assert globals_of(own.special) == {"Annotated", "Literal"}
    assert globals_of(own.wrong) == set()
    assert globals_of(own.f) == {"Own", "alias", "datetime"}


def test_methods_and_functions_in_functions_have_their_hints():
    own = made("""
        import json
        class Own:
            def method(self, other: Own) -> json.JSONDecoder: pass
            @classmethod
            def make(cls, other: Own): pass
        def outer():
            def inner(a: Own): pass
            return inner
        inner = outer()
    """)

    assert hints(own.Own, "value.method") == {"other": "Own", "return": "JSONDecoder"}
    assert hints(own.Own, "value.make") == {"other": "Own"}
    assert hints(own.inner) == {"a": "Own"}


def test_hints_of_a_class_are_found_by_the_globals_of_its_methods(monkeypatch):
    # As in a script: dataclasses looks into the module.
    module = types.ModuleType("like_main")
    monkeypatch.setitem(sys.modules, "like_main", module)
    source = """
import dataclasses
class Part: pass
@dataclasses.dataclass
class Whole:
    part: Part
    parts: list[Part]
"""
    exec(compile(FUTURE + source, "<script>", "exec"), vars(module))

    found = {"part": "Part", "parts": "list[like_main.Part]"}
    assert hints(module.Whole, "value.__init__") == {**found, "return": "NoneType"}
    assert hints(module.Whole, "value, value.__init__.__globals__") == found
    with pytest.raises(fresh_process.FreshProcessError, match="'Part' is not defined"):
        hints(module.Whole)


def test_wrapped_function_has_its_own_names():
    library = define("""
        import functools
        Own = 1
        def decorate(function):
            @functools.wraps(function)
            def wrapper(*args): return function(*args)
            return wrapper
    """)
    own = made(
        """
        class Own: pass
        @decorate
        def f(a: Own): pass
        """,
        decorate=library.decorate,
    )

    assert hints(own.f) == {"a": "Own"}
    assert globals_of(own.f) == set()


def test_name_that_means_something_else_takes_effect_in_the_next_payload():
    own = made("""
        class Own: pass
        class Other: pass
        def f(a: name): pass
    """)
    function, scope = own.f, own.f.__globals__
    payloads = []
    for value in None, own.Own, own.Own, own.Other, sys, xml.dom.minidom:
        scope["name"] = value
        payloads += [waybill.dumps(function) for _ in range(3)]
    del scope["name"]

    names = [
        fresh_process.load(p, "value.__globals__['name'].__name__")
        for p in payloads[3::3]
    ]
    assert names == ["Own", "Own", "Other", "sys", "xml.dom.minidom"]
    for start in range(0, len(payloads), 3):
        assert len({*payloads[start : start + 3]}) == 1


def test_bytes_are_the_same_after_a_round_trip_and_however_warm():
    own = made(SOURCE)

    for name in "f", "chain", "nested", "special", "wrong", "keyword":
        data = waybill.dumps(getattr(own, name))
        assert waybill.dumps(getattr(own, name)) == data
        waybill._classes.annotations.CODES.clear()
        assert waybill.dumps(getattr(own, name)) == data
        assert waybill.dumps(waybill.loads(data)) == data


@pytest.mark.once
def test_many_texts_are_not_kept():
    scope = {}
    for i in range(5000):
        exec(f"def f(a: 'x{i} + {'y' * (i % 2000)}'): pass", scope)
        waybill.dumps(scope["f"])

    codes = waybill._classes.annotations.CODES
    assert len(codes) <= 2048 and max(map(len, codes)) <= 1024


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695")
def test_parameters_of_types_are_found():
    own = made("def f[T](a: T, b: list[T]): pass")
    try:
        typing.get_type_hints(own.f)
    except NameError:
        pytest.skip("not even where the function was made, before 3.12.4")

    assert hints(own.f)["b"] == "list[T]"


def test_annotations_that_hold_themselves_end():
    held: list[object] = ["Name"]
    held += [held, held]
    scope = define("def f(x): return x")
    scope.f.__annotations__["x"] = held

    arrived = waybill.loads(waybill.dumps(scope.f)).__annotations__["x"]

    assert arrived[1] is arrived[2] is arrived


@pytest.mark.parametrize("text", ["-" * 100_000, "a" + ".b" * 100_000, "(" * 1_000])
def test_text_that_the_compiler_cannot_take_names_nothing(text):
    scope = define("def f(x): return x")
    scope.f.__annotations__["x"] = text

    assert waybill.loads(waybill.dumps(scope.f)).__annotations__ == {"x": text}
