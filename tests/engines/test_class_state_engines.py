"""Class state in workers that live long: docs/class_state.md, on engines.

What the program changes in a class arrives with the next task. What a worker changed
itself stays. The same program runs on each engine; Ray has it in ray_program.py.
"""

import pytest
from programs import each_method, lines, needs_fork

# `tell` sends tasks to one worker, and writes what it answers.
SCENARIO = """
import sys

class Conf:
    lr = 0.1

def get():
    return Conf.lr

class Plugin:
    kinds = {}

    def __init_subclass__(cls):
        Plugin.kinds[cls.__name__] = cls

class Csv(Plugin):
    pass

def kinds():
    return list(Plugin.kinds)

def add_own():
    class Own(Plugin):
        pass

class Counter:
    calls = 0

def count():
    Counter.calls += 1
    return Counter.calls

def spoil():
    Conf.lr = 9.0
    return Conf

def tell(send):
    print("first", send(get), send(kinds), send(count))
    send(add_own)
    Conf.lr = 0.5

    class Json(Plugin):
        pass

    print("second", send(get), send(kinds), send(count))
    print("third", send(get), send(kinds), send(count))
    del Plugin.kinds["Csv"]
    print("deleted", send(get), send(kinds), send(count))
    print("back", send(spoil) is Conf, send(get), Conf.lr)
    Conf.lr = 0.25
    print("changed", send(get), send(kinds), send(count))
    print("home", Conf.lr, kinds(), Counter.calls)
"""

TOLD = [
    "first 0.1 ['Csv'] 1",
    "second 0.5 ['Csv', 'Json', 'Own'] 2",
    "third 0.5 ['Csv', 'Json', 'Own'] 3",
    "deleted 0.5 ['Json', 'Own'] 4",
    "back True 9.0 0.5",
    "changed 0.25 ['Json', 'Own'] 5",
    "home 0.25 ['Json'] 0",
]

# ---- Pools that are handed payloads

PARCEL = """
import waybill

def call(payload):
    return waybill.dumps(waybill.loads(payload)())
"""

POOLS = f"""{SCENARIO}
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import parcel
import waybill

def sender(apply):
    def send(task):
        return waybill.loads(apply(parcel.call, waybill.dumps(task)))

    return send
"""


@pytest.fixture
def parcel(tmp_path):
    """The function that pools call, in a module that their children import."""
    (tmp_path / "parcel.py").write_text(PARCEL)


POOL = """
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        tell(sender(lambda call, *args: pool.apply(call, args)))
"""
#: What a program does with a pool whose children answer.
CHILDREN = {
    "a pool": POOL,
    "an executor": """
    context = multiprocessing.get_context(sys.argv[1])
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        tell(sender(lambda call, *args: executor.submit(call, *args).result()))
""",
    # Where they are forked, they have them.
    "a pool with the classes": f"    waybill.dumps([Conf, Plugin, Counter]){POOL}",
}


@each_method
@pytest.mark.parametrize("program", CHILDREN.values(), ids=CHILDREN)
def test_children_of_it_see_changes_and_keep_their_own(
    tmp_path, parcel, method, program
):
    source = f"{POOLS}\nif __name__ == '__main__':\n{program.strip(chr(10))}\n"

    assert lines(tmp_path, source, method) == TOLD


@needs_fork
def test_first_payload_of_a_forked_child_deletes_nothing(tmp_path, parcel):
    source = f"""{POOLS}
def names():
    return [name for name in ("lr", "old", "new") if hasattr(Conf, name)]

if __name__ == "__main__":
    Conf.old = 1
    waybill.dumps(Conf)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        send = sender(lambda call, *args: pool.apply(call, args))
        del Conf.old
        Conf.new = 2
        print(send(names))
        del Conf.new
        print(send(names))
"""
    assert lines(tmp_path, source) == ["['lr', 'old', 'new']", "['lr', 'old']"]


