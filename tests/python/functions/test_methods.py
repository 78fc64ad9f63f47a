"""Methods, what wraps functions, modules made by hand, and tracebacks."""

import functools
import sys

import fresh_process
import pytest
import waybill
from sources import copy_by_value, define, imported


def round_trip(value):
    return waybill.loads(waybill.dumps(value))


def since(*version):
    return pytest.mark.skipif(
        sys.version_info < version, reason=f"syntax of {'.'.join(map(str, version))}"
    )


# ---- Methods and what wraps functions


def test_zero_argument_super_works():
    sent = define("""
    class A:
        def who(self): return "A"
    class B(A):
        def who(self): return super().who() + "B"
    """).B

    assert fresh_process.send(sent, "value().who()") == "AB"


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


def test_decorated_function_runs():
    function = define("""
    import functools
    calls = []
    def logged(function):
        @functools.wraps(function)
        def wrapper(*args):
            calls.append(args)
            return function(*args), calls
        return wrapper
    @logged
    def f(x): return x + 1
    """).f

    assert fresh_process.send(function, "value(1)") == (2, [(1,)])


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


def test_partial_runs():
    function = define("def f(a, b, c): return a, b, c").f

    sent = functools.partial(function, 1, c=3)

    assert fresh_process.send(sent, "value(2)") == (1, 2, 3)


def test_partial_of_a_partial_runs():
    sent = functools.partial(functools.partial(lambda *a, **k: (a, k), 1, x=1), 2, x=2)

    assert fresh_process.send(sent, "value(3)") == ((1, 2, 3), {"x": 2})


def test_bound_method_runs():
    sent = define("""
    class A:
        def __init__(self): self.x = 4
        def get(self, y): return self.x + y
    """)

    assert fresh_process.send(sent.A().get, "value(1)") == 5


def test_bound_method_of_a_builtin_keeps_its_object():
    items = [1]

    append, arrived = round_trip((items.append, items))
    append(2)

    assert arrived == [1, 2]


def test_classmethod_runs():
    sent = define("class A:\n    x = 3\n    @classmethod\n    def f(cls): return cls.x")

    assert fresh_process.send(sent.A.f, "value()") == 3


def test_staticmethod_runs():
    sent = define("class A:\n    @staticmethod\n    def f(x): return x")

    assert fresh_process.send(sent.A.f, "value(3)") == 3


@pytest.mark.parametrize("wrapper", [staticmethod, classmethod, property])
def test_bare_descriptor_arrives(wrapper):
    function = define("def f(x): return x").f

    arrived = round_trip(wrapper(function))

    assert type(arrived) is wrapper
    assert (arrived.fget if wrapper is property else arrived.__func__)(3) == 3


# What nobody can take apart is refused; it is never half sent.


def test_cached_function_runs_or_is_refused():
    function = define("import functools\n@functools.lru_cache(5)\ndef f(x): return x").f

    try:
        data = waybill.dumps([function])
    except waybill.EncodeError as error:
        assert error.path.startswith("obj[0]")
        return

    assert fresh_process.load(data, "value[0](3)") == 3


def test_single_dispatch_function_runs_or_is_refused():
    function = define("""
    import functools
    @functools.singledispatch
    def f(x): return "any"
    @f.register
    def _(x: int): return "int"
    """).f

    try:
        data = waybill.dumps(function)
    except waybill.EncodeError as error:
        assert error.path.startswith("f.__closure__")
        return

    assert fresh_process.load(data, "value(3), value('')") == ("int", "any")


# ---- Modules that no import finds


def test_module_made_by_hand_travels_by_value():
    import types

    sent = types.ModuleType("made_by_hand")
    exec("x = [1]\ndef f(): return x, __name__", vars(sent))

    answer = fresh_process.send(
        sent, "value.f(), value.__name__, value.f()[0] is value.x"
    )

    assert answer == (([1], "made_by_hand"), "made_by_hand", True)


# ---- Tracebacks


def test_traceback_shows_file_and_line_of_the_sender(tmp_path):
    file = tmp_path / "work.py"
    file.write_text("\n\ndef f():\n\n    return 1 / 0\n", encoding="utf-8")
    scope = {"__name__": "nowhere"}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), scope)

    with pytest.raises(fresh_process.FreshProcessError) as caught:
        fresh_process.send(scope["f"], "value()")

    assert f'File "{file}", line 5, in f' in caught.value.traceback


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


def test_file_name_that_is_no_utf_8_arrives():
    scope = {"__name__": "nowhere"}
    exec(compile("def f(): pass", "caf\udce9.py", "exec"), scope)

    assert round_trip(scope["f"]).__code__.co_filename == "caf\udce9.py"
