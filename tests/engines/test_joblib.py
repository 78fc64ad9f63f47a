"""waybill.integrations.joblib: joblib with its backends, and loky by itself."""

import multiprocessing

import pytest
from programs import lines, run

pytest.importorskip("joblib")

each_backend = pytest.mark.parametrize("backend", ["loky", "multiprocessing"])

START = """
import sys
import joblib
from joblib import Parallel, delayed
import waybill.integrations.joblib
waybill.integrations.joblib.install()

def parallel(calls):
    return Parallel(n_jobs=2, backend=sys.argv[1])(calls)
"""


@each_backend
def test_closures_submodule_chains_and_classes_of_main(tmp_path, backend):
    source = f"""{START}
import xml.etree.ElementTree

class Point:
    def __init__(self, x):
        self.x = x

def adder(n):
    return lambda x: Point(x + n)

if __name__ == "__main__":
    points = parallel(delayed(adder(10))(i) for i in range(3))
    print([(type(point) is Point, point.x) for point in points])
    parse = delayed(lambda text: xml.etree.ElementTree.fromstring(text).tag)
    print(parallel(parse(f"<{{name}}/>") for name in "ab"))
    print(parallel([delayed(lambda: lambda: "a lambda comes back")()])[0]())
"""
    assert lines(tmp_path, source, backend) == [
        "[(True, 10), (True, 11), (True, 12)]",
        "['a', 'b']",
        "a lambda comes back",
    ]


def test_it_is_waybill_that_packs_both_ways(tmp_path):
    source = f"""{START}
def packs_here():
    from joblib.externals.loky.backend import reduction
    return b"waybill" in bytes(reduction.dumps([1]))

if __name__ == "__main__":
    print(packs_here(), parallel([delayed(packs_here)()]))
"""
    assert lines(tmp_path, source, "loky") == ["True [True]"]


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_workers_of_pools_follow_however_they_are_started(tmp_path, method):
    source = """
import joblib
import waybill.integrations.joblib

class Point:
    pass

if __name__ == "__main__":
    waybill.integrations.joblib.install()
    task = joblib.delayed(lambda: (Point(), lambda: 7))
    tasks = joblib.Parallel(2, backend="multiprocessing")([task(), task()])
    print([(type(point) is Point, answer()) for point, answer in tasks])
"""
    written = lines(tmp_path, source, JOBLIB_START_METHOD=method)

    assert written == ["[(True, 7), (True, 7)]"]


@each_backend
def test_exceptions_come_back_with_the_lines_that_raised(tmp_path, backend):
    source = f"""{START}
import traceback

def refuse(x):
    raise ValueError(f"not {{x}}")  # This is the line.

if __name__ == "__main__":
    try:
        parallel(delayed(refuse)(i) for i in range(1, 2))
    except ValueError:
        traceback.print_exc(file=sys.stdout)
"""
    told = "\n".join(lines(tmp_path, source, backend))

    assert "ValueError: not 1" in told
    assert "in refuse" in told and "# This is the line." in told


@each_backend
def test_exceptions_come_back_without_causes_that_cannot_travel(tmp_path, backend):
    source = f"""{START}
import threading

def refuse(x):
    try:
        error = KeyError()
        error.lock = threading.Lock()
        raise error
    except KeyError as cause:
        raise ValueError(f"not {{x}}") from cause

if __name__ == "__main__":
    try:
        parallel(delayed(refuse)(i) for i in range(1, 2))
    except ValueError as error:
        print(error)
"""
    assert lines(tmp_path, source, backend) == ["not 1"]


