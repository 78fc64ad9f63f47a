"""What engines send is explained by task."""

import pytest
import waybill

numpy = pytest.importorskip("numpy")

TABLE = numpy.ones(200_000)
BYTES = TABLE.nbytes


def score(n):
    return TABLE[n]


def explained(sent):
    """The explanation of what is sent from a script: functions travel by value."""
    return waybill.explain(sent, by_value=[__name__])


def table_in(root):
    return next(part for part in root.walk() if part.short == "TABLE")


def test_a_dask_graph_has_a_part_for_each_task():
    dask = pytest.importorskip("dask")
    step = dask.delayed(score)
    graph = dict((step(1) + step(2)).__dask_graph__())

    told = explained(graph)

    keys = {f"obj[{key!r}]" for key in graph}
    assert {part.path for part in told.parts.children} >= keys
    table = table_in(told.parts)
    assert table.bytes == pytest.approx(BYTES, rel=0.01)
    assert (table.line, table.function) == (score.__code__.co_firstlineno + 1, "score")
    assert "  TABLE (ndarray 200000)" in told.to_text()


def test_arguments_of_a_dask_task_are_named():
    dask = pytest.importorskip("dask")
    rows, weights = list(range(100_000)), numpy.zeros(100_000)
    graph = dict(dask.delayed(score)(rows, n=weights).__dask_graph__())
    [key] = graph

    parts = {part.path: part for part in explained(graph).parts.walk()}

    for step, argument in (".args[0]", rows), (".kwargs['n']", weights):
        part = parts[f"obj[{key!r}]{step}"]
        assert part.evaluates
        assert eval(part.path, {"obj": graph}) is argument


def test_a_remote_function_of_ray_has_its_variables():
    ray = pytest.importorskip("ray")
    remote = ray.remote(score)

    told = explained(remote._function)

    table = table_in(told.parts)
    assert table.path == "score.__globals__['TABLE']"
    assert table.line == score.__code__.co_firstlineno + 1


def test_a_task_of_joblib_has_its_function_and_its_arguments():
    joblib = pytest.importorskip("joblib")

    told = explained(joblib.delayed(score)(numpy.zeros(100_000)))

    parts = {part.path: part for part in told.parts.walk()}
    assert parts["obj[0]"].bytes == pytest.approx(BYTES, rel=0.01)
    assert parts["obj[1][0]"].bytes == pytest.approx(800_000, rel=0.01)
    assert table_in(told.parts).path == "obj[0].__globals__['TABLE']"
