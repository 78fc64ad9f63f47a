"""Frames and other objects of pandas arrive as they were."""

import pytest
import waybill
from claims_in_text import read_claims
from main_script import send

pd = pytest.importorskip("pandas")
np = pytest.importorskip("numpy")

FRAME = """
import numpy as np, pandas as pd
frame = pd.DataFrame(
    {
        "i": [1, 2, 3],
        "f": [1.5, np.nan, 2.5],
        "s": ["a", None, "c"],
        "o": [object, (1,), {"k": 1}],
        "c": pd.Categorical(["x", "y", "x"], ["y", "x"], ordered=True),
        "t": pd.date_range("2020-01-01", periods=3, tz="Europe/Berlin"),
        "d": pd.to_timedelta([1, 2, 3], "s"),
        "n": pd.array([1, None, 3], "Int64"),
        "b": pd.array([True, None, False], "boolean"),
        "p": pd.period_range("2020-01", periods=3, freq="M"),
        "v": pd.interval_range(0, 3),
    },
    index=pd.MultiIndex.from_tuples([(1, "a"), (1, "b"), (2, "a")], names=["k", "l"]),
)
def is_same(a, b):
    check = getattr(pd.testing, f"assert_{type(b).__name__.lower()}_equal",
                    pd.testing.assert_index_equal)
    check(a, b)
    return True
"""


def test_a_frame_of_many_types_arrives():
    script = f"{FRAME}\nframe.attrs['source'] = 'x'\nvalue = frame"

    expression = "str(value.dtypes.to_dict()), value.to_string(), value.attrs, list(value.index.names)"
    here = send(script, expression)

    assert here[2:] == ({"source": "x"}, ["k", "l"])
    assert "Europe/Berlin" in here[0] and "Int64" in here[0] and "(0, 1]" in here[1]


def test_a_frame_equals_what_was_sent():
    # Text formats say less than the frame; hashes of the rows say it all.
    script = f"""{FRAME}
def hashes(frame):
    return pd.util.hash_pandas_object(frame.drop(columns="o")).tolist()
value = frame, hashes, hashes(frame)
"""

    assert send(script, "value[1](value[0]) == value[2]")


@pytest.mark.parametrize(
    "made",
    [
        "frame['f']",
        "frame['c']",
        "frame['t']",
        "frame.index",
        "pd.RangeIndex(3, name='r')",
        "pd.Index(['a', 'b'])",
        "pd.CategoricalIndex(['a', 'b', 'a'])",
        "pd.DatetimeIndex(['2020-01-01'], tz='UTC')",
        "pd.arrays.SparseArray([0, 0, 1])",
        "pd.Timestamp('2020-01-01 10:00', tz='Europe/Berlin')",
        "pd.Timedelta('1h')",
        "pd.Period('2020-01', 'M')",
        "pd.Interval(0, 1, closed='left')",
        "pd.CategoricalDtype(['a', 'b'])",
        "pd.offsets.BusinessDay(2)",
        "pd.NA",
        "pd.NaT",
    ],
)
def test_an_object_of_pandas_arrives(made):
    script = f"{FRAME}\nmade = {made}\nvalue = made, repr(made), type(made).__name__"

    assert send(script, "(repr(value[0]), type(value[0]).__name__) == value[1:]")


def test_singletons_stay_what_they_are():
    script = "import pandas as pd\nvalue = [pd.NA, pd.NaT]"

    pandas = "__import__('pandas')"
    assert send(script, f"value[0] is {pandas}.NA and value[1] is {pandas}.NaT")


PROGRAMS = """
a function that uses pandas works
    import pandas as pd
    LIMIT = 1
    def totals(rows):
        frame = pd.DataFrame(rows, columns=["k", "n"])
        kept = frame[frame["n"].apply(lambda n: n > LIMIT)]
        return kept.groupby("k")["n"].sum().to_dict()
    value = totals
    >>> value([('a', 1), ('a', 2), ('b', 3)])
    {"a": 2, "b": 3}

a frame of a class of main arrives
    import pandas as pd
    class Table(pd.DataFrame):
        _metadata = ["unit"]
        @property
        def _constructor(self):
            return Table
        def double(self):
            return self * 2
    value = Table({"a": [1, 2]})
    value.unit = "m"
    >>> value.double()['a'].tolist(), value.unit, type(value.double()).__name__
    [2, 4], "m", "Table"

an accessor of main arrives
    import pandas as pd
    class Geo:
        def __init__(self, frame): self.frame = frame
        def size(self): return len(self.frame)
    def count(rows):
        pd.api.extensions.register_dataframe_accessor("geo")(Geo)
        return pd.DataFrame(rows).geo.size()
    value = count
    >>> value([1, 2, 3])
    3
"""


@pytest.mark.parametrize("script, expression, expected", read_claims(PROGRAMS))
def test_what_a_program_made_arrives(script, expression, expected):
    assert send(script, expression) == expected


def test_a_group_by_with_functions_of_main_arrives():
    script = """
import pandas as pd
groups = pd.DataFrame({"k": [1, 1, 2], "n": [1, 2, 3]}).groupby("k")
value = groups, lambda g: g["n"].max() * 2
"""

    expression = "[value[1](g) for _, g in value[0]]"
    assert send(script, f"list(map(int, {expression}))") == [4, 6]


ARRAYS = {
    "text": 'pd.array(["a", "b"], dtype="str")',
    "text of Python": 'pd.array(["a", "b"], dtype="string[python]")',
    "ints": 'pd.array([1, 2], dtype="Int64")',
    "booleans": 'pd.array([True, None], dtype="boolean")',
    "floats": 'pd.array([1.5, None], dtype="Float64")',
    "categories": 'pd.Categorical(["a", "b"])',
    "dates": 'pd.array(["2020-01-01"], dtype="datetime64[ns]")',
    "spans": 'pd.array([1, 2], dtype="timedelta64[ns]")',
    "periods": 'pd.array(["2020"], dtype="period[D]")',
    "intervals": "pd.arrays.IntervalArray.from_breaks([0, 1, 2])",
    "sparse": "pd.arrays.SparseArray([0, 1, 2])",
    "arrow": 'pd.array([1, 2], dtype="int64[pyarrow]")',
    "numpy": "pd.arrays.NumpyExtensionArray(np.arange(3))",
}


@pytest.mark.parametrize("made", ARRAYS.values(), ids=ARRAYS)
def test_columns_have_one_key_whether_used_selected_or_copied(made):
    frame = pd.DataFrame({"x": eval(made)})
    key = waybill.fingerprint(frame)

    repr(frame), frame["x"].is_unique, frame["x"].array.dtype, frame.describe()
    same = frame, frame[["x"]], frame.iloc[:], frame.copy()

    assert [waybill.fingerprint(f) for f in same] == [key] * 4
    assert waybill.loads(waybill.dumps(frame[["x"]])).equals(frame)
