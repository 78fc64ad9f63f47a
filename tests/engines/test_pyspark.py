"""PySpark pickles with waybill, and the JVM reads its data as before.

The claims are the functions of pyspark_program.py.
"""

import shutil
import sys

import pytest
from claims import claims_of, run_program

pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("java") is None, reason="no Java"),
]

PROGRAM = "pyspark_program.py"


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pyspark")
    found, written = run_program(PROGRAM, folder, PYSPARK_PYTHON=sys.executable)
    print(written)
    return found


@pytest.mark.parametrize("claim", claims_of(PROGRAM))
def test_pyspark(answers, claim):
    assert answers[claim] is None, answers[claim]
