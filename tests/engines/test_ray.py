"""Ray pickles with waybill, and what it keeps account of stays right.

The claims are the functions of ray_program.py.
"""

import pytest
from claims import claims_of, run_program

pytest.importorskip("ray")
pytestmark = pytest.mark.slow

PROGRAM = "ray_program.py"


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ray")
    # Ray leaves a token in the home folder.
    found, written = run_program(PROGRAM, folder, HOME=str(folder))
    print(written)
    return found


@pytest.mark.parametrize("claim", claims_of(PROGRAM))
def test_ray(answers, claim):
    assert answers[claim] is None, answers[claim]
