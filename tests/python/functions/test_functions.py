"""Functions by value behave where they arrive as they did where they came from."""

import inspect
import json
import os
import sys
import types

import fresh_process
import pytest
import waybill
from claims_in_text import read_claims
from sources import define, round_trip


def since(*version):
    return pytest.mark.skipif(
        sys.version_info < version, reason=f"syntax of {'.'.join(map(str, version))}"
    )


# ---- What a function carries


def test_function_runs_in_a_fresh_process():
    function = define("def f(a, b=2, *c, d, e=5, **g): return a, b, c, d, e, g").f

    answer = fresh_process.send(function, "value(1, d=4, z=6)")

    assert answer == (1, 2, (), 4, 5, {"z": 6})


def test_signature_arrives():
    function = define("def f(a, /, b: int = 2, *c, d, e=5, **g) -> str: pass").f

    assert inspect.signature(round_trip(function)) == inspect.signature(function)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("__defaults__", (1, [2])),
        ("__kwdefaults__", {"d": [3]}),
        ("__annotations__", {"a": int, "return": "later"}),
        ("__name__", "another"),
        ("__qualname__", "Some.other"),
        ("__module__", "some.module.not.there"),
        ("__module__", None),
        ("__doc__", "another text"),
        ("__doc__", None),
        ("__doc__", 17),
        ("__dict__", {"a": 1, "b": [2]}),
    ],
)
def test_changed_attribute_arrives(attribute, value):
    function = define('def f(a=0, *, d=0):\n    "text"\n    return a').f
    setattr(function, attribute, value)

    assert getattr(round_trip(function), attribute) == value


@pytest.mark.parametrize(
    "attribute", ["__name__", "__qualname__", "__module__", "__doc__"]
)
def test_unchanged_attribute_arrives(attribute):
    source = 'def outer():\n    def f():\n        "text"\n    return f'
    function = define(source).outer()

    assert getattr(round_trip(function), attribute) == getattr(function, attribute)


@pytest.mark.parametrize("attribute", ["__defaults__", "__kwdefaults__", "__closure__"])
def test_absent_attribute_stays_none(attribute):
    assert getattr(round_trip(define("def f(): pass").f), attribute) is None


def test_builtins_of_the_loaded_function_are_those_of_the_receiver():
    function = define("def f(): return len([1, 2])").f

    answer = fresh_process.send(
        function, "value(), value.__builtins__ is vars(__import__('builtins'))"
    )

    assert answer == (2, True)


def test_dunder_name_of_the_globals_arrives():
    function = define("def f(): return __name__", name="a.name").f

    assert fresh_process.send(function, "value()") == "a.name"


def test_globals_are_no_module_of_the_receiver():
    function = define("x = 1\ndef f():\n    global x\n    x = 2", name="json").f

    left = fresh_process.send(
        function, "value() or hasattr(sys.modules.get('json'), 'x')"
    )

    assert left is False


# ---- Which globals


def test_only_referenced_globals_travel():
    sent = define("used, unused = [1], object()\ndef f(): return used")

    arrived = round_trip(sent.f)

    assert "used" in arrived.__globals__
    assert "unused" not in arrived.__globals__


def test_attribute_of_the_same_name_does_not_pull_a_global():
    sent = define("import threading\nlock = threading.Lock()\ndef f(x): return x.lock")

    assert "lock" not in round_trip(sent.f).__globals__


@pytest.mark.parametrize(
    "source",
    [
        "def f(): return lambda: (lambda: value)()",
        "def f(): return lambda: [value for _ in '1'][0]",
        "def f(): return lambda: next(value for _ in '1')",
        "def f():\n    class A:\n        x = value\n    return lambda: A.x",
        "def f():\n    class A:\n        def x(self): return value\n    return A().x",
        "def f():\n    def g(x=value): return x\n    return g",
        "def f():\n    async def g(): return value\n"
        "    def h():\n        try: g().send(None)\n"
        "        except StopIteration as e: return e.value\n    return h",
    ],
)
def test_global_used_in_nested_code_travels(source):
    function = define("value = [1]\n" + source).f

    assert fresh_process.send(function, "value()()") == [1]


