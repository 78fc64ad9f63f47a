"""Annotations that are code, for versions with and without PEP 649."""

import sys
import types

import pytest
import source_package
from waybill._source.annotations import compile_annotations, evaluate_annotations
from waybill._source.compiling import compile_unit
from waybill._source.proving import prove
from waybill._source.units import (
    ANNOTATE,
    CLASS_ANNOTATE,
    IN_CLASS,
    NESTED,
    Unit,
    UnitError,
)

needs_deferred = pytest.mark.skipif(
    sys.version_info < (3, 14), reason="annotations are evaluated at once before 3.14"
)

#: As 3.14 and later make them.
HEADER = "def f(a: int, *args: str, b: Missing = 3) -> list[int]:\n    pass"
FUNCTION = Unit(
    ANNOTATE, HEADER, "__annotate__", "f.__annotate__", None, 0, 0, 0, 0, (), (), ()
)
METHOD = FUNCTION._replace(
    text="    def f(self, a: scale, __b: int) -> __private:\n        pass",
    qualified_name="C.f.__annotate__",
    class_name="C",
    flags=IN_CLASS,
    free_names=("__classdict__",),
)
CLASS = METHOD._replace(
    kind=CLASS_ANNOTATE,
    text="    a: scale; b: (\n  int)\n\n    __c: other",
    qualified_name="C.__annotate__",
    flags=IN_CLASS | NESTED,
    free_names=("__classdict__", "other"),
)


def function(code, scope=(), **cells):
    closure = tuple(types.CellType(cells[name.strip("_")]) for name in code.co_freevars)
    made = types.FunctionType(code, dict(scope), "__annotate__", (), closure)
    return made


@pytest.fixture(params=["compiled", "synthetic"])
def make(request):
    """Both ways to get the code, whichever this version takes."""
    if request.param == "compiled":
        return lambda unit: compile_unit(unit, "/a/b.py", 7)
    return lambda unit: compile_annotations(unit)[0]


def test_annotations_of_a_function_are_evaluated_when_asked_for(make):
    annotate = function(make(FUNCTION), {"Missing": bytes})

    given = annotate(1)

    assert given == {"a": int, "args": str, "b": bytes, "return": list[int]}
    assert list(given) == ["a", "args", "b", "return"]


def test_other_formats_are_not_implemented(make):
    with pytest.raises(NotImplementedError):
        function(make(FUNCTION))(3)


def test_names_of_a_class_come_first_and_private_ones_are_its_own(make):
    attributes = {"scale": float, "_C__private": "own"}
    annotate = function(make(METHOD), {"scale": "global"}, classdict=attributes)

    assert annotate(1) == {"a": float, "_C__b": int, "return": "own"}


def test_annotations_of_a_class_have_its_names_and_its_closure(make):
    annotate = function(make(CLASS), {"scale": 1}, classdict={}, other="cell")

    assert annotate(1) == {"a": 1, "b": int, "_C__c": "cell"}


def test_unpacked_annotation_is_what_it_has_one_of(make):
    unit = FUNCTION._replace(text="def f(*args: *Ts):\n pass")

    assert function(make(unit), {"Ts": ["one"]})(1) == {"args": "one"}


def test_code_says_where_it_stands():
    code = compile_unit(FUNCTION, "/a/b.py", 7)

    assert (code.co_filename, code.co_firstlineno) == ("/a/b.py", 7)
    assert code.co_varnames[0] == "format"
    assert code.co_posonlyargcount == 1


def test_names_that_are_not_there_give_the_source_of_the_annotation():
    annotate = function(compile_unit(FUNCTION, "f", 1))

    expected = {"a": int, "args": str, "b": "Missing", "return": list[int]}
    assert evaluate_annotations(annotate, FUNCTION) == expected


def test_names_that_are_not_there_in_a_class_give_the_source():
    annotate = function(compile_unit(CLASS, "f", 1), classdict={}, other="cell")

    found = evaluate_annotations(annotate, CLASS)

    assert found == {"a": "scale", "b": int, "_C__c": "cell"}


