"""A program for test_failures.py: what a client of an engine sees when something cannot
be loaded, and whether the engine goes on working.

``failures.py <engine> <answers> <payload>``, in a folder with the modules that it
needs; the payload is of another Python.
"""

import contextlib
import functools
import importlib
import json
import os
import sys
import time
import traceback
from pathlib import Path

import waybill

#: How long a client waits before it is taken to wait for ever.
TIMEOUT = int(os.environ.get("TIMEOUT", "60"))
#: Let all in but one harmless thing.
POLICY = waybill.security.Policy("deny lookup posix:getppid\nallow code\nallow call *")
CLIENT = os.getpid()


def only_here():
    """A module that no worker finds."""
    sys.path.append("client")
    try:
        return importlib.import_module("only_here")
    finally:
        sys.path.remove("client")


class Reduced:
    """Arrives as what a call gives."""

    def __init__(self, function, *args):
        self._call = function, args

    def __reduce__(self):
        return self._call


def load_there(pid, payload):
    """Some engines load what they send in the client, too, and send it on."""
    if os.getpid() == pid:
        return Reduced(load_there, pid, payload)
    return waybill.loads(payload)


def die_there(pid):
    if os.getpid() == pid:
        return Reduced(die_there, pid)
    # Celery's main process loads tasks, too, before one of its pool does.
    billiard = sys.modules.get("billiard")
    if billiard is None or billiard.current_process().name != "MainProcess":
        os._exit(3)


def raise_only_there():
    raise make_only_there()


def make_only_there():
    sys.path.append("worker")
    import only_there

    return only_there.Error("from there")


def add(x, y):
    return x + y


def take(x):
    return None


def missing_by_name(call):
    call(only_here().task)


def missing_in_lambda(call):
    module = only_here()
    call(lambda: module.value)


def missing_for_an_argument(call):
    call(take, only_here().Thing())


def another_python(call):
    payload = Path(sys.argv[3]).read_bytes()
    call(take, Reduced(load_there, CLIENT, payload))


def refused_by_policy(call):
    call(take, os.getppid)


def error_from_there(call):
    call(raise_only_there)


def result_from_there(call):
    call(make_only_there)


def death_while_loading(call):
    call(take, Reduced(die_there, CLIENT))


FAILURES = [
    missing_by_name,
    missing_in_lambda,
    missing_for_an_argument,
    another_python,
    refused_by_policy,
    error_from_there,
    result_from_there,
    death_while_loading,
]


# ---- Engines: each gives a function that calls another one there


@contextlib.contextmanager
def dask():
    import dask.config
    import distributed
    import waybill.integrations.dask

    dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        waybill.integrations.dask.install(client, policy=POLICY)

        def call(function, *args):
            future = client.submit(function, *args, pure=False)
            return future.result(timeout=TIMEOUT)

        yield call


def executor(make):
    @contextlib.contextmanager
    def engine():
        made = []

        def call(function, *args):
            if not made:
                made.append(make())
            try:
                return made[0].submit(function, *args).result(TIMEOUT)
            except Exception as error:
                if "Broken" in type(error).__name__ or "Terminated" in repr(error):
                    made.pop().shutdown()  # As executors go, it has come to its end.
                raise

        yield call
        for one in made:
            one.shutdown()

    return engine


def futures(method):
    def make():
        import concurrent.futures
        import multiprocessing

        import waybill.integrations.multiprocessing

        waybill.integrations.multiprocessing.install(policy=POLICY)
        context = multiprocessing.get_context(method)
        return concurrent.futures.ProcessPoolExecutor(1, context)

    return executor(make)


def loky():
    import joblib.externals.loky
    import waybill.integrations.joblib

    waybill.integrations.joblib.install(policy=POLICY)
    return joblib.externals.loky.get_reusable_executor(1)


def pool(method):
    @contextlib.contextmanager
    def engine():
        import multiprocessing

        import waybill.integrations.multiprocessing

        waybill.integrations.multiprocessing.install(policy=POLICY)
        with multiprocessing.get_context(method).Pool(1) as workers:
            yield lambda function, *args: workers.apply_async(function, args).get(
                TIMEOUT
            )

    return engine


@contextlib.contextmanager
def joblib_pool():
    import joblib.pool
    import waybill.integrations.joblib

    waybill.integrations.joblib.install(policy=POLICY)
    workers = joblib.pool.MemmappingPool(1)
    yield lambda function, *args: workers.apply_async(function, args).get(TIMEOUT)
    workers.terminate()


