"""A call goes out as a payload, and its outcome comes back as one."""

import io
import json
import os
import threading
import traceback

import fresh_process
import pytest
import waybill
from refusals import refused_as
from sources import define

KEY = waybill.security.SigningKey.generate()


def outcome_of(function, *args, **kwargs):
    return waybill.calls.run_call(waybill.calls.dumps_call(function, args, kwargs))


def test_result_comes_back():
    function = define("def f(a, *, b): return [a, b, os.sep]", os=os).f

    assert waybill.calls.loads_outcome(outcome_of(function, 1, b=2)) == [1, 2, os.sep]


def test_call_is_the_same_payload_as_the_tuple():
    assert waybill.calls.dumps_call(len, [[1]]) == waybill.dumps((len, ([1],), {}))


def test_call_runs_in_a_process_that_has_imported_nothing():
    function = define("def f(x): return json.dumps([x])", json=json).f
    data = waybill.calls.dumps_call(function, ["x"])

    outcome = fresh_process.execute("answer = waybill.calls.run_call(data)", data)

    assert waybill.calls.loads_outcome(outcome) == '["x"]'


def test_exception_comes_back_with_its_traceback_and_cause():
    function = define(
        """
def inner(x):
    try:
        1 / x
    except ZeroDivisionError as error:
        raise ValueError("no") from error
def f(x): inner(x)
"""
    ).f

    with pytest.raises(ValueError, match="^no$") as caught:
        waybill.calls.loads_outcome(outcome_of(function, 0))

    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames[-2:] == ["f", "inner"] and "carry_out" not in frames
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_exception_that_cannot_travel_is_told():
    function = define(
        """
def f():
    error = ValueError("held")
    error.lock = threading.Lock()
    raise error
""",
        threading=threading,
    ).f

    with pytest.raises(waybill.calls.RemoteError) as caught:
        waybill.calls.loads_outcome(outcome_of(function))

    assert str(caught.value) == "builtins.ValueError: held"
    assert "in f" in caught.value.traceback
    assert caught.value.traceback.rstrip() in "".join(caught.value.__notes__)
    assert caught.value.__cause__ is None
    assert "obj.lock (_thread.lock)" in caught.value.__notes__[-1]


@pytest.mark.parametrize("method", ["__str__", "__reduce__"])
@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, RecursionError])
def test_exception_that_raises_when_it_is_told_is_told_all_the_same(method, kind):
    def fail(self):
        raise kind("again")

    error = type("Odd", (Exception,), {method: fail})
    function = define("def f(): raise error('odd')", error=error).f

    with pytest.raises(waybill.calls.RemoteError, match="Odd"):
        waybill.calls.loads_outcome(outcome_of(function), policy=waybill.DATA_ONLY)


def test_result_that_cannot_travel_is_an_error_with_its_path():
    function = define(
        "def f(): return {'a': [threading.Lock()]}", threading=threading
    ).f

    with pytest.raises(waybill.EncodeError, match="_thread.lock") as caught:
        waybill.calls.loads_outcome(outcome_of(function))

    assert "['a'][0]" in str(caught.value)


@pytest.mark.parametrize("raised", ["SystemExit(3)", "GeneratorExit()"])
def test_what_would_end_this_process_is_told_and_not_raised(raised):
    function = define(f"def f(): raise {raised}").f

    with pytest.raises(waybill.calls.RemoteError, match=raised.partition("(")[0]):
        waybill.calls.loads_outcome(outcome_of(function))


def test_keyboard_interrupt_is_for_the_process_that_runs():
    with pytest.raises(KeyboardInterrupt):
        outcome_of(define("def f(): raise KeyboardInterrupt").f)


def test_who_lets_in_data_only_reads_results_and_what_was_raised():
    terms = {"policy": waybill.DATA_ONLY}

    assert waybill.calls.loads_outcome(outcome_of(sorted, [2, 1]), **terms) == [1, 2]
    with pytest.raises(waybill.calls.RemoteError) as caught:
        waybill.calls.loads_outcome(outcome_of(int, "x"), **terms)
    assert caught.value.type_name == "builtins.ValueError"
    assert isinstance(caught.value.__cause__, waybill.PolicyError)


def test_call_is_admitted_on_terms():
    ring = waybill.security.KeyRing()
    ring.add(KEY)
    signed = waybill.calls.dumps_call(len, [[1]], key=KEY)

    outcome = waybill.calls.run_call(signed, keys=ring, key=KEY)

    assert waybill.calls.loads_outcome(outcome, keys=ring) == 1
    with pytest.raises(waybill.SignatureError):
        waybill.calls.run_call(waybill.calls.dumps_call(len, [[1]]), keys=ring)
    with pytest.raises(waybill.PolicyError):
        waybill.calls.run_call(signed, policy=waybill.DATA_ONLY)


@pytest.mark.parametrize(
    "thing",
    [
        1,
        (len, (), {}, 0),
        (1, (), {}),
        (len, 1, {}),
        (len, (), {1: 2}),
        (len, (), []),
        [len, (), {}],
    ],
    ids=repr,
)
def test_payload_that_is_no_call_is_malformed(thing):
    with refused_as("malformed", match="not a call"):
        waybill.calls.run_call(waybill.dumps(thing))


@pytest.mark.parametrize(
    "thing", [1, {}, {"raised": {"type": 1}}, {"failed": {}}], ids=repr
)
def test_payload_that_is_no_outcome_is_malformed(thing):
    with refused_as("malformed", match="not the outcome"):
        waybill.calls.loads_outcome(waybill.dumps(thing))


def test_outcomes_follow_each_other_in_a_file():
    file = io.BytesIO(outcome_of(len, [1]) + outcome_of(int, "x") + outcome_of(len, []))

    assert waybill.calls.result_of(waybill.load(file)) == 1
    with pytest.raises(ValueError):
        waybill.calls.result_of(waybill.load(file))
    assert waybill.calls.result_of(waybill.load(file)) == 0


def test_call_that_was_not_made_is_a_call_error():
    failed = {"failed": {"code": "timed_out", "detail": "after 2 s"}}

    with pytest.raises(
        waybill.calls.CallError, match="^timed_out: after 2 s$"
    ) as caught:
        waybill.calls.loads_outcome(waybill.dumps(failed))

    assert caught.value.code == "timed_out"


@pytest.mark.parametrize(
    "error",
    [
        waybill.calls.CallError("a", "b"),
        waybill.calls.RemoteError("a.B", "m", "Traceback …"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_of_calls_travel(error):
    again = waybill.loads(waybill.dumps(error))

    assert type(again) is type(error) and again.args == error.args
    assert str(again) == str(error) and vars(again) == vars(error)
