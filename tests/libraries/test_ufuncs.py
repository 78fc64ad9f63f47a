"""Universal functions arrive as those of the module that has them, wherever it is."""

import sys

import fresh_process
import pytest
import waybill
from main_script import send

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.slow  # NumPy is there in `make test`, too.

SAME = "all(there is getattr(sys.modules[m], n) for m, n, there in value), len(value)"


def script(module):
    return f"""
import sys, {module}
from numpy import ufunc
module = sys.modules["{module}"]
value = [("{module}", n, v) for n, v in vars(module).items() if type(v) is ufunc]
value = [part for part in value if part[1] == part[2].__name__]
"""


@pytest.mark.parametrize(
    "module, least",
    [
        ("numpy", 50),
        ("numpy._core.umath", 100),
        ("numpy.strings", 5),
        ("numpy.linalg._umath_linalg", 15),
        ("numpy.fft._pocketfft_umath", 4),
        ("scipy.special", 200),
        ("scipy.special._ufuncs", 250),
        ("scipy.special._gufuncs", 2),
        ("erfa.ufunc", 200),
        ("shapely.lib", 100),
    ],
)
def test_every_ufunc_of_a_module_arrives(module, least):
    pytest.importorskip(module.partition(".")[0])
    pytest.importorskip(module)

    is_same, count = send(script(module), SAME)

    assert is_same
    assert count >= least


def test_a_ufunc_whose_name_is_a_dotted_path_arrives(tmp_path):
    tests = pytest.importorskip("numpy._core._umath_tests")
    made = tests._pickleable_module_global_ufunc
    scope, _, attribute = made.__name__.partition(".")
    source = f"""
import numpy._core._umath_tests as tests
class {scope}:
    {attribute} = tests._pickleable_module_global_ufunc
"""
    (tmp_path / "has_ufunc.py").write_text(source)
    program = """
import has_ufunc
made = has_ufunc.tests._pickleable_module_global_ufunc
answer = waybill.dumps(made), waybill.imports(made)[0].module
"""
    data, module = fresh_process.execute(program, path=[tmp_path])

    assert module == "has_ufunc"
    expression = f"value is sys.modules['has_ufunc'].{scope}.{attribute}"
    assert fresh_process.load(data, expression, path=[tmp_path])


def test_bytes_do_not_depend_on_who_has_imported_a_ufunc(tmp_path):
    (tmp_path / "aaa.py").write_text("from numpy.linalg._umath_linalg import det")
    ask = "import numpy.linalg\ndet = numpy.linalg._umath_linalg.det\n"
    ask += "answer = waybill.dumps(det)"
    path = [tmp_path]

    assert fresh_process.execute(ask, path=path) == fresh_process.execute(
        "import aaa\n" + ask, path=path
    )


def test_a_search_for_a_ufunc_asks_no_module(monkeypatch):
    class Asked(type(pytest)):
        def __getattribute__(self, name):
            raise AssertionError(name)

    monkeypatch.setitem(sys.modules, "asked", Asked("asked"))

    assert waybill.dumps(numpy.linalg._umath_linalg.det)


def test_a_ufunc_that_a_program_made_arrives():
    made = "import numpy\nvalue = numpy.frompyfunc(lambda a, b: [a, b], 2, 1)"

    assert send(made, "value(1, 2), value.nin") == ([1, 2], 2)


def test_a_ufunc_that_no_module_has_is_refused(monkeypatch):
    det = numpy.linalg._umath_linalg.det
    monkeypatch.delattr(numpy.linalg._umath_linalg, "det")

    with pytest.raises(waybill.EncodeError, match="returns a name that"):
        waybill.dumps(det)