@contextlib.contextmanager
def parsl():
    import parsl
    import waybill.integrations.parsl
    from parsl.config import Config
    from parsl.executors import HighThroughputExecutor
    from parsl.providers import LocalProvider

    waybill.integrations.parsl.install(policy=POLICY)
    there = HighThroughputExecutor(
        address="127.0.0.1",
        loopback_address="127.0.0.1",
        max_workers_per_node=1,
        cores_per_worker=0.1,
        poll_period=2,
        heartbeat_period=1,  # So often does it look whether workers live.
        provider=LocalProvider(init_blocks=1, max_blocks=1),
    )

    @parsl.python_app
    def apply(function, *args):
        return function(*args)

    with parsl.load(Config(executors=[there], strategy="none")):
        yield lambda function, *args: apply(function, *args).result(TIMEOUT)


@contextlib.contextmanager
def celery():
    import test_celery

    with test_celery.working(Path.cwd(), POLICY=POLICY.rules):
        sys.path.append(os.getcwd())
        os.environ["POLICY"] = POLICY.rules
        import project

        def call(function, *args):
            return project.call.delay(function, *args).get(TIMEOUT, interval=0.02)

        yield call


@contextlib.contextmanager
def ray():
    import ray
    import waybill.integrations.ray

    waybill.integrations.ray.install(policy=POLICY)
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)

    @ray.remote(max_retries=0)
    def apply(function, *args):
        return function(*args)

    yield lambda function, *args: ray.get(
        apply.remote(function, *args), timeout=TIMEOUT
    )
    ray.shutdown()


def mpi4py():
    import mpi4py.futures
    import waybill.integrations.mpi4py

    waybill.integrations.mpi4py.install(policy=POLICY)
    install = functools.partial(waybill.integrations.mpi4py.install, policy=POLICY)
    return mpi4py.futures.MPIPoolExecutor(1, initializer=install)


@contextlib.contextmanager
def pyspark():
    import waybill.integrations.pyspark
    from pyspark import SparkConf, SparkContext

    waybill.integrations.pyspark.install(policy=POLICY)
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
    conf = SparkConf().setMaster("local[1]").setAll(settings.items())
    with SparkContext(conf=conf) as spark:
        yield (
            lambda function, *args: (
                spark.parallelize([0], 1).map(lambda _: function(*args)).collect()[0]
            )
        )


ENGINES = {
    "ray": ray,
    "mpi4py": executor(mpi4py),
    "pyspark": pyspark,
    "parsl": parsl,
    "celery": celery,
    "dask": dask,
    "loky": executor(loky),
    "futures-spawn": futures("spawn"),
    "futures-fork": futures("fork"),
    "pool-spawn": pool("spawn"),
    "pool-fork": pool("fork"),
    "joblib-pool": joblib_pool,
}


#: MPI ends all ranks if one of them ends otherwise than it should.
LEFT_OUT = {"mpi4py": [death_while_loading]}


def told_of(error):
    """The types of an exception and of what led to it; and all of its text."""
    kinds, seen = [], error
    while seen is not None:
        kinds.append(type(seen).__name__)
        seen = seen.__cause__ or seen.__context__
    return kinds, "".join(traceback.format_exception(error))


def seen_of(failure, call):
    start = time.monotonic()
    try:
        failure(call)
    except Exception as error:
        kinds, text = told_of(error)
    else:
        kinds, text = [], ""
    seconds = time.monotonic() - start
    start = time.monotonic()
    try:
        goes_on = call(add, 1, 2) == 3
    except Exception:
        goes_on = traceback.format_exc()
    again = time.monotonic() - start
    return {
        "kinds": kinds,
        "text": text,
        "seconds": seconds,
        "goes on": goes_on,
        "again": again,
    }


if __name__ == "__main__":
    answers = {}
    with ENGINES[sys.argv[1]]() as call_there:
        for warming in range(2):
            assert call_there(add, 1, 2) == 3
        for failure in FAILURES:
            if failure in LEFT_OUT.get(sys.argv[1], ()):
                continue
            answers[failure.__name__] = answer = seen_of(failure, call_there)
            print(
                f"{failure.__name__}: {answer['kinds'] or 'nothing'} after "
                f"{answer['seconds']:.2f} s, again after {answer['again']:.2f} s",
                flush=True,
            )
            with open(sys.argv[2], "w", encoding="utf-8") as file:
                json.dump(answers, file)
