"""waybill.integrations.multiprocessing, with the standard library's own pools."""

import json
import multiprocessing
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from programs import lines, run

METHODS = multiprocessing.get_all_start_methods()
each_method = pytest.mark.parametrize("method", METHODS)

START = """
import multiprocessing, sys
import waybill.integrations.multiprocessing
context = multiprocessing.get_context(sys.argv[1])
"""


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
    assert lines(tmp_path, source, method) == [
        "[10, 11, 12]",
        "a lambda comes back",
        "[0, -1, -2]",
    ]


@each_method
def test_what_main_has_is_its_own_in_children_as_without_waybill(tmp_path, method):
    source = f"""{START}
state = None

def initialize(value):
    global state
    state = value

def read(x):
    return state, x

class Point:
    made = 0
    def __init__(self, x):
        self.x = x

def point(x):
    assert type(x) is Point
    Point.made += 1
    return Point(x.x + 1)

if __name__ == "__main__":
    waybill.integrations.multiprocessing.install()
    with context.Pool(1, initialize, ("set there",)) as pool:
        print(pool.map(read, [1]))
        arrived = pool.apply(point, (Point(1),))
        print(type(arrived) is Point, arrived.x)
        pool.apply(point, (arrived,))
        print(pool.apply(getattr, (Point, "made")))
"""
    assert lines(tmp_path, source, method) == [
        "[('set there', 1)]",
        "True 2",
        "2",
    ]


@each_method
def test_what_pickle_sends_by_name_is_mains_own_too(tmp_path, method):
    source = f"""{START}
import functools, typing
state = None

def initialize(value):
    global state
    state = value

@functools.lru_cache
def cached(x):
    return state, x

class Reader:
    @functools.lru_cache
    def read(self, x):
        return state, x

class Missing:
    def __reduce__(self):
        return "MISSING"

class Pair:
    def __init__(self, *items):
        self.items = items
    def __reduce__(self):
        return Pair, self.items

MISSING, T = Missing(), typing.TypeVar("T")

def check(missing, variable, pair):
    return missing is MISSING, variable is T, type(pair) is Pair, pair.items

if __name__ == "__main__":
    waybill.integrations.multiprocessing.install()
    with context.Pool(1, initialize, ("set there",)) as pool:
        print(pool.apply(cached, (1,)), pool.apply(Reader.read, (Reader(), 2)))
        print(pool.apply(check, (MISSING, T, Pair(3, 4))))
        print(pool.apply(str.upper, ("of no module",)))
"""
    assert lines(tmp_path, source, method) == [
        "('set there', 1) ('set there', 2)",
        "(True, True, True, (3, 4))",
        "OF NO MODULE",
    ]


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


def test_importing_it_imports_no_multiprocessing(tmp_path):
    source = """
import sys
import waybill.integrations.multiprocessing
print("multiprocessing.connection" in sys.modules, "multiprocessing" in sys.modules)
"""
    assert lines(tmp_path, source) == ["False False"]


@pytest.mark.skipif("fork" not in METHODS, reason="no fork")
def test_names_typed_in_by_hand_are_those_of_a_forked_child_or_travel(tmp_path):
    source = f"""{START}
waybill.integrations.multiprocessing.install()
state = None
def initialize():
    global state
    state = "set there"
def read():
    return state
pool = context.Pool(1, initialize)
def late():
    return "defined after the fork"
print(pool.apply(read), pool.apply(late), sep="\\n")
pool.terminate()
"""
    for method, expected in ("fork", "set there"), ("spawn", "None"):
        ended = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(source), method],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert ended.stdout.splitlines() == [expected, "defined after the fork"]


def typed_in(folder, source):
    """What a program wrote that was not read from a file."""
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return ended.stdout.splitlines(), ended.stderr


@pytest.mark.skipif("fork" not in METHODS, reason="no fork")
def test_typed_in_functions_that_cannot_travel_are_those_of_forked_children(tmp_path):
    source = """
import multiprocessing, threading
import waybill.integrations.multiprocessing
waybill.integrations.multiprocessing.install()
context = multiprocessing.get_context("fork")
lock = context.Lock(), threading.Lock()
def locked(x):
    with lock[0], lock[1]:
        return x
pool = context.Pool(1)
print(pool.apply(locked, (1,)))
pool.terminate()
process = multiprocessing.get_context("spawn").Process(target=locked)
process.start()
process.join()
"""
    written, errors = typed_in(tmp_path, source)

    assert written == ["1"], errors
    assert "has no 'locked'; it cannot be sent either" in errors
    assert "(multiprocessing.synchronize.Lock)" in errors


@pytest.mark.skipif("fork" not in METHODS, reason="no fork")
def test_typed_in_functions_that_were_changed_under_a_decorator_travel(tmp_path):
    source = """
import functools, multiprocessing
import waybill.integrations.multiprocessing
waybill.integrations.multiprocessing.install()
def decorate(function):
    return functools.wraps(function)(lambda: function())
@decorate
def first(): return "before"
@functools.cache
def second(): return "before"
pool = multiprocessing.get_context("fork").Pool(1)
@decorate
def first(): return "after"
@functools.cache
def second(): return "after"
print(pool.apply(first), pool.apply(second))
pool.terminate()
"""
    written, errors = typed_in(tmp_path, source)

    assert written == ["after after"], errors


