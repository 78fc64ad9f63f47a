"""`waybill cat --standard`: dates, times, decimals and paths as JSON; and what `waybill
cat` says of objects that it does not write."""

import decimal
import fractions
import json
import pathlib
import threading
from datetime import date, datetime, time, timedelta, timezone

import pytest
import waybill
from command import error_of, needs_binary, run

pytestmark = needs_binary

HOUR = timezone(timedelta(hours=1))


def cat(value, *options):
    return run("cat", "-", "--json", *options, data=waybill.dumps(value))


def standard(value, *options):
    ended = cat(value, "--standard", *options)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def refusal(value, *options):
    ended = cat(value, *options)
    assert ended.returncode == 3, ended.stdout
    error = error_of(ended)
    assert error["code"] == "refused"
    return error["detail"]


MOMENTS = [
    date(2026, 1, 2),
    date(1, 1, 1),
    date(9999, 12, 31),
    datetime(2026, 1, 2, 3, 4, 5),
    datetime(2026, 1, 2, 3, 4, 5, 6),
    datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc),
    datetime(2026, 1, 2, 3, 4, 5, 600_000, tzinfo=HOUR),
    datetime(2026, 1, 2, tzinfo=timezone(-timedelta(hours=3, minutes=30))),
    datetime(2026, 1, 2, tzinfo=timezone(timedelta(minutes=5, seconds=7))),
    datetime(2026, 1, 2, tzinfo=timezone(-timedelta(minutes=5, microseconds=7))),
    time(3, 4),
    time(23, 59, 59, 999_999),
    time(3, 4, tzinfo=HOUR),
]


@pytest.mark.parametrize("moment", MOMENTS, ids=str)
def test_dates_and_times_are_what_isoformat_gives(moment):
    assert standard([moment]) == [{f"${type(moment).__name__}": moment.isoformat()}]
    assert standard([moment], "--loose") == [moment.isoformat()]


def test_second_of_two_equal_hours_is_marked():
    assert standard(datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=HOUR)) == {
        "$datetime": "2026-10-25T02:30:00+01:00 fold=1"
    }
    assert standard(time(2, 30, fold=1)) == {"$time": "02:30:00 fold=1"}


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(), "0"),
        (timedelta(1, 2, 3), "86402.000003"),
        (timedelta(milliseconds=-500), "-0.5"),
        (timedelta(days=-1), "-86400"),
        (timedelta(days=-1, microseconds=-1), "-86400.000001"),
        (timedelta.max, "86399999999999.999999"),
        (timedelta.min, "-86399999913600"),
    ],
)
def test_spans_are_seconds_with_all_their_digits(span, text):
    assert standard(span) == {"$timedelta": text}
    assert timedelta(microseconds=int(decimal.Decimal(text) * 1_000_000)) == span


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (decimal.Decimal("1.50"), {"$decimal": "1.50"}),
        (decimal.Decimal("-Infinity"), {"$decimal": "-Infinity"}),
        (decimal.Decimal("1E+999999"), {"$decimal": "1E+999999"}),
        (pathlib.Path("/home/anna/x"), {"$path": "/home/anna/x"}),
        (pathlib.PurePosixPath("a/b"), {"$path": "a/b"}),
        (pathlib.PurePosixPath("//a/b"), {"$path": "//a/b"}),
        (pathlib.PureWindowsPath("C:/x/y"), {"$path": "C:\\x\\y"}),
        (pathlib.PurePath(), {"$path": "."}),
        (HOUR, {"$timezone": "+01:00"}),
        (timezone.utc, {"$timezone": "+00:00"}),
    ],
    ids=str,
)
def test_decimals_paths_and_zones_are_text(value, expected):
    assert standard(value) == expected
    assert standard(value, "--loose") == next(iter(expected.values()))


def test_name_of_a_file_that_is_no_text_is_kept():
    path = pathlib.PurePosixPath("a\udcff")

    assert standard(path) == {"$path": {"$text": "Ye2zvw=="}}


