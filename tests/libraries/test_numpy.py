"""Arrays and other objects of NumPy arrive as they were."""

import re
from pathlib import Path

import pytest
import waybill
from claims_in_text import read_claims
from main_script import payload_of, send

pytest.importorskip("numpy")
pytestmark = pytest.mark.slow  # NumPy is there in `make test`, too.

# `value` is a function of __main__, objects, and what the function makes of each here.
DESCRIBED = """
import numpy as np

def describe(a):
    order = "".join(k for k, v in (("C", a.flags.c_contiguous), ("F", a.flags.f_contiguous)) if v)
    cells = repr(a.tolist()) if a.dtype.hasobject or a.dtype.kind == "T" else a.tobytes()
    return type(a).__name__, repr(a.dtype), a.shape, order, a.flags.writeable, cells

def described(*arrays):
    return describe, arrays, [describe(a) for a in arrays]
"""
DIFFERENT = (
    "[pair for pair in zip(map(value[0], value[1]), value[2]) if pair[0] != pair[1]]"
)


def test_arrays_of_every_type_arrive():
    script = f"""{DESCRIBED}
simple = [np.arange(3).astype(code) for code in np.typecodes["All"] if code not in "Vm"]
value = described(*simple, np.arange(3).astype("m8[ms]"), np.zeros(2, "V7"),
                  np.array(["2020-02-02", "NaT"], "M8[D]"), np.arange(3, dtype=">i4"))
"""

    assert send(script, DIFFERENT) == []


def test_structured_arrays_arrive():
    script = f"""{DESCRIBED}
point = np.dtype([("x", "<f8"), ("tags", "U3", (2,)), (("title", "t"), "i1")], align=True)
records = np.array([(1.5, ["a", "bc"], 3)], point)
value = described(records, records.view(np.recarray), np.zeros((2, 2), point))
"""

    assert send(script, DIFFERENT) == []


def test_arrays_of_objects_of_main_arrive():
    script = f"""{DESCRIBED}
class Cell:
    def __init__(self, n): self.n = n
    def __repr__(self): return f"Cell({{self.n}})"
value = described(np.array([Cell(1), None, [Cell(2)], "x"], object))
"""

    assert send(script, DIFFERENT) == []


OBJECTS = """
an array of objects that holds itself arrives
    import numpy as np
    value = np.empty(1, object)
    value[0] = [value]
    >>> value[0][0] is value
    True

the cells of a view arrive
    import numpy as np
    grid = np.arange(12).reshape(3, 4)
    value = grid[::2, ::-1], grid[1:, 1], np.broadcast_to(np.int8(7), (2, 2))
    >>> [a.tolist() for a in value]
    [[[3, 2, 1, 0], [11, 10, 9, 8]], [5, 9], [[7, 7], [7, 7]]]

scalars arrive with their type
    import numpy as np
    value = [np.float32(0.1), np.int8(-1), np.bool_(True), np.str_("x"), np.bytes_(b"y"),
             np.complex64(1j), np.datetime64("2020-01-01"), np.longdouble(1) / 3, np.void(b"ab")]
    value = value, [repr(v) for v in value]
    >>> [repr(v) for v in value[0]] == value[1]
    True

masked arrays arrive
    import numpy as np
    value = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0], fill_value=-1)
    >>> value.filled().tolist(), float(value.sum())
    [1.0, -1.0, 3.0], 4.0

ufuncs and array functions arrive
    import numpy as np
    value = np.add, np.add.reduce, np.linalg.norm, np.concatenate, np.random.default_rng
    >>> (
    ...     value[0] is __import__('numpy').add,
    ...     *map(float, (value[1]([1, 2]), value[2]([3, 4]))),
    ... )
    True, 3, 5

a ufunc of a function of main arrives
    import numpy as np
    def twice(x): return 2 * x
    value = np.frompyfunc(twice, 1, 1), np.vectorize(twice)
    >>> [f([1, 2]).tolist() for f in value]
    [[2, 4], [2, 4]]

a subclass of main keeps its attributes
    import numpy as np
    class Measured(np.ndarray):
        def __new__(cls, cells, unit):
            new = np.asarray(cells).view(cls)
            new.unit = unit
            return new
        def __array_finalize__(self, source):
            self.unit = getattr(source, "unit", None)
        def __reduce__(self):
            build, given, state = super().__reduce__()
            return build, given, (state, self.unit)
        def __setstate__(self, state):
            super().__setstate__(state[0])
            self.unit = state[1]
    value = Measured([1, 2], "m")
    >>> value.tolist(), value.unit, (value[:1] * 2).unit, type(value).__name__
    [1, 2], "m", "m", "Measured"

a function that uses numpy works
    import numpy as np
    from numpy import linalg as la
    WEIGHTS = np.eye(2)
    def score(x):
        return float(la.norm(WEIGHTS @ np.asarray(x, dtype=np.float64)))
    value = score
    >>> value([3, 4])
    5.0

an array that is met twice is one
    import numpy as np
    a = np.arange(3)
    value = [a, {'a': a}]
    >>> value[0] is value[1]['a']
    True
"""


