"""Objects of the standard library that are what a few values say."""

import contextvars
import zoneinfo

import fresh_process
import pytest
import waybill
from claims_in_text import read_claims
from sources import define, imported

IMPORTS = """
import argparse, contextvars, datetime, decimal, enum, fractions, functools
import inspect, io, ipaddress, pathlib, queue, random, re, string, struct, textwrap
import types, uuid
"""


def arrive(source, expression):
    return fresh_process.send(define(IMPORTS + source).value, expression)


def has_zones():
    try:
        zoneinfo.ZoneInfo("Europe/Rome")
    except zoneinfo.ZoneInfoNotFoundError:
        return False
    return True


@pytest.mark.parametrize(
    "made",
    [
        "datetime.datetime(2024, 3, 1, 2, 30, fold=1)",
        "datetime.datetime(2024, 3, 1, tzinfo=datetime.timezone.utc)",
        "datetime.time(1, 2, 3, 4, fold=1)",
        "datetime.timezone(datetime.timedelta(hours=-3, minutes=-30))",
        "datetime.timedelta.max",
        "decimal.Decimal('sNaN123')",
        "decimal.Decimal('1E+400')",
        "decimal.Context(prec=5)",
        "fractions.Fraction(1, 3)",
        "uuid.UUID(int=5)",
        "pathlib.PurePosixPath('/a')",
        "pathlib.PureWindowsPath('c:/a')",
        "pathlib.Path('a/b')",
        "re.compile('(?P<n>a)', re.I)",
        "re.compile(b'a', re.S)",
        "ipaddress.ip_address('::1')",
        "ipaddress.ip_network('10.0.0.0/8')",
        "ipaddress.ip_interface('10.0.0.1/8')",
        "slice(1, None, [2])",
        "range(1, 9, 3)",
        "range(2**80)",
        "...",
        "type(...)",
        "type(None)",
        "type(NotImplemented)",
        "(None, ..., NotImplemented)",
        "argparse.Namespace(a=1, b=[2])",
        "types.SimpleNamespace(a=1)",
        "complex(1, -0.0)",
        "bytearray(b'ab')",
        "bytearray()",
        "2**200",
        "-2**200",
        "frozenset([1])",
        "inspect.signature(lambda a, /, b=1, *c, d, **e: 0)",
        "list[int]",
        "range",
    ],
)
def test_value_arrives_with_the_same_repr(made):
    expected = repr(define(f"{IMPORTS}value = {made}").value)

    assert arrive(f"value = {made}", "repr(value)") == expected


@pytest.mark.parametrize(
    "made, expression, expected",
    [
        ("string.Template('$a-$b')", "value.substitute(a=1, b=2)", "1-2"),
        ("struct.Struct('<hI')", "value.format, value.size", ("<hI", 6)),
        ("textwrap.TextWrapper(width=3)", "value.width", 3),
        ("string.Formatter()", "value.format('{}', 1)", "1"),
        ("datetime.datetime(2024, 3, 1, 2, 30, fold=1)", "value.fold", 1),
        ("io.StringIO('ab\\nc')", "value.read(), value.getvalue()",
         ("ab\nc", "ab\nc")),
        ("io.BytesIO(b'abc')", "value.read(2), value.tell()", (b"ab", 2)),
        ("type('D', (datetime.datetime,), {})(2024, 1, 2)",
         "type(value).__name__, value.day", ("D", 2)),
        ("type('D', (decimal.Decimal,), {})('1.5')",
         "type(value).__name__, str(value)", ("D", "1.5")),
        ("type('P', (pathlib.PurePosixPath,), {})('/a')",
         "type(value).__name__, str(value)", ("P", "/a")),
        ("enum.Enum('E', 'A B').B", "value.name, value.value", ("B", 2)),
        ("(lambda: 0).__code__", "eval(value)", 0),
        ("types.CellType(3)", "value.cell_contents", 3),
        ("types.CellType()", "type(value).__name__", "cell"),
        ("inspect.Parameter('a', inspect.Parameter.KEYWORD_ONLY)",
         "str(value), value.kind.name", ("a", "KEYWORD_ONLY")),
        ("inspect.Parameter('a', inspect.Parameter.KEYWORD_ONLY).empty",
         "value is __import__('inspect')._empty", True),
        ("re.compile('a').fullmatch", "value('a').group()", "a"),
    ],
)  # fmt: skip
def test_object_arrives_and_works(made, expression, expected):
    assert arrive(f"value = {made}", expression) == expected


