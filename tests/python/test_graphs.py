"""Graphs of any form arrive with the same form, and equal ones have equal bytes."""

import gc
import marshal
import os
from pathlib import Path

import fresh_process
import graphs
import pytest
import repeats
import waybill
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sources import define


@pytest.fixture(scope="module", autouse=True)
def quick_collector():
    """Keeps what was there before out of the many collections."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


SHARED, FUNCTION = [1], define("def f(): return [x]\nx = []").f


@pytest.mark.parametrize(
    "first, second",
    [
        ([SHARED, SHARED], [[1], [1]]),
        ([[1], [1]], [SHARED, SHARED]),
        ((SHARED, {"a": SHARED}), (SHARED, {"a": [1]})),
        ([1], [True]),
        ([1], (1,)),
        ({1: 2, 3: 4}, {3: 4, 1: 2}),
        ({("a", 1)}, {("a", 2)}),
        (FUNCTION, define("def f(): return (x)\nx = []").f),
        (FUNCTION, define("def f(): return [x]\nx = [1]").f),
    ],
)
def test_graphs_of_other_form_are_told_apart(first, second):
    with pytest.raises(graphs.Different):
        graphs.demand_same_form(first, second)


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 2**70, 1j, b"b", "t", "", "text of some length" * 3, ...]),
).map(lambda value: ("leaf", value))
REFERENCES = st.one_of(st.integers(0, 11), st.integers(0, 11), LEAVES)
NODES = st.tuples(st.sampled_from(graphs.KINDS), st.lists(REFERENCES, max_size=5))
RECIPES = st.lists(NODES, min_size=1, max_size=12)


def repeated(examples):
    return settings(
        max_examples=repeats.times(examples),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@repeated(600)
@given(RECIPES)
def test_graph_arrives_in_its_form(recipe):
    sent = graphs.build(recipe)

    graphs.demand_same_form(sent, waybill.loads(waybill.dumps(sent)))


@repeated(600)
@given(RECIPES)
def test_equal_graphs_have_equal_bytes(recipe):
    gc.collect()  # Classes that are equal and both alive have ids of their own.
    data = waybill.dumps(graphs.build(recipe))
    gc.collect()

    assert waybill.dumps(graphs.build(recipe)) == data


ELSEWHERE = """
import gc, marshal, sys
file, path = sys.argv[1:]
sys.path.append(path)
import graphs, waybill
with open(file, "rb") as opened:
    pairs = marshal.load(opened)
for recipe, data in pairs:
    arrived = waybill.loads(data)
    try:
        if waybill.dumps(arrived) != data:
            raise graphs.Different("other bytes of what was received")
        # Classes that are equal and both alive have ids of their own.
        arrived = waybill.forget_classes()
        gc.collect()
        made = graphs.build(recipe)
        # Before the comparison: looking at a partial's dict makes one.
        if waybill.dumps(made) != data:
            raise graphs.Different("other bytes of what was built here")
        graphs.demand_same_form(made, waybill.loads(data))
    except Exception as error:
        print(recipe, repr(error))
    # Classes of the next recipe may be equal to these.
    arrived = made = waybill.forget_classes()
    gc.collect()
"""


def test_graphs_arrive_in_their_form_in_another_process(tmp_path):
    pairs = []

    @repeated(600)
    @given(RECIPES)
    def send(recipe):
        gc.collect()  # Classes that are equal and both alive have ids of their own.
        pairs.append((recipe, waybill.dumps(graphs.build(recipe))))

    send()
    file = tmp_path / "pairs"
    file.write_bytes(marshal.dumps(pairs))

    output = fresh_process.run_script(
        ELSEWHERE,
        file,
        Path(__file__).parent,
        env={**os.environ, "PYTHONHASHSEED": "4711"},
    )

    assert output == ""