@each_method
def test_every_child_of_a_pool_sees_changes(tmp_path, parcel, method):
    source = f"""{POOLS}
import time

def look():
    time.sleep(0.01)
    return multiprocessing.current_process().name, Conf.lr

def look_around(pool):
    payloads = [waybill.dumps(look)] * 40
    return map(waybill.loads, pool.map(parcel.call, payloads, chunksize=1))

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        for Conf.lr in 0.1, 0.5, 0.1:
            print({{lr for name, lr in look_around(pool)}})
"""
    assert lines(tmp_path, source, method) == ["{0.1}", "{0.5}", "{0.1}"]


@each_method
def test_main_that_multiprocessing_sends_by_name_has_the_state_of_the_child(
    tmp_path, parcel, method
):
    source = f"""{POOLS}
import waybill.integrations.multiprocessing

if __name__ == "__main__":
    waybill.integrations.multiprocessing.install()
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        pool.apply(get)
        Conf.lr = 0.5
        print(pool.apply(get))
        print(sender(lambda call, *args: pool.apply(call, args))(get))
"""
    assert lines(tmp_path, source, method) == ["0.1", "0.5"]


# ---- Engines


def test_workers_of_loky_see_changes_and_keep_their_own(tmp_path):
    pytest.importorskip("joblib")
    source = f"""{SCENARIO}
import waybill.integrations.joblib
from joblib.externals.loky import get_reusable_executor

if __name__ == "__main__":
    waybill.integrations.joblib.install()
    executor = get_reusable_executor(max_workers=1)
    tell(lambda task: executor.submit(task).result())
"""
    assert lines(tmp_path, source) == TOLD


def test_every_worker_of_joblib_sees_changes(tmp_path):
    pytest.importorskip("joblib")
    source = f"""{SCENARIO}
import os
import time
import waybill.integrations.joblib
from joblib import Parallel, delayed

def look():
    time.sleep(0.01)
    return os.getpid(), Conf.lr

if __name__ == "__main__":
    waybill.integrations.joblib.install()
    for Conf.lr in 0.1, 0.5, 0.1:
        seen = Parallel(2, backend="loky")(delayed(look)() for _ in range(40))
        print({{lr for pid, lr in seen}})
"""
    assert lines(tmp_path, source) == ["{0.1}", "{0.5}", "{0.1}"]


def test_workers_of_dask_see_changes_and_keep_their_own(tmp_path):
    pytest.importorskip("distributed")
    source = f"""{SCENARIO}
import distributed
import waybill.integrations.dask

if __name__ == "__main__":
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        waybill.integrations.dask.install(client)
        tell(lambda task: client.submit(task, pure=False).result())
"""
    assert lines(tmp_path, source) == TOLD


@pytest.mark.slow
def test_scheduler_of_dask_in_another_process_passes_on_what_the_client_says(tmp_path):
    pytest.importorskip("distributed")
    from test_dask import Cluster

    source = f"""{SCENARIO}
import distributed
import waybill.integrations.dask

with distributed.Client(scheduler_file=sys.argv[1]) as client:
    waybill.integrations.dask.install(client)
    client.wait_for_workers(1)
    tell(lambda task: client.submit(task, pure=False).result())
"""
    with Cluster(tmp_path) as cluster:
        assert lines(tmp_path, source, str(cluster.file)) == TOLD


def test_actors_and_tasks_of_dask_see_changes(tmp_path):
    pytest.importorskip("distributed")
    source = f"""{SCENARIO}
import distributed
import waybill.integrations.dask

class Runner:
    def run(self, task):
        return task()

if __name__ == "__main__":
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        waybill.integrations.dask.install(client)
        runner = client.submit(Runner, actor=True).result()
        print(runner.run(get).result(), client.submit(get, pure=False).result())
        Conf.lr = 0.5
        print(runner.run(get).result(), client.submit(get, pure=False).result())
"""
    assert lines(tmp_path, source) == ["0.1 0.1", "0.5 0.5"]
