"""Graphs of any form arrive with the same form, and equal ones have equal bytes."""

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
BLUEPRINTS = st.lists(NODES, min_size=1, max_size=12)


def repeated(examples):
    return settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@repeated(600)
@given(BLUEPRINTS)
def test_graph_arrives_in_its_form(blueprint):
    sent = graphs.build(blueprint)

    graphs.demand_same_form(sent, waybill.loads(waybill.dumps(sent)))


# In processes of their own: classes that are equal and both alive have ids of their
# own, so what was made is collected each time: quick where there is little else.
SENDER = """
import gc, marshal, sys
file, path = sys.argv[1:]
sys.path.append(path)
import graphs, waybill
with open(file, "rb") as opened:
    blueprints = marshal.load(opened)
gc.freeze()

def sent(blueprint):
    data = waybill.dumps(graphs.build(blueprint))
    gc.collect()
    return data

pairs = []
for blueprint in blueprints:
    pairs.append((blueprint, sent(blueprint)))
    if sent(blueprint) != pairs[-1][1]: print(blueprint)
with open(file, "wb") as opened:
    marshal.dump(pairs, opened)
"""

RECEIVER = """
import gc, marshal, sys
file, path = sys.argv[1:]
sys.path.append(path)
import graphs, waybill
with open(file, "rb") as opened:
    pairs = marshal.load(opened)
gc.freeze()
for blueprint, data in pairs:
    try:
        arrived = waybill.loads(data)
        # Before the comparison: looking at a partial's dict makes one.
        if waybill.dumps(arrived) != data:
            raise graphs.Different("other bytes of what was received")
        graphs.demand_same_form(graphs.build(blueprint), arrived)
        arrived = waybill.forget_classes()
        gc.collect()
        if waybill.dumps(graphs.build(blueprint)) != data:
            raise graphs.Different("other bytes of what was built here")
    except Exception as error:
        print(blueprint, repr(error))
    # Classes of the next blueprint may be equal to these.
    arrived = waybill.forget_classes()
    gc.collect()
"""


def blueprints(examples):
    """The same ones in each run."""
    collected = []

    @repeated(examples)
    @given(BLUEPRINTS)
    def collect(blueprint):
        collected.append(blueprint)

    collect()
    return collected


def run(script, file, **environment):
    return fresh_process.run_script(
        script,
        file,
        Path(__file__).parents[1] / "helpers",
        env={**os.environ, **environment},
    )


def test_graphs_have_one_form_and_one_text_of_bytes_in_all_processes(tmp_path):
    file = tmp_path / "blueprints"
    file.write_bytes(marshal.dumps(blueprints(repeats.times(600))))

    of_other_bytes = run(SENDER, file)
    of_other_form = run(RECEIVER, file, PYTHONHASHSEED="4711")

    assert of_other_bytes == ""
    assert of_other_form == ""