def test_cell_that_is_empty_gives_the_source():
    code = compile_unit(CLASS, "f", 1)
    closure = tuple(types.CellType() for _ in code.co_freevars)
    annotate = types.FunctionType(code, {}, "__annotate__", (), closure)

    assert evaluate_annotations(annotate, CLASS)["_C__c"] == "other"


def test_annotations_that_were_not_reached_are_left_out(make):
    unit = CLASS._replace(
        text="    a: int\n    if _: b: str; c: int\n    if _: d: list",
        free_names=("__classdict__", "__conditional_annotations__"),
    )

    annotate = function(make(unit), classdict={}, conditional_annotations={1, 2})

    assert annotate(1) == {"a": int, "c": int, "d": list}


def test_annotations_of_a_class_on_one_line(make):
    unit = CLASS._replace(text="a: int; b: (\nstr)", column=9)

    annotate = function(make(unit), classdict={}, other=None)

    assert annotate(1) == {"a": int, "b": str}


def test_annotations_that_are_text_by_a_feature_stay_text():
    unit = FUNCTION._replace(futures=("annotations",))

    expected = {"a": "int", "args": "str", "b": "Missing", "return": "list[int]"}
    assert evaluate_annotations(function(compile_unit(unit, "f", 1)), unit) == expected


def test_text_that_is_no_annotation_is_refused():
    with pytest.raises(UnitError, match="annotate no name"):
        compile_annotations(CLASS._replace(text="    a = 1"))
    with pytest.raises(UnitError, match="not a function"):
        compile_annotations(FUNCTION._replace(text="a = 1"))


def test_syntax_error_has_the_file_and_the_line():
    with pytest.raises(SyntaxError) as caught:
        compile_unit(FUNCTION._replace(text="def f(\n a: (1 2)): pass"), "/a.py", 7)

    assert (caught.value.filename, caught.value.lineno) == ("/a.py", 8)


def load(tmp_path, text):
    path = tmp_path / "module.py"
    path.write_text(text)
    module = types.ModuleType("module")
    exec(compile(text, str(path), "exec", 0, True), vars(module))
    return module


@needs_deferred
def test_unit_of_annotations_is_the_header(tmp_path):
    text = "def d(f): return f\n@d\ndef f(a: int,\n   b: 1 = 2):\n    # Why.\n    a\n"

    unit = prove(load(tmp_path, text).f.__annotate__.__code__)

    assert unit.kind == ANNOTATE
    assert unit.text == "def f(a: int,\n   b: 1 = 2):\n    # Why.\n    pass"
    assert unit.qualified_name == "f.__annotate__"


@needs_deferred
def test_unit_of_a_class_has_annotated_names_alone(tmp_path):
    text = (
        "class C:\n    a: int = 3 # x\n    secret = 'no'\n    b: (\n  str) = 4; c: C\n"
    )

    unit = prove(load(tmp_path, text).C.__annotate__.__code__)

    assert unit.kind == CLASS_ANNOTATE
    assert unit.text == "    a: int\n\n    b: (\n  str); c: C".replace("; ", ";     ")


@needs_deferred
def test_unit_of_a_class_tells_annotations_that_may_not_be_reached(tmp_path):
    text = """class C:
    a: int
    if flag:
        b: int = 3; c: (
            str)
    else:
        d: str
    for e in range(2):
        with open(__file__) as file:
            g: list = []
"""
    module = load(tmp_path, f"flag = True\n__file__ = {__file__!r}\n{text}")

    unit = prove(module.C.__annotate__.__code__)

    assert unit.text.split() == (
        "a: int if _: b: int; c: ( str) if _: d: str if _: g: list".split()
    )
    assert compile_unit(unit, "f", 3).co_freevars == unit.free_names


@needs_deferred
def test_unit_of_a_class_on_one_line_has_its_column(tmp_path):
    module = load(tmp_path, "class C: a: int = 3; b: (\n  str); c = 4\n")

    unit = prove(module.C.__annotate__.__code__)

    assert unit.text.split() == "a: int; b: ( str)".split() and unit.column == 9


@needs_deferred
def test_annotations_that_the_compiler_has_twice_have_no_unit_and_say_so(tmp_path):
    text = "class C:\n    try:\n        pass\n    finally:\n        a: int\n"

    assert "conditional" in prove(load(tmp_path, text).C.__annotate__.__code__)
