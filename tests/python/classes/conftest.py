"""Processes that send classes to each other, with caches and without them."""

import contextlib

import pytest
from class_state_matrix import IMPORTS, Stage
from class_state_worker import several


@pytest.fixture(params=[False, True], ids=["caches off", "caches on"])
def fresh_places(request):
    """Returns make(count, program): processes that have run the program first."""
    with contextlib.ExitStack() as stack:

        def make(count, program=""):
            places = stack.enter_context(several(count))
            for place in places:
                place.do(f"waybill.configure(caches={request.param})\n{program}")
            return places

        yield make


@pytest.fixture
def places(fresh_places):
    """A home and a worker."""
    return fresh_places(2)


@pytest.fixture
def pair():
    """A home and a worker, with the imports that classes of the tests need."""
    with several(2) as (home, worker):
        home.do(IMPORTS)
        worker.do(IMPORTS)
        yield home, worker


@pytest.fixture(scope="module")
def stage():
    stage = Stage()
    yield stage
    stage.close()
