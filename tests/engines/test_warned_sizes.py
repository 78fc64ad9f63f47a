"""Where an engine has a threshold for what is large, waybill tells what is large."""

import json

import pytest
from programs import run

#: Ends with what was told: the lines, and the parts with their lines.
HEAD = """
import json, os, sys, warnings
import waybill

told = []
def tell(message, category, filename, lineno, *rest):
    if category is waybill.SizeWarning:
        part = str(message).splitlines()[1].strip().replace(__file__, "program")
        told.append([os.path.basename(filename), lineno, part])
warnings.showwarning = tell

def here():
    return sys._getframe(1).f_lineno

table = {"rows": bytes(11_000_000)}
def large(x):
    return len(table["rows"])
captures = here() - 1
def small(x):
    return x
"""

DASK = """
import dask
import distributed
import waybill.integrations.dask

if __name__ == "__main__":
    waybill.integrations.dask.install(**OPTIONS)
    dask.config.set(CONFIG)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        client.submit(small, 0).result()
        for n in range(3):
            client.submit(large, n).result()
        sends = here() - 1
        client.gather(client.map(large, range(100, 106)))
        maps = here() - 1
        print("answer", json.dumps([told, captures, sends, maps]))
"""


def outcome(folder, source, options=None, config=None):
    setting = f"OPTIONS, CONFIG = {options or {}!r}, {config or {}!r}\n"
    # Ray leaves a token in the home folder, and writes where the program does.
    ended = run(folder, HEAD + setting + source, HOME=str(folder))
    written = ended.stdout.splitlines()
    answer = next(line for line in written if line.startswith("answer "))
    return json.loads(answer.removeprefix("answer "))


THRESHOLD = "distributed.admin.large-graph-warning-threshold"


@pytest.mark.parametrize(
    ("options", "config"),
    [({}, {}), ({"warn_above": 1_000_000}, {THRESHOLD: "1GB"})],
    ids=["by Dask's threshold", "by that of the program"],
)
def test_large_graph_of_dask_is_told_once_for_each_line(tmp_path, options, config):
    pytest.importorskip("distributed")

    told, captures, *lines = outcome(tmp_path, DASK, options, config)

    part = f"11.0 MB: table['rows'], bytes, program:{captures}"
    assert told == [["program.py", line, part] for line in lines]


@pytest.mark.parametrize(
    ("options", "config"),
    [
        ({"warn_above": 0}, {}),
        ({"warn_above": 100_000_000}, {}),
        ({}, {THRESHOLD: "1GB"}),
    ],
    ids=["off", "another size", "another of Dask"],
)
def test_there_is_none_of_dask_for_who_says_so(tmp_path, options, config):
    pytest.importorskip("distributed")

    assert outcome(tmp_path, DASK, options, config)[0] == []


JOBLIB = """
import joblib
import waybill.integrations.joblib

waybill.integrations.joblib.install(**OPTIONS)
others = bytes(12_000_000)
def other(x):
    return len(others)
names = here() - 1
for function in large, large, large, other:
    work = joblib.delayed(function)
    joblib.Parallel(n_jobs=2)(work(n) for n in range(30))
print("answer", json.dumps([[part for _, _, part in told], captures, names]))
"""


def test_large_tasks_of_joblib_are_told_once_for_what_is_in_them(tmp_path):
    pytest.importorskip("joblib")

    told, *lines = outcome(tmp_path, JOBLIB, {"warn_above": 1_000_000})

    parts = "11.0 MB: table['rows'], bytes", "12.0 MB: others, bytes"
    assert told == [
        f"{part}, program:{n}" for part, n in zip(parts, lines, strict=True)
    ]


def test_joblib_has_no_threshold_of_its_own(tmp_path):
    pytest.importorskip("joblib")

    assert outcome(tmp_path, JOBLIB)[0] == []


RAY = """
import ray
import waybill.integrations.ray

waybill.integrations.ray.install(**OPTIONS)
ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
reference = ray.put(1)
def holding(x):
    return reference, len(table["rows"])
names = here() - 1
for n in range(5):
    function = ray.remote(holding)
    ray.get(function.remote(n))
sends = here() - 1
print("answer", json.dumps([told, names, sends]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"warn_above": 0}], ids=["by Ray's", "off"])
def test_large_function_of_ray_is_told_once_for_each_line(tmp_path, options):
    pytest.importorskip("ray")

    told, names, sends = outcome(tmp_path, RAY, options)

    part = f"11.0 MB: table['rows'], bytes, program:{names}"
    assert told == ([] if options else [["program.py", sends, part]])


TRAVELS = """
import distributed
import waybill.integrations.dask
from waybill._api import configuration

def seen():
    return configuration.OPTIONS.get("warn_above")

if __name__ == "__main__":
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        waybill.integrations.dask.install(client, **OPTIONS)
        print("answer", json.dumps(client.submit(seen).result()))
"""


def test_size_that_the_program_says_travels_to_workers(tmp_path):
    pytest.importorskip("distributed")

    assert outcome(tmp_path, TRAVELS, {"warn_above": 12_345}) == 12_345
