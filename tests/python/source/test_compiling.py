"""What a unit compiles to, and what is said of one that does not."""

import sys
import warnings

import pytest
import source_package
from waybill._source.compiling import compile_unit
from waybill._source.units import DEF, IN_CLASS, LAMBDA, NESTED, Unit, UnitError


def unit(text, name="f", **fields):
    plain = Unit(DEF, text, name, name, None, 0, 0, 0, 0, (), (), ())
    return plain._replace(**fields)


def test_code_has_the_file_and_the_line_that_are_given():
    code = compile_unit(
        unit("def f():\n return lambda: 1", decorator_lines=2), "/a/b.py", 100
    )

    inner = [k for k in code.co_consts if hasattr(k, "co_code")]
    assert (code.co_filename, code.co_firstlineno) == ("/a/b.py", 100)
    assert (inner[0].co_filename, inner[0].co_firstlineno) == ("/a/b.py", 103)
    assert [line for *_, line in code.co_lines() if line][-1] == 103


def test_class_inside_has_its_line_and_qualified_name():
    text = "def f():\n class C:\n  def g(self): pass\n return C"
    code = compile_unit(unit(text, qualified_name="A.f"), "/a/b.py", 50)

    made = type(lambda: 0)(code, {"__name__": "m", "__builtins__": __builtins__})()

    expected = ("A.f.<locals>.C", "A.f.<locals>.C.g")
    assert (made.__qualname__, made.g.__qualname__) == expected
    assert vars(made).get("__firstlineno__", 51) == 51


def test_unit_on_the_first_line_has_room_for_its_scopes():
    nested = unit("  def f(self): return a, __class__", class_name="C")
    nested = nested._replace(flags=IN_CLASS | NESTED, free_names=("__class__", "a"))

    assert compile_unit(nested, "f", 1).co_firstlineno == 1


def test_private_names_are_those_of_the_class():
    code = compile_unit(unit(" def f(self): self.__a", class_name="__C"), "f", 1)

    assert code.co_names == ("_C__a",)


def test_syntax_error_has_the_file_and_the_line():
    with pytest.raises(SyntaxError) as caught:
        compile_unit(unit("def f():\n return (:"), "/a/b.py", 70)

    assert (caught.value.filename, caught.value.lineno) == ("/a/b.py", 71)


def test_syntax_that_is_not_known_yet_is_a_syntax_error():
    with pytest.raises(SyntaxError):
        compile_unit(unit("def f():\n return <-- x"), "f", 1)


@pytest.mark.parametrize(
    "text, why",
    [
        ("def g(): pass", "does not define it"),
        ("def g():\n def h():\n  def f(): pass", "does not define it"),
        ("def o():\n  a = 1\n  def f(): return a", "variable a"),
    ],
    ids=["another function", "a function inside of another", "a variable not listed"],
)
def test_unit_of_something_else_is_refused(text, why):
    with pytest.raises(UnitError, match=why):
        compile_unit(unit(text), "f", 1)


def test_variables_that_are_not_used_are_none_of_the_code():
    code = compile_unit(
        unit(" def f(): return b", flags=NESTED, free_names=("a",)), "f", 1
    )

    assert code.co_freevars == ()


@pytest.mark.parametrize("action", ["error", "always"])
def test_warnings_of_the_compiler_are_passed_over(action, recwarn):
    text = "def f(a):\n return a is 1, '\\d', (1, 2)[0] is 'a'"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter(action)
        before = list(warnings.filters)

        compile_unit(unit(text), "f", 1)

        assert warnings.filters == before
    assert not seen


def test_text_is_compiled_and_never_run(capsys):
    text = "def f(a=print('ran')): pass\nprint('ran')"

    compile_unit(unit(text), "f", 1)

    assert not capsys.readouterr().out


def test_lambda_has_the_columns_of_its_place():
    made = unit("lambda x: x + 1", "<lambda>", kind=LAMBDA, column=40)

    code = compile_unit(made, "f", 3)

    columns = [c for *_, c, _ in code.co_positions() if c is not None]
    assert min(c for c in columns if c) == 50


def test_features_are_those_of_the_unit_alone():
    text = "def f():\n def g(a: int): pass\n return g"
    made = unit(text, futures=("annotations",))

    code = compile_unit(made, "f", 1)

    assert "int" in repr(code.co_consts) + repr(
        [k.co_consts for k in code.co_consts if hasattr(k, "co_consts")]
    )
    assert code.co_flags & __import__("__future__").annotations.compiler_flag


def test_level_of_optimization_is_that_of_the_unit():
    made = unit("def f():\n assert a\n return __debug__")

    plain, optimized = (
        compile_unit(made._replace(optimization=n), "f", 1) for n in (0, 1)
    )

    assert "a" in plain.co_names
    assert "a" not in optimized.co_names


def test_subpackage_needs_no_extension():
    modules = [name for name in sys.modules if name.startswith("waybill._source")]

    assert "waybill._source.compiling" in modules
    assert all("_core" not in vars(sys.modules[name]) for name in modules)