@pytest.mark.skipif("fork" not in METHODS, reason="no fork")
def test_typed_in_functions_travel_as_configured(tmp_path):
    source = """
import multiprocessing, threading
import waybill.integrations.multiprocessing
import waybill.integrations.pickle
waybill.integrations.multiprocessing.install()
waybill.integrations.pickle.configure(policies="fresh")
pool = multiprocessing.get_context("fork").Pool(1)
lock = threading.Lock()
def late(x):
    with lock:
        return x
print(pool.apply(late, (1,)))
pool.terminate()
"""
    written, errors = typed_in(tmp_path, source)

    assert written == ["1"], errors


@pytest.mark.skipif("fork" not in METHODS, reason="no fork")
def test_typed_in_functions_go_without_their_data_to_those_forked_with_them(tmp_path):
    source = """
import functools, multiprocessing
import waybill.integrations.multiprocessing
waybill.integrations.multiprocessing.install()
data = bytes(10_000_000)
def size(x): return len(data), x
@functools.cache
def cached(x): return len(data), x
class Sized:
    def size(self): return len(data)
def sizes():
    dumps = multiprocessing.reduction.ForkingPickler.dumps
    return [len(dumps(obj)) > len(data) for obj in (size, cached, Sized)]
print(sizes())
pool = multiprocessing.get_context("fork").Pool(1)
print(sizes(), pool.apply(sizes))
print(pool.map(size, range(2)), pool.apply(cached, (2,)), pool.apply(Sized().size))
def size(x): return "changed", len(data)
print(sizes()[0], pool.apply(size, (1,)))
pool.terminate()
process = multiprocessing.get_context("spawn").Process(target=print)
process.start()
process.join()
print(sizes())
"""
    written, errors = typed_in(tmp_path, source)

    assert written == [
        "[True, True, True]",
        "[False, False, False] [False, False, False]",
        "[(10000000, 0), (10000000, 1)] (10000000, 2) 10000000",
        "True ('changed', 10000000)",
        "",
        "[True, True, True]",
    ], errors


@each_method
def test_main_of_a_package_travels_to_children_that_do_not_import_it(tmp_path, method):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text(f"""{START}
class Point:
    def __init__(self, x):
        self.x = x

def point(x):
    return Point(x)

if __name__ == "__main__":
    waybill.integrations.multiprocessing.install()
    with context.Pool(1) as pool:
        print(type(pool.apply_async(point, (1,)).get(20)) is Point)
""")
    ended = subprocess.run(
        [sys.executable, "-m", "package", method],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ended.stdout == "True\n", ended.stderr


def test_name_that_a_child_does_not_have_is_told_with_a_remedy(tmp_path):
    source = """
import multiprocessing
import waybill.integrations.multiprocessing

if __name__ == "__main__":
    def under_the_guard():
        return 1

    waybill.integrations.multiprocessing.install()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=under_the_guard)
    process.start()
    process.join()
    function = waybill.pickled(under_the_guard)
    with context.Pool(1) as pool:
        print(process.exitcode, pool.apply(function))
"""
    ended = run(tmp_path, source)

    assert "has no 'under_the_guard'" in ended.stderr
    assert "waybill.pickled(under_the_guard)" in ended.stderr
    assert ended.stdout == "1 1\n"


def test_child_that_lacks_a_module_says_which(tmp_path):
    (tmp_path / "apart").mkdir()
    (tmp_path / "apart" / "only_here.py").write_text("value = 1\n")
    source = """
import multiprocessing, sys
import waybill.integrations.multiprocessing

sys.path.append("apart")
try:
    import only_here
except ImportError:
    pass  # In the child.

if __name__ == "__main__":
    waybill.integrations.multiprocessing.install()
    sys.path.remove("apart")
    import os
    os.rename("apart", "moved")
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=lambda: only_here.value)
    process.start()
    process.join()
    print(process.exitcode)
"""
    ended = run(tmp_path, source)

    assert ended.stdout == "1\n"
    assert "MissingModuleError" in ended.stderr and "only_here" in ended.stderr


@pytest.mark.cross
def test_child_of_another_python_is_refused_with_both_named(tmp_path):
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
    version, (python,) = others.popitem()
    source = f"""
import multiprocessing
import waybill.integrations.multiprocessing

if __name__ == "__main__":
    waybill.integrations.multiprocessing.install()
    context = multiprocessing.get_context("spawn")
    context.set_executable({python!r})
    process = context.Process(target=lambda: 1)
    process.start()
    process.join()
    print(process.exitcode)
"""
    ended = run(tmp_path, source)

    assert ended.stdout == "1\n"
    assert "PythonMismatchError" in ended.stderr
    assert own in ended.stderr and version in ended.stderr