GLOBALS = """
class body reads a global that it binds as well
    value = [1]
    def f():
        class A:
            value = value + [2]
        return A.value
    >>> value()
    [1, 2]

global that is stored only need not exist
    def f():
        global made
        made = 5
        return made
    >>> value()
    5

deleted global travels
    x = 1
    def f():
        global x
        del x
        return 'x' in globals()
    >>> value()
    False

global that shadows a builtin is the one that travels
    len = [7]
    def f(): return len[0]
    >>> value()
    7

default cell and local may have names of builtins
    def make(list):
        def f(dict=1, *, set=2):
            tuple = 3
            return dict, set, tuple, list
        return f
    f = make(4)
    >>> value()
    1, 2, 3, 4
"""


@pytest.mark.parametrize("source, expression, expected", read_claims(GLOBALS))
def test_global_is_where_the_function_looks(source, expression, expected):
    assert fresh_process.send(define(source).f, expression) == expected


def test_missing_global_raises_name_error_when_called():
    function = define("def f(): return nobody").f

    with pytest.raises(fresh_process.FreshProcessError) as caught:
        fresh_process.send(function, "value()")

    assert caught.value.kind == "NameError"


def test_builtin_removed_by_the_sender_is_no_global():
    function = define("def f(): return max(1, 2)").f

    assert "max" not in round_trip(function).__globals__


# ---- Kinds of functions


def test_lambda_runs():
    assert fresh_process.send(lambda x, y=[1]: (x, y), "value(2)") == (2, [1])


KINDS = """
generator function runs
    def f(n):
        got = yield n
        yield got
    >>> (lambda g: (next(g), g.send(5)))(value(4))
    4, 5

async function runs
    async def inner(x): return x * 2
    async def f(x): return await inner(x) + 1
    >>> __import__('asyncio').run(value(4))
    9

async generator function runs
    async def count(n):
        for i in range(n): yield i
    async def f(n): return [i async for i in count(n) if i != 1]
    >>> __import__('asyncio').run(value(4))
    [0, 2, 3]

function with try, with and match runs
    import contextlib
    def f(x):
        with contextlib.suppress(KeyError):
            try:
                {}[x]
            finally:
                kind = x
        match kind:
            case {"a": [first, *rest]}: return first, rest
            case int(): return "int"
            case _: return "other"
    >>> value(3), value('x')
    "int", "other"
"""


@pytest.mark.parametrize("source, expression, expected", read_claims(KINDS))
def test_each_kind_of_function(source, expression, expected):
    assert fresh_process.send(define(source).f, expression) == expected


def test_code_object_arrives_equal():
    code = define("def f(a, b=1):\n    def g(): return a\n    return g").f.__code__

    assert round_trip(code) == code


def test_long_function_with_extended_arguments_runs():
    lines = "\n".join(f"    x{i} = x{i - 1} + a{i}" for i in range(1, 600))
    names = "\n".join(f"a{i} = {i}" for i in range(1, 600))
    function = define(f"{names}\ndef f(x0):\n{lines}\n    return x599").f

    assert fresh_process.send(function, "value(0)") == sum(range(600))


FEW_AND_MANY = pytest.mark.parametrize("count", [1, 15, 16, 17, 40, 3000])


@FEW_AND_MANY
def test_function_of_any_number_of_globals_arrives(count):
    names = [f"g{i}" for i in range(count)]
    values = ", ".join(names)
    function = define(
        f"def f(): return [{values}], (lambda: [{values}, {values}])()",
        **{name: i for i, name in enumerate(names)},
    ).f

    one, twice = round_trip(function)()

    assert (one, twice) == (list(range(count)), list(range(count)) * 2)


@pytest.mark.parametrize("count", [3, 40])
def test_first_use_of_each_of_many_globals_is_told(count):
    modules = [name for name in sorted(sys.stdlib_module_names) if name.isalpha()]
    modules = [name for name in modules if name in sys.modules][:count]
    lines = "".join(f"    {name}.__doc__\n" for name in modules)
    given = {name: sys.modules[name] for name in modules}
    function = define(f"def f():\n{lines}{lines}", **given).f

    found = waybill.imports(function)

    first_lines = {name: line for line, name in enumerate(modules, 2)}
    assert {record.module: record.line for record in found} == first_lines


