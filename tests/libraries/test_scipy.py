"""Sparse matrices, compiled functions and distributions of SciPy arrive."""

import pytest
from main_script import send

pytest.importorskip("scipy")


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"])
def test_sparse_arrays_and_matrices_arrive(form):
    script = f"""
import scipy.sparse as sp
dense = [[0, 1, 0], [2, 0, 0]]
value = [sp.{form}_array(dense), sp.{form}_matrix(dense)]
"""

    there = send(script, "[(v.format, v.toarray().tolist()) for v in value]")

    assert there == [(form, [[0, 1, 0], [2, 0, 0]])] * 2


def test_compiled_ufuncs_arrive():
    script = "import scipy.special\nvalue = [scipy.special.expit, scipy.special.gamma]"

    special = "__import__('scipy.special').special"
    expression = f"value[0] is {special}.expit, float(value[1](5))"
    assert send(script, expression) == (True, 24.0)


def test_a_function_that_uses_submodules_works():
    script = """
import scipy
import scipy.optimize, scipy.special as sp
def root(x):
    return scipy.optimize.brentq(lambda t: sp.expit(t) - x, -10, 10)
value = root
"""

    assert abs(send(script, "value(0.5)")) < 1e-9


def test_lazily_imported_submodules_work():
    script = """
import scipy
def mean(x):
    return float(scipy.stats.tmean(x))
value = mean
"""

    assert send(script, "value([1, 2, 3])") == 2.0


def test_distributions_arrive():
    script = """
from scipy import stats
class Triangle(stats.rv_continuous):
    def _pdf(self, x): return 2 * x
value = [stats.norm(1, 2), stats.norm, Triangle(a=0, b=1, name="triangle")]
"""

    expression = "[value[0].mean(), value[1].mean(), round(value[2].cdf(0.5), 6)]"
    assert send(script, f"list(map(float, {expression}))") == [1.0, 0.0, 0.25]


def test_an_operator_of_main_arrives():
    script = """
from scipy.sparse.linalg import LinearOperator
class Twice(LinearOperator):
    def __init__(self, n): super().__init__(float, (n, n))
    def _matvec(self, x): return 2 * x
value = Twice(2)
"""

    assert send(script, "(value @ [1.0, 2.0]).tolist()") == [2.0, 4.0]


def test_interpolators_and_results_arrive():
    script = """
from scipy import interpolate, optimize
value = [interpolate.CubicSpline([0, 1, 2], [0, 1, 4]),
         interpolate.make_interp_spline([0, 1, 2, 3], [0, 1, 4, 9]),
         optimize.minimize(lambda x: (x[0] - 3) ** 2, [0.0])]
"""

    expression = "[value[0](1.0), value[1](2.0), value[2].x[0]]"
    there = send(script, f"list(map(float, {expression}))")
    assert there == pytest.approx([1.0, 4.0, 3.0], abs=1e-4)
