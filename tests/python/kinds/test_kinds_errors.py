"""Exceptions travel with what led to them."""

import traceback

import fresh_process
import pytest
import waybill
from claims_in_text import read_claims
from sources import define

FORMAT = "''.join(__import__('traceback').format_exception(value))"

RAISING = """
def inner(x):
    return x / 0
def outer():
    try:
        inner(1)
    except ZeroDivisionError as error:
        raise ValueError("outer") from error
def catch(f):
    try:
        f()
    except BaseException as error:
        return error
"""


def arrive(source, expression):
    return fresh_process.send(define(RAISING + source).value, expression)


def test_cause_and_both_tracebacks_arrive():
    text = arrive("value = catch(outer)", FORMAT)

    assert "in inner" in text
    assert "in outer" in text
    assert "ZeroDivisionError: division by zero" in text
    assert "direct cause" in text


ERRORS = """
context arrives
    def f():
        try:
            inner(1)
        except ZeroDivisionError:
            raise KeyError(1)
    value = catch(f)
    >>> type(value.__context__).__name__
    "ZeroDivisionError"

suppressed context stays suppressed
    def f():
        try:
            inner(1)
        except ZeroDivisionError:
            raise KeyError(1) from None
    value = catch(f)
    >>> value.__suppress_context__, value.__cause__
    True, None

own exception keeps attributes and message
    class Own(ValueError):
        pass
    value = Own("a", 2)
    value.extra = [1]
    value.add_note("look")
    >>> value.args, value.extra, value.__notes__
    ("a", 2), [1], ["look"]
"""


@pytest.mark.parametrize("source, expression, expected", read_claims(ERRORS))
def test_error_keeps_what_it_has(source, expression, expected):
    assert arrive(source, expression) == expected


@pytest.mark.parametrize("link", ["__cause__", "__context__"])
def test_cause_and_context_that_are_false_arrive(link):
    source = f"""
class Empty(Exception):
    def __bool__(self): raise AssertionError("nobody's business")
value = ValueError("v")
value.{link} = Empty()
"""

    assert arrive(source, f"type(value.{link}).__name__") == "Empty"


def test_traceback_names_the_lines_of_the_sender():
    sent = define(RAISING + "value = catch(outer)").value
    expected = [
        (f.filename, f.lineno, f.name, f.colno, f.end_colno)
        for f in traceback.extract_tb(sent.__traceback__)
    ]

    answer = fresh_process.send(
        sent,
        "[(f.filename, f.lineno, f.name, f.colno, f.end_colno)"
        " for f in __import__('traceback').extract_tb(value.__traceback__)]",
    )

    assert answer == expected


def test_traceback_shows_source_that_the_receiver_does_not_have(tmp_path):
    file = tmp_path / "gone.py"
    file.write_text("def fail():\n    raise ValueError  # seen far away\n")
    scope = {"__name__": "gone"}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    try:
        scope["fail"]()
    except ValueError as error:
        payload = waybill.dumps(error)
    file.unlink()

    assert "seen far away" in fresh_process.load(payload, FORMAT)


def test_received_exception_can_be_raised_and_sent_on():
    sent = waybill.loads(waybill.dumps(define(RAISING + "value = catch(outer)").value))

    try:
        raise sent
    except ValueError as error:
        text = fresh_process.send(error, FORMAT)

    assert "in inner" in text


@pytest.mark.parametrize(
    "made, expression, expected",
    [
        ("OSError(2, 'gone', 'a', None, 'b')",
         "type(value).__name__, value.errno, value.strerror, value.filename,"
         "value.filename2, value.args",
         ("FileNotFoundError", 2, "gone", "a", "b", (2, "gone"))),
        ("BlockingIOError(11, 'x', 5)", "value.characters_written", 5),
        ("UnicodeDecodeError('utf-8', b'\\xff', 0, 1, 'why')",
         "value.object, value.start, value.end, str(value)[:7]",
         (b"\xff", 0, 1, "'utf-8'")),
        ("SyntaxError('bad', ('f', 1, 2, 'text', 1, 4))",
         "value.msg, value.filename, value.lineno, value.text, value.end_offset",
         ("bad", "f", 1, "text", 4)),
        ("StopIteration(3)", "value.value", 3),
        ("SystemExit(3)", "value.code", 3),
        ("ImportError('m', name='n', path='p')", "value.name, value.path", ("n", "p")),
        ("AttributeError('m', name='n', obj=int)", "value.name, value.obj is int",
         ("n", True)),
        ("AttributeError('m', name='n', obj=open)", "value.name, value.obj",
         ("n", None)),
        ("NameError('m', name='n')", "value.name", "n"),
        ("ExceptionGroup('m', [KeyError(1), TypeError('x')])",
         "value.message, repr(value.exceptions)",
         ("m", "(KeyError(1), TypeError('x'))")),
        ("KeyError(1)", "value.args", (1,)),
    ],
)  # fmt: skip
def test_builtin_exception_keeps_what_it_tells(made, expression, expected):
    assert arrive(f"value = {made}", expression) == expected
