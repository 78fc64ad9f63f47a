"""Calls and their outcomes are compressed as `dumps` compresses."""

import array

import fresh_process
import pytest
import waybill
from sources import define
from waybill.calls import dumps_call, loads_outcome, run_call
from waybill.security import KeyRing, SigningKey

KEY = SigningKey.generate()
ROWS = array.array("q", range(30_000))
TEXT = b"one line as the other\n" * 5000


def task(held=TEXT):
    """A function of a script, which holds something large."""
    return define(
        "def f(*args, **kwargs): return held, args, kwargs", held=bytearray(held)
    ).f


@pytest.fixture(autouse=True)
def as_at_the_start():
    yield
    waybill.configure(compress=None)


def are_compressed(data):
    rows = waybill.inspect(data)["buffers"]
    return bool(rows) and all("compression" in row for row in rows)


def prepared_call(function, args, kwargs, **options):
    return waybill.prepare(function, **options).dumps(*args, **kwargs)


MAKERS = [dumps_call, prepared_call]


@pytest.mark.parametrize("key", [None, KEY], ids=["unsigned", "signed"])
@pytest.mark.parametrize("compress", ["zstd", ("zstd", 9)])
@pytest.mark.parametrize("make", MAKERS)
def test_call_is_compressed_and_comes_back(make, compress, key):
    data = make(task(), [TEXT, ROWS], {"more": TEXT}, compress=compress, key=key)

    options = {} if key is None else {"keys": KeyRing(key)}
    function, args, kwargs = waybill.loads(data, **options)
    assert are_compressed(data) and len(data) < 20_000
    assert (args, kwargs) == ((TEXT, ROWS), {"more": TEXT})
    assert function() == (TEXT, (), {})


@pytest.mark.parametrize("key", [None, KEY], ids=["unsigned", "signed"])
def test_prepared_call_gives_the_bytes_of_dumps_call(key):
    function = task()
    options = {"compress": ("zstd", 1), "key": key, "application": b"task"}
    prepared = waybill.prepare(function, **options)

    for args in ([], [1], [TEXT], [ROWS, bytearray(TEXT)], [function, task]):
        for _ in range(2):
            assert prepared.dumps(*args) == dumps_call(function, args, **options)


def test_prepared_call_is_compressed_when_the_function_was_refreshed():
    prepared = waybill.prepare(task(), compress="zstd")
    prepared.refresh()

    assert are_compressed(prepared.dumps(TEXT))


def test_what_was_prepared_has_the_same_digest_however_it_is_compressed():
    function = task()

    digests = {
        waybill.prepare(function, compress=compress).digest
        for compress in (None, False, "zstd", ("zstd", 19))
    }

    assert len(digests) == 1
    assert waybill.prepare(task(TEXT + b"."), compress="zstd").digest not in digests


@pytest.mark.parametrize("make", MAKERS)
def test_process_may_say_so_for_all_calls_and_a_call_goes_first(make):
    function = task()
    plain = make(function, [TEXT], {})
    assert not are_compressed(plain)

    waybill.configure(compress="zstd")

    assert are_compressed(make(function, [TEXT], {}))
    assert make(function, [TEXT], {}, compress=False) == plain


def test_prepared_call_keeps_what_held_when_it_was_prepared():
    plain, function = waybill.prepare(len), task()

    waybill.configure(compress="zstd")
    compressed = waybill.prepare(function)
    waybill.configure(compress=None)

    assert are_compressed(compressed.dumps(TEXT))
    assert not are_compressed(plain.dumps(TEXT))


@pytest.mark.parametrize(
    "compress", ["lz4", ("zstd", 0), ("zstd", 20), ("zstd", -8), 3]
)
def test_what_is_no_compression_is_refused(compress):
    for use in (
        lambda: waybill.prepare(len, compress=compress),
        lambda: dumps_call(len, [[]], compress=compress),
        lambda: run_call(dumps_call(len, [[]]), compress=compress),
    ):
        with pytest.raises(ValueError, match="zstd"):
            use()
    for level in (-8, 20):
        with pytest.raises(ValueError, match="-7 to 19"):
            waybill.calls.PreparedCall(len, {"compress": level})


def test_outcome_is_compressed_and_comes_back():
    outcome = run_call(dumps_call(task(), [ROWS]), compress="zstd", key=KEY)

    assert are_compressed(outcome)
    assert loads_outcome(outcome, keys=KeyRing(KEY)) == (TEXT, (ROWS,), {})


def test_what_is_raised_is_compressed_and_comes_back():
    made = define(
        """
class Large(Exception):
    def __str__(self): return "large"
def f(x): raise Large(x)
"""
    )

    outcome = run_call(dumps_call(made.f, [TEXT]), compress="zstd")

    assert are_compressed(outcome) and len(outcome) < len(TEXT) / 2
    with pytest.raises(made.Large) as caught:
        loads_outcome(outcome)
    assert caught.value.args == (TEXT,)


def test_compressed_call_runs_in_a_process_that_has_imported_nothing():
    data = waybill.prepare(task(), compress="zstd").dumps(TEXT)

    outcome = fresh_process.execute(
        "answer = waybill.calls.run_call(data, compress='zstd')", data
    )

    assert are_compressed(outcome)
    assert loads_outcome(outcome) == (TEXT, (TEXT,), {})
