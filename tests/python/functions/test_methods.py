"""Methods, functions by reference, and tracebacks."""

import sys

import fresh_process
import pytest
import waybill
from sources import copy_by_value, define, imported, round_trip


def since(*version):
    return pytest.mark.skipif(
        sys.version_info < version, reason=f"syntax of {'.'.join(map(str, version))}"
    )


# ---- Methods, and functions by reference


def test_dunder_class_cell_of_an_importable_class_is_that_class():
    from collections import OrderedDict

    def make():
        __class__ = OrderedDict

        def method():
            return __class__

        return method

    assert round_trip(make())() is OrderedDict


def test_method_of_an_importable_class_sent_alone_finds_its_class():
    from json import JSONEncoder

    function = copy_by_value(JSONEncoder.encode)

    answer = fresh_process.send(
        function, "value(__import__('json').JSONEncoder(), {'a': 1})"
    )

    assert answer == '{"a": 1}'


def test_super_in_a_method_copied_from_an_importable_class():
    from argparse import _HelpAction

    function = copy_by_value(_HelpAction.__init__)
    (cell,) = function.__closure__

    arrived = round_trip(function)

    assert arrived.__closure__[0].cell_contents is _HelpAction
    assert cell.cell_contents is _HelpAction


@since(3, 12)
def test_classdict_cell_of_an_importable_class_is_that_class_dict():
    source = "class A[T]:\n    x = 1\n    def f[S](self, y: S): return y"
    scope = {"__name__": "a_module_of_waybills_tests"}
    exec(source, scope)
    with imported("a_module_of_waybills_tests", A=scope["A"]):
        function = copy_by_value(scope["A"].f)

        assert round_trip(function)(None, 3) == 3


def test_function_by_reference_is_the_same_object():
    import textwrap

    assert round_trip(textwrap.dedent) is textwrap.dedent


def test_function_by_reference_brings_no_code():
    import textwrap

    assert waybill.inspect(waybill.dumps(textwrap.dedent))["code"] == []


def test_function_that_its_module_no_longer_holds_travels_by_value():
    source = "def f(): return 1"
    with imported("a_module_of_waybills_tests") as module:
        exec(source, vars(module))
        function = module.f
        module.f = None

        data = waybill.dumps(function)

    assert fresh_process.load(data, "value()") == 1


def test_function_whose_name_means_another_object_travels_by_value():
    with imported("a_module_of_waybills_tests") as module:
        exec("def f(): return 1", vars(module))
        first = module.f
        exec("def f(): return 2", vars(module))

        data = waybill.dumps(first)

    assert fresh_process.load(data, "value()") == 1


def test_wrapped_attribute_is_the_function_in_the_closure():
    function = define("""
    import functools
    def decorate(g):
        @functools.wraps(g)
        def wrapper(): return g
        return wrapper
    @decorate
    def f(): pass
    """).f

    arrived = round_trip(function)

    assert arrived.__wrapped__ is arrived()


# ---- Tracebacks


def test_traceback_shows_lines_of_nested_code(tmp_path):
    file = tmp_path / "work.py"
    file.write_text("def f():\n def g():\n\n  1 / 0\n g()\n", encoding="utf-8")
    scope = {"__name__": "nowhere"}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), scope)

    with pytest.raises(fresh_process.FreshProcessError) as caught:
        fresh_process.send(scope["f"], "value()")

    assert f'"{file}", line 4, in' in caught.value.traceback
    assert f'"{file}", line 5, in f' in caught.value.traceback


def test_positions_of_instructions_arrive():
    code = define("def f(a):\n    return (a +\n            1)").f.__code__

    assert list(round_trip(code).co_positions()) == list(code.co_positions())