def test_exception_that_cannot_be_sent_is_named_and_the_worker_of_loky_lives(tmp_path):
    source = f"""{START}
import os, threading, waybill
from joblib.externals.loky import get_reusable_executor

class RetryError(Exception):
    def __init__(self, last_attempt):
        super().__init__(last_attempt)
        self.last_attempt = last_attempt

class Attempt:
    def __init__(self):
        self.lock = threading.Lock()

class Refuses(Exception):
    def __reduce__(self):
        raise TypeError("mine")

def by_attribute(): raise RetryError(Attempt())
def by_reducer(): raise Refuses()

if __name__ == "__main__":
    executor = get_reusable_executor(1)
    before = executor.submit(os.getpid).result()
    for task, named in (by_attribute, "args[0].lock"), (by_reducer, "mine"):
        error = executor.submit(task).exception()
        print(isinstance(error, waybill.EncodeError), named in str(error))
        print(f"in {{task.__name__}}" in str(error.__cause__))
    print(executor.submit(os.getpid).result() == before)
"""
    assert lines(tmp_path, source, "loky") == ["True True", "True"] * 2 + ["True"]


@each_backend
def test_ten_thousand_tasks_come_back(tmp_path, backend):
    source = f"""{START}
if __name__ == "__main__":
    offset = 1
    task = delayed(lambda x: x + offset)
    print(parallel(task(i) for i in range(10_000)) == list(range(1, 10_001)))
"""
    assert lines(tmp_path, source, backend) == ["True"]


@each_backend
def test_large_arrays_are_mapped_as_ever_and_small_ones_sent(tmp_path, backend):
    pytest.importorskip("numpy")
    source = f"""{START}
import numpy

if __name__ == "__main__":
    large, small = numpy.arange(1e6), numpy.arange(10.0)
    task = delayed(lambda a: (type(a).__name__, float(a.sum())))
    print(parallel([task(large), task(small)]))
    back = parallel([delayed(lambda n: numpy.ones(n))(1_000_000)])[0]
    print(back.sum())
"""
    ended = run(tmp_path, source, backend)

    expected = ["[('memmap', 499999500000.0), ('ndarray', 45.0)]", "1000000.0"]
    assert ended.stdout.splitlines() == expected
    assert ended.stderr == ""  # What counts the mapped files has counted right.


def test_uninstall_puts_everything_back(tmp_path):
    source = """
import joblib.pool
from joblib.externals.loky.backend import reduction
import waybill.integrations.joblib as integration

def state():
    return [reduction.get_loky_pickler_name(), reduction.get_loky_pickler().__mro__[1],
            joblib.pool.CustomizablePickler]

before = state()
integration.uninstall()
integration.install()
integration.install()
changed = [new != old for new, old in zip(state(), before)]
print(state()[0], changed[:3])
integration.uninstall()
integration.uninstall()
print(state() == before)
"""
    expected = ["waybill.integrations.loky [True, True, True]", "True"]
    assert lines(tmp_path, source) == expected


def test_loky_by_itself_packs_functions_and_results_with_waybill(tmp_path):
    pytest.importorskip("loky")
    source = """
import loky
import waybill.integrations.joblib as integration
from loky.backend import reduction

integration.install()

class Point:
    def __init__(self, x):
        self.x = x

def packs_here():
    from loky.backend import reduction
    return b"waybill" in bytes(reduction.dumps([1]))

if __name__ == "__main__":
    executor = loky.get_reusable_executor(max_workers=1)
    offset = 1
    points = list(executor.map(lambda x: Point(x + offset), range(3)))
    print([(type(point) is Point, point.x) for point in points])
    print(packs_here(), executor.submit(packs_here).result())
    integration.uninstall()
    print(reduction.get_loky_pickler_name(), executor.submit(packs_here).result())
    executor.shutdown()
    import sys
    print("joblib" in sys.modules)
"""
    assert lines(tmp_path, source) == [
        "[(True, 1), (True, 2), (True, 3)]",
        "True True",
        "cloudpickle False",
        "False",
    ]


def test_processes_that_only_inherit_the_environment_do_without_waybill(tmp_path):
    source = """
import subprocess, sys
import waybill.integrations.joblib

waybill.integrations.joblib.install()
code = "import sys; sys.modules['waybill'] = None; import joblib; print('fine')"
print(subprocess.run([sys.executable, "-c", code], capture_output=True).stdout)
"""
    assert lines(tmp_path, source) == [r"b'fine\n'"]
