"""What main has, when it goes to children: by name, as without waybill, or by value."""

from programs import START_OF_MULTIPROCESSING as START
from programs import each_method, lines, needs_fork, run, start


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
    expected = ["[('set there', 1)]", "True 2", "2"]
    assert lines(tmp_path, source, method) == expected


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


@needs_fork
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
        ended = start(tmp_path, "-c", source, method)
        assert ended.stdout.splitlines() == [expected, "defined after the fork"]


@needs_fork
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
    ended = start(tmp_path, "-c", source)

    assert ended.stdout.splitlines() == ["1"], ended.stderr
    assert "has no 'locked'; it cannot be sent either" in ended.stderr
    assert "(multiprocessing.synchronize.Lock)" in ended.stderr


@needs_fork
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
    ended = start(tmp_path, "-c", source)

    assert ended.stdout.splitlines() == ["after after"], ended.stderr


@needs_fork
def test_typed_in_functions_travel_as_configured(tmp_path):
    source = """
import multiprocessing, threading
import waybill.integrations.multiprocessing
import waybill
waybill.integrations.multiprocessing.install()
waybill.configure(replace="fresh")
pool = multiprocessing.get_context("fork").Pool(1)
lock = threading.Lock()
def late(x):
    with lock:
        return x
print(pool.apply(late, (1,)))
pool.terminate()
"""
    ended = start(tmp_path, "-c", source)

    assert ended.stdout.splitlines() == ["1"], ended.stderr


@needs_fork
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
    ended = start(tmp_path, "-c", source)

    assert ended.stdout.splitlines() == [
        "[True, True, True]",
        "[False, False, False] [False, False, False]",
        "[(10000000, 0), (10000000, 1)] (10000000, 2) 10000000",
        "True ('changed', 10000000)",
        "",
        "[True, True, True]",
    ], ended.stderr


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
    ended = start(tmp_path, "-m", "package", method)

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
