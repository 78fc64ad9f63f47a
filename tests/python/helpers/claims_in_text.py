"""Reads rows of a parametrized test from text: claims, each with a program.

    a partial keeps its keywords
        value = functools.partial(dict, key=2)
        >>> value(other=5)
        {"key": 2, "other": 5}

A claim is not indented, and is the id of its row. Below it stand the source that the
sender runs and, as in doctest, an expression of the receiver and what it gives.
"""

import ast
import doctest
import re
import textwrap

import pytest
from sources import define, round_trip


def read_claims(text, start="", marks=()):
    """Rows of a source, which begins with `start`, an expression and what it gives."""
    told = re.split(r"^(?=\S)", text, flags=re.MULTILINE)
    return [_read_claim(claim, start, marks) for claim in told if claim.strip()]


def _read_claim(text, start, marks):
    claim, _, program = text.partition("\n")
    program = textwrap.dedent(program)
    (example,) = doctest.DocTestParser().get_examples(program)
    source = start + program[: program.index(">>> ")]
    expected = ast.literal_eval(example.want)
    return pytest.param(source, example.source, expected, id=claim, marks=marks)


def look_at_round_trip(source, expression):
    """What the expression makes of the source's `value` when that has come back."""
    return eval(expression, {"value": round_trip(define(source).value)})