def test_they_may_stand_anywhere_and_more_than_once():
    day, zone = date(2026, 1, 2), timezone(timedelta(hours=2))
    value = {
        "runs": [day, day, {day: decimal.Decimal(1)}],
        "times": (datetime(2026, 1, 2, tzinfo=zone), datetime(2026, 1, 3, tzinfo=zone)),
        "set": {day},
        "nothing": None,
    }

    assert standard(value) == {
        "runs": [
            {"$date": "2026-01-02"},
            {"$date": "2026-01-02"},
            {"$dict": [[{"$date": "2026-01-02"}, {"$decimal": "1"}]]},
        ],
        "times": {
            "$tuple": [
                {"$datetime": "2026-01-02T00:00:00+02:00"},
                {"$datetime": "2026-01-03T00:00:00+02:00"},
            ]
        },
        "set": {"$set": [{"$date": "2026-01-02"}]},
        "nothing": None,
    }


class Instance:
    pass


def function():
    pass


def name_of_case(part):
    """No repr, in which addresses stand: each process should tell the same tests."""
    return part if isinstance(part, str) else type(part).__name__


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (function, "a node function (function), which is not plain data"),
        (
            {"a": [1, date(2026, 1, 2)]},
            "a node object (datetime.date) at ['a'][1], which is not plain data",
        ),
        ([[], [len]], "a node global (builtins.len) at [1][0], which"),
        ({1: (json,)}, "a module (json) at .values()[0][0], which"),
        ({len: 1}, "a node global (builtins.len) at .keys()[0], which"),
        ({date(2026, 1, 2)}, "a node object (datetime.date) at {}, which"),
        ([Instance()], "(Instance) at [0], which is not plain data"),
        ([Instance], "(Instance) at [0], which is not plain data"),
    ],
    ids=name_of_case,
)
def test_what_is_no_plain_data_is_named_with_type_and_path(value, words, monkeypatch):
    monkeypatch.setattr(Instance, "__module__", "__main__")
    monkeypatch.setattr(function, "__module__", "__main__")

    assert words in refusal(value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([fractions.Fraction(1, 3)], "(fractions.Fraction) at [0]"),
        ([decimal.Decimal], "(decimal.Decimal) at [0]"),
        ([decimal.Decimal(1), decimal.Decimal], "at [1]"),
        ([date(2026, 1, 2), date], "at [1]"),
        (threading.Thread, "(threading.Thread)"),
        (date(2026, 1, 2).isoformat, "which is not plain data"),
    ],
    ids=name_of_case,
)
def test_other_objects_are_refused_with_standard_too(value, words):
    assert words in refusal(value, "--standard")


def test_names_in_errors_steer_no_terminal():
    made = type("a\x1b[2J\u200b", (), {"__module__": "__main__"})

    ended = cat({"\x1b]0;x\x07": made})

    assert ended.returncode == 3
    assert b"\x1b" not in ended.stdout + ended.stderr
    assert "\u200b".encode() not in ended.stdout + ended.stderr


class Made:
    """What a payload of a stranger's might hold."""

    def __init__(self, *made_by):
        self.made_by = made_by

    def __reduce__(self):
        return self.made_by


@pytest.mark.parametrize(
    "made_by",
    [
        (date, (b"\x07\xea\x0d\x01",)),
        (date, (b"\x07\xea\x01",)),
        (date, ()),
        (date, (b"\x07\xea\x01\x01", 5)),
        (time, (b"\x18\x00\x00\x00\x00\x00",)),
        (time, (b"\x00\x00\x00\xff\xff\xff",)),
        (time, (bytes(6), 5)),
        (datetime, (bytes(10),)),
        (timedelta, (1, -5, 0)),
        (timedelta, (10**12, 0, 0)),
        (timedelta, (-(2**63), 0, 0)),
        (timedelta, (1.5, 0, 0)),
        (timezone, (5,)),
        (timezone, (timedelta(days=1),)),
        (decimal.Decimal, (5,)),
        (pathlib.PurePosixPath, (["a"],)),
        (date, (b"\x07\xea\x01\x01",), {"x": 1}),
        (date, (b"\x07\xea\x01\x01",), None, iter([1])),
    ],
    ids=lambda made: f"{made[0].__name__}{made[1]}",
)
def test_what_such_types_are_never_made_of_is_refused(made_by):
    assert "a node object (" in refusal([Made(*made_by)], "--standard")