@FEW_AND_MANY
def test_function_with_any_number_of_functions_in_it_arrives(count):
    bodies = ", ".join(f"lambda: {i * 1000}" for i in range(count))
    function = define(f"def f(): return [{bodies}]").f

    answer = fresh_process.send(function, "[inner() for inner in value()]")

    assert answer == [i * 1000 for i in range(count)]


@FEW_AND_MANY
def test_any_number_of_functions_keep_their_own_globals(count):
    code = compile("x", "x", "eval")
    functions = [types.FunctionType(code, {"x": i}) for i in range(count)]

    arrived = round_trip([functions, functions])

    assert [function() for function in arrived[1]] == list(range(count))


@since(3, 12)
def test_type_parameters_arrive():
    function = define("def f[T: int, *Ts, **P](x: T) -> T: return x").f

    arrived = round_trip(function)

    assert [p.__name__ for p in arrived.__type_params__] == ["T", "Ts", "P"]
    assert arrived(3) == 3


@since(3, 12)
def test_type_parameter_is_the_one_of_the_annotations():
    function = define("def f[T](x: T) -> T: return x").f

    arrived = round_trip(function)

    assert arrived.__annotations__["x"] is arrived.__type_params__[0]


@since(3, 14)
def test_annotations_are_not_evaluated_by_sending():
    function = define("""
    evaluated = []
    def note(): evaluated.append(1)
    def f(x: note()) -> note(): return x
    """)

    arrived = round_trip(function.f)

    assert arrived(1) == 1
    assert function.evaluated == []
    assert arrived.__globals__["evaluated"] == []


@since(3, 14)
def test_annotations_that_cannot_be_evaluated_travel():
    function = define("def f(x: Nobody) -> 1 / 0: return x").f

    assert fresh_process.send(function, "value(3)") == 3


@since(3, 14)
def test_annotations_are_evaluated_where_they_arrive():
    function = define("class A: pass\ndef f(x: A) -> int: return A").f

    arrived = round_trip(function)

    assert arrived.__annotations__ == {"x": arrived(1), "return": int}


# ---- Files


FILES = ["task.py", "task.py", "/ein/anderer Pfad/Ä.py", "/ein/anderer Pfad/Ä.py"]
FILES += ["\udc80.py", "\udc80.py", "\\udc80.py", "", "", "task.py"]


@pytest.mark.parametrize("source", ["return 1", "return json", "return lambda: json"])
def test_each_function_comes_from_its_file(source):
    functions = []
    for number, file in enumerate(FILES):
        scope = {"__name__": "nowhere", "json": json}
        exec(compile(f"def f(): '{number}'; {source}", file, "exec"), scope)
        functions.append(scope["f"])

    arrived = fresh_process.send(
        functions,
        """[(f.__doc__, f.__code__.co_filename.encode("utf-8", "surrogatepass"),
             [c.co_filename.encode("utf-8", "surrogatepass")
              for c in f.__code__.co_consts if hasattr(c, "co_filename")])
            for f in value]""",
    )

    nested = 1 if "lambda" in source else 0
    for number, (file, found) in enumerate(zip(FILES, arrived, strict=True)):
        name = file.encode("utf-8", "surrogatepass")
        assert found == (str(number), name, [name] * nested)
    for file, function in zip(FILES, functions, strict=True):
        assert round_trip(function).__code__.co_filename == file


def test_a_file_is_named_once_whatever_stands_between():
    program = """
file = "/home/j\\u00fcrgen/" + "x" * 200_000
scope = {"__name__": "nowhere"}
source = "def make(n):\\n return lambda: n\\ndef g(): return make\\n"
exec(compile(source, file, "exec"), scope)
data = waybill.dumps([scope["make"](1), scope["make"](2), scope["g"]])
print(data.count(file.encode()))
"""
    for allocator in ("debug", "malloc"):
        environment = {**os.environ, "PYTHONMALLOC": allocator}
        answer = fresh_process.execute(
            program.replace("print(", "answer = ("),
            command=(sys.executable,),
            env=environment,
        )
        assert answer == 1


def test_a_file_is_named_once():
    file = "/a/path/that/is/named/once.py"
    scope = {"__name__": "nowhere", "json": json}
    exec(compile("def f(): return json\ndef g(): return f", file, "exec"), scope)

    assert waybill.dumps([scope["f"], scope["g"]]).count(file.encode()) == 1
