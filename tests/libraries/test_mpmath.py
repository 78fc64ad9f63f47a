"""Contexts of mpmath, which make classes and constants that no pickle builds again."""

import pytest
from main_script import send

pytest.importorskip("mpmath")


def test_context_of_mpmath_is_that_of_the_receiver():
    script = "import mpmath\nvalue = lambda: mpmath.mp, mpmath.mp, mpmath.iv, mpmath.fp"
    same = "[v is getattr(__import__('mpmath'), n) for v, n in zip(value[1:], ('mp', 'iv', 'fp'))]"

    assert send(script, same) == [True, True, True]


@pytest.mark.parametrize("kind", ["MPContext", "MPIntervalContext", "FPContext"])
def test_context_made_by_a_program_arrives_with_its_settings(kind):
    script = f"""
import mpmath
context = mpmath.{kind}()
if context.prec == 53 and "FP" not in "{kind}": context.prec = 200
context.pretty = True
value = context, context.mpf, context.mpf(2), context.pi, context.prec
"""
    program = (
        "[value[0].prec == value[4], value[0].pretty, value[1] is value[0].mpf, "
        "type(value[2]) is value[0].mpf, value[2] == 2, repr(value[3]) == repr(value[0].pi)]"
    )

    assert send(script, program) == [True] * 6


def test_method_of_a_context_arrives():
    script = "from mpmath import findroot, mp\nvalue = lambda: findroot(mp.cos, 1)"

    assert send(script, "round(float(value()), 6)") == 1.570796
