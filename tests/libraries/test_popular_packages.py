"""A few functions and classes of each popular package by value, without the package.

What has to arrive of each is what did; ``python tests/libraries/popular_packages.py``
does the same with hundreds, and docs/cloudpickle.md has what it found.
"""

import importlib.util

import popular_packages
import pytest

#: Of so many objects, spread over a package, so many have to arrive.
MANY, FEW = 24, 6
ARRIVE = {
    "requests": 1.0,
    "click": 1.0,
    "flask": 1.0,
    "jinja2": 1.0,
    "rich": 1.0,
    "attr": 1.0,
    "httpx": 1.0,
    "pydantic": 1.0,
    "sqlalchemy": 0.7,  # Classes with a base in C.
    "sympy": 0.3,  # Objects are made by code that needs what is still being built.
}
#: Their objects reach most of the package, and take up to a minute each.
LARGE = "sympy", "sqlalchemy"


def arrive(root, count):
    if importlib.util.find_spec(root) is None:
        pytest.skip(f"no {root}")
    outcomes = popular_packages.survey(root, count)
    arrived = sum(error is None for _, error in outcomes.values())
    errors = {name: error for name, (_, error) in outcomes.items() if error is not None}

    assert arrived >= ARRIVE[root] * len(outcomes), errors
    # Code that was checked and never ran, or ran into a signal, is another matter.
    assert not [error for error in errors.values() if "process ended" in error]


@pytest.mark.parametrize("root", [root for root in ARRIVE if root not in LARGE])
def test_objects_of_a_package_by_value_arrive_without_it(root):
    arrive(root, MANY)


def test_few_objects_of_sympy_by_value_arrive_without_it():
    arrive("sympy", FEW)


@pytest.mark.long
@pytest.mark.parametrize("root", LARGE)
def test_objects_of_a_large_package_by_value_arrive_without_it(root):
    arrive(root, MANY)
