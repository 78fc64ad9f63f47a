"""Options that install() of an engine takes, here and in workers; what it imports."""

import pytest
from programs import lines

SEEN = """
import sys
import waybill
from waybill._api import configuration

def seen():
    options = configuration.OPTIONS
    return sorted(options), options.get("application"), bool(options.get("missing"))

options = dict(
    missing="later",
    application=b"a",
    replace="fresh",
    limits=waybill.security.Limits(),
    by_value=["json"],
)
import json
"""
HERE = "(['application', 'by_value', 'limits', 'missing', 'replace'], b'a', True)"
THERE = "(['application', 'limits', 'missing', 'replace'], b'a', True)"

#: For each engine a program that prints what this process sees, then a worker.
PROGRAMS = {
    "dask": """
import distributed
import waybill.integrations.dask

if __name__ == "__main__":
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        waybill.integrations.dask.install(client, **options)
        print(seen())
        print(client.submit(seen).result())
""",
    "dask, before it is started": """
import distributed
import waybill.integrations.dask

if __name__ == "__main__":
    waybill.integrations.dask.install(**options)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        print(seen())
        print(client.submit(seen).result())
""",
    "loky": """
import joblib
import waybill.integrations.joblib

waybill.integrations.joblib.install(**options)
print(seen())
print(joblib.Parallel(n_jobs=2)(joblib.delayed(seen)() for _ in range(2))[0])
""",
    "joblib-pool": """
import joblib
import waybill.integrations.joblib

waybill.integrations.joblib.install(**options)
print(seen())
calls = [joblib.delayed(seen)() for _ in range(2)]
print(joblib.Parallel(n_jobs=2, backend="multiprocessing")(calls)[0])
""",
    "spawn": """
import multiprocessing
import waybill.integrations.multiprocessing

if __name__ == "__main__":
    waybill.integrations.multiprocessing.install(**options)
    print(seen())
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(seen))
""",
}
NEEDS = {"dask": "distributed", "loky": "joblib", "joblib-pool": "joblib"}


@pytest.mark.parametrize("engine", PROGRAMS)
def test_options_of_install_hold_here_and_but_for_secrets_in_workers(tmp_path, engine):
    for name, package in NEEDS.items():
        if engine.startswith(name):
            pytest.importorskip(package)

    here, there = lines(tmp_path, SEEN + PROGRAMS[engine])

    assert here == HERE
    # What is forked has all of it.
    assert there == THERE or (engine == "joblib-pool" and there == HERE)


def test_what_is_no_option_is_refused_before_anything_is_installed(tmp_path):
    source = """
import multiprocessing.pool as pools
import waybill
import waybill.integrations.multiprocessing as integration

before = pools.Pool._setup_queues
for options in {"colour": 1}, {"missing": "never"}:
    try:
        integration.install(application=b"a", **options)
    except (TypeError, ValueError) as error:
        print(type(error).__name__)
print(pools.Pool._setup_queues is before)
print(waybill.security.application(waybill.dumps(1)))
"""
    assert lines(tmp_path, source) == ["TypeError", "ValueError", "True", "None"]


#: The packages that an integration works with, none of which it imports by itself.
ENGINES = {
    "celery": ["celery", "kombu"],
    "dask": ["dask", "distributed"],
    "joblib": ["joblib", "loky"],
    "mpi4py": ["mpi4py"],
    "multiprocessing": ["multiprocessing"],
    "parsl": ["parsl"],
    "pyspark": ["pyspark", "py4j"],
    "ray": ["ray"],
}


@pytest.mark.parametrize("name", ENGINES)
def test_importing_an_integration_imports_no_engine(tmp_path, name):
    source = f"""
import sys
import waybill.integrations.{name}
print([name for name in sys.modules if name.partition(".")[0] in {ENGINES[name]}])
"""
    assert lines(tmp_path, source) == ["[]"]
