"""waybill.integrations.multiprocessing, with the standard library's own pools."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from programs import METHODS, each_method, lines, run
from programs import START_OF_MULTIPROCESSING as START


@each_method
def test_closures_and_lambdas_go_to_pools(tmp_path, method):
    source = f"""{START}
def adder(n):
    return lambda x: x + n

if __name__ == "__main__":
    waybill.integrations.multiprocessing.install()
    with context.Pool(2) as pool:
        print(pool.map(adder(10), range(3)))
        print(pool.apply(lambda: (lambda: "a lambda comes back"))())
        print(list(pool.imap(lambda x: -x, range(3))))
"""
    expected = ["[10, 11, 12]", "a lambda comes back", "[0, -1, -2]"]
    assert lines(tmp_path, source, method) == expected


@each_method
def test_processes_queues_pipes_and_managers_take_nested_functions(tmp_path, method):
    source = f"""{START}
def main():
    number = 42
    queue, (here, there) = context.Queue(), context.Pipe()
    process = context.Process(target=lambda: queue.put(lambda: number))
    process.start()
    print(queue.get()())
    process.join()
    there.send(lambda: number + 1)
    print(here.recv()())
    lock, value = context.Lock(), context.Value("i", 0)

    def count():
        with lock:
            value.value += 1

    processes = [context.Process(target=count) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    print(value.value)
    with context.Manager() as manager:
        table = manager.dict()
        table["f"] = lambda: number + 2
        print(table["f"]())

if __name__ == "__main__":
    waybill.integrations.multiprocessing.install()
    main()
"""
    assert lines(tmp_path, source, method) == ["42", "43", "3", "44"]


@each_method
def test_executors_take_closures_and_submodule_chains(tmp_path, method):
    source = f"""{START}
import xml.etree.ElementTree
from concurrent.futures import ProcessPoolExecutor

if __name__ == "__main__":
    waybill.integrations.multiprocessing.install()
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        tag = executor.submit(lambda t: xml.etree.ElementTree.fromstring(t).tag, "<a/>")
        print(tag.result())
        print(sum(executor.map(lambda x: x * 2, range(10_000), chunksize=10)))
"""
    assert lines(tmp_path, source, method) == ["a", str(2 * sum(range(10_000)))]


@each_method
def test_exceptions_come_back_with_the_lines_that_raised(tmp_path, method):
    source = f"""{START}
from concurrent.futures import ProcessPoolExecutor
import traceback

def refuse(x):
    raise ValueError(f"not {{x}}")  # This is the line.

if __name__ == "__main__":
    waybill.integrations.multiprocessing.install()
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        try:
            executor.submit(lambda: refuse(7)).result()
        except ValueError:
            traceback.print_exc(file=sys.stdout)
"""
    told = "\n".join(lines(tmp_path, source, method))

    assert "ValueError: not 7" in told
    assert "program.py" in told and "in refuse" in told
    assert "# This is the line." in told


def test_exceptions_come_back_without_causes_that_cannot_travel(tmp_path):
    source = f"""{START}
from concurrent.futures import ProcessPoolExecutor
import threading

def refuse(x):
    try:
        error = KeyError()
        error.lock = threading.Lock()
        raise error
    except KeyError as cause:
        raise ValueError(f"not {{x}}") from cause

if __name__ == "__main__":
    waybill.integrations.multiprocessing.install()
    with context.Pool(1) as pool:
        try:
            pool.apply(refuse, (1,))
        except ValueError as error:
            print(error)
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        print(repr(executor.submit(refuse, 2).exception()))
"""
    assert lines(tmp_path, source, METHODS[0]) == ["not 1", "ValueError('not 2')"]


@each_method
def test_ten_thousand_tasks_come_back(tmp_path, method):
    source = f"""{START}
if __name__ == "__main__":
    waybill.integrations.multiprocessing.install()
    offset = 1
    with context.Pool(2) as pool:
        results = pool.map(lambda x: x + offset, range(10_000), chunksize=1)
    print(results == list(range(1, 10_001)))
"""
    assert lines(tmp_path, source, method) == ["True"]


@each_method
def test_arrays_arrive(tmp_path, method):
    pytest.importorskip("numpy")
    source = f"""{START}
import numpy

if __name__ == "__main__":
    waybill.integrations.multiprocessing.install()
    array = numpy.arange(100_000.0)
    with context.Pool(1) as pool:
        doubled = pool.apply(lambda a: numpy.multiply(a, 2), (array,))
    print((doubled == array * 2).all(), doubled.flags.writeable)
"""
    assert lines(tmp_path, source, method) == ["True True"]


def test_uninstall_puts_everything_back(tmp_path):
    source = """
from multiprocessing import connection, queues, reduction
import waybill.integrations.multiprocessing as integration

def state():
    return [connection._ForkingPickler, queues._ForkingPickler,
            reduction.ForkingPickler, reduction.dump]

before = state()
integration.uninstall()
integration.install()
integration.install()
assert all(new is not old for new, old in zip(state(), before))
class Own: pass
reduction.ForkingPickler.register(Own, lambda own: (str, ("own",)))
print(reduction.ForkingPickler.loads(reduction.ForkingPickler.dumps([Own()])))
integration.uninstall()
integration.uninstall()
print(state() == before)
print(reduction.ForkingPickler.loads(reduction.ForkingPickler.dumps([Own()])))
"""
    assert lines(tmp_path, source) == ["['own']", "True", "['own']"]


@pytest.mark.cross
def test_peer_of_another_python_refuses_code_and_names_both(tmp_path):
    listed = Path(__file__).parents[2] / "build" / "pythons.json"
    if not listed.exists():
        pytest.skip("no other Pythons are listed")
    own = "%d.%d" % sys.version_info[:2]
    others = {
        version: command
        for version, command in json.loads(listed.read_text()).items()
        if version != own and len(command) == 1
    }
    if not others:
        pytest.skip("no other Python runs on this machine itself")
    version, command = others.popitem()
    peer = """
from multiprocessing.connection import Listener

with Listener("socket", authkey=b"key") as listener:
    print("listening", flush=True)
    with listener.accept() as connection:
        print(connection.recv())
        try:
            connection.recv()
        except Exception as error:
            print(type(error).__name__, error)
"""
    source = """
from multiprocessing.connection import Client
import waybill.integrations.multiprocessing

waybill.integrations.multiprocessing.install()
with Client("socket", authkey=b"key") as connection:
    connection.send({"data": [1, 2]})
    connection.send(lambda: 1)
"""
    with subprocess.Popen(
        [*command, "-c", peer], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "listening\n"
        run(tmp_path, source)
        data, refusal = process.stdout.read().splitlines()

    assert data == "{'data': [1, 2]}"
    assert refusal.startswith("PythonMismatchError")
    assert own in refusal and version in refusal