@pytest.mark.parametrize("script, expression, expected", read_claims(OBJECTS))
def test_an_object_arrives(script, expression, expected):
    assert send(script, expression) == expected


def test_layouts_arrive():
    script = f"""{DESCRIBED}
grid = np.arange(12.0).reshape(3, 4)
value = described(np.asfortranarray(grid), grid.T, np.array(5), np.empty((0, 3)))
"""

    assert send(script, DIFFERENT) == []


def test_strings_of_any_length_arrive():
    script = f"""{DESCRIBED}
value = described(np.array(["a", "b" * 100], np.dtypes.StringDType()))
"""

    assert send(script, DIFFERENT) == []


@pytest.mark.parametrize("make", ["default_rng(7)", "RandomState(7)", "PCG64(7)"])
def test_random_numbers_go_on_where_they_were(make):
    script = f"""
import numpy as np
source = np.random.{make}
draw = source.bytes if hasattr(source, "bytes") else source.random_raw
draw(3)
copy = __import__("copy").deepcopy(source)
value = source, (copy.bytes if hasattr(copy, "bytes") else copy.random_raw)(5)
"""
    draw = "getattr(value[0], 'bytes', None) or value[0].random_raw"

    assert send(script, f"bool(__import__('numpy').all(({draw})(5) == value[1]))")


def test_policy_that_the_security_page_shows_lets_arrays_in():
    page = Path(__file__).parents[2] / "docs" / "security.md"
    shown = re.search(
        r"^arrays = .*?^\)$", page.read_text("utf-8"), re.M | re.S
    ).group()
    payload = payload_of(
        """
import numpy as np
value = [np.arange(3), np.zeros((3, 4))[:, ::2], np.zeros((2, 2), order="F"),
         np.float64(2.5), np.array(["a", "bc"]), np.array([1, None], object),
         np.zeros(2, [("x", "<f8"), ("tag", "S3")]), np.datetime64("2020-02-02")]
"""
    )
    scope = {"waybill": waybill}
    exec(shown, scope)

    arrived = waybill.loads(payload, policy=scope["arrays"])

    assert [str(each) for each in arrived] == [
        "[0 1 2]",
        "[[0. 0.]\n [0. 0.]\n [0. 0.]]",
        "[[0. 0.]\n [0. 0.]]",
        "2.5",
        "['a' 'bc']",
        "[1 None]",
        "[(0., b'') (0., b'')]",
        "2020-02-02",
    ]
    with pytest.raises(waybill.PolicyError, match=r"numpy\.ma"):
        masked = payload_of("import numpy as np\nvalue = np.ma.masked_array([1], [1])")
        waybill.loads(masked, policy=scope["arrays"])