OBJECTS = r"""
position of a string io arrives
    value = io.StringIO('abc')
    value.read(2)
    >>> value.read(), value.write('d'), value.getvalue()
    "c", 1, "abcd"

dynamic module arrives
    value = types.ModuleType("made", "doc")
    exec("x = [1]\ndef f(): return x", vars(value))
    >>> value.f() is value.x, value.__name__, value.__doc__
    True, "made", "doc"
"""


@pytest.mark.parametrize("source, expression, expected", read_claims(OBJECTS))
def test_object_arrives_as_it_is(source, expression, expected):
    assert arrive(source, expression) == expected


def test_random_generator_goes_on_in_the_receiver():
    sent = define("import random\nvalue = random.Random(3)\nvalue.random()").value

    assert fresh_process.send(sent, "value.random()") == sent.random()


@pytest.mark.skipif(not has_zones(), reason="no time zone data")
def test_zone_of_a_time_arrives():
    source = """
import zoneinfo
value = datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Rome"))
"""

    expected = ("CEST", "Europe/Rome")
    assert arrive(source, "value.tzname(), value.tzinfo.key") == expected


def test_match_is_refused_by_name():
    value = define("import re\nvalue = re.match('a', 'a')").value

    with pytest.raises(waybill.EncodeError, match=r"re\.Match"):
        waybill.dumps(value)


# ---- contextvars


CONTEXTS = """
context variable arrives as one
    v = contextvars.ContextVar("v")
    def f(): return v
    value = v, [v], f
    >>> value[0] is value[1][0], value[0] is value[2](), value[0].name
    True, True, "v"

context variable keeps its default
    value = contextvars.ContextVar('v', default=[5])
    >>> value.get()
    [5]

context variable arrives without the value it has here
    value = contextvars.ContextVar('v')
    value.set(1)
    >>> value.get(None)
    None

function with a context variable works
    v = contextvars.ContextVar("v", default=0)
    def value():
        token = v.set(v.get() + 1)
        try:
            return v.get()
        finally:
            v.reset(token)
    >>> value(), value()
    1, 1

context keeps its values
    v = contextvars.ContextVar("v")
    w = contextvars.ContextVar("w")
    context = contextvars.Context()
    context.run(lambda: (v.set([1]), w.set(2)))
    value = context, v, w
    >>> value[0][value[1]], value[0].run(value[2].get)
    [1], 2
"""


@pytest.mark.parametrize("source, expression, expected", read_claims(CONTEXTS))
def test_context_arrives(source, expression, expected):
    assert arrive(source, expression) == expected


def test_context_variable_of_a_module_is_found_there():
    import decimal

    if not hasattr(decimal, "ContextVar"):
        import _pydecimal as module

        sent = module.__dict__.get("_current_context_var")
        assert waybill.loads(waybill.dumps(sent)) is sent


def test_bytes_of_a_context_variable_do_not_depend_on_the_order_of_imports():
    variable = contextvars.ContextVar("v")
    payloads = set()
    for first, second in ("cv_a", "cv_b"), ("cv_b", "cv_a"):
        with imported(first, x=variable), imported(second, x=variable):
            payloads.add(waybill.dumps(variable))

    assert len(payloads) == 1


def test_bytes_of_a_context_do_not_depend_on_its_order():
    source = """
names = [contextvars.ContextVar(f"v{n}") for n in range(20)]
def make(order):
    context = contextvars.Context()
    context.run(lambda: [names[n].set(n) for n in order])
    return context
value = make(range(20)), make(reversed(range(20)))
"""
    first, second = define(IMPORTS + source).value

    assert waybill.dumps(first) == waybill.dumps(second)
