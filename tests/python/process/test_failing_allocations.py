"""Whichever allocation fails, the answer is a MemoryError and no crash.

test_leaks.py also lets all allocations fail from one on. Not here: CPython's own
interpreter then runs in circles, unwinding blocks for which it needs a number.
"""

import os
import sys
from pathlib import Path

import fresh_process
import kinds
import pytest
import repeats

pytest.importorskip("_testcapi")
pytestmark = [
    pytest.mark.skipif(
        sys.version_info >= (3, 12),
        reason="CPython itself crashes when an allocation fails while a class is made",
    ),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork"),
]

# Each kind in a child: what crashes there is named here.
SCRIPT = """
import collections, gc, os, signal, sys, _testcapi
sys.path.append(sys.argv[1])
import kinds, waybill

def outcomes_of(name, work):
    outcomes, quiet = {}, 0
    work()
    for number in range(0, 100_000, step):
        value, error = None, ""
        _testcapi.set_nomemory(number, number + 1)
        try:
            try: value = work()
            finally: _testcapi.remove_mem_hooks()
        except MemoryError:
            quiet = 0
        except BaseException as caught:
            quiet = 0
            # Which is how CPython says that there is no memory for a lock.
            if str(caught) == "can't allocate lock": continue
            # And what its raise statement may say, which makes tracebacks.
            if "exception" in name and "without exception set" in str(caught): continue
            outcomes.setdefault(type(caught).__name__, (number, str(caught)))
        else:
            quiet += 1
        if quiet > 30: break
    work()
    return outcomes

def check(name):
    value, dumps, loads = kinds.make(name)
    data = dumps(value)
    works = {"dumps": lambda: dumps(value), "loads": lambda: loads(data)}
    for action, work in works.items():
        if outcomes := outcomes_of(name, work): print(name, action, outcomes)
    # From here on classes that are received are new.
    value = None
    gc.collect()
    if outcomes := outcomes_of(name, works["loads"]): print(name, "anew", outcomes)

step = int(sys.argv[2])
for name in sys.argv[3:]:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            check(name)
            sys.stdout.flush()
            os._exit(0)
        except BaseException as error:
            print(name, "ends with", repr(error), flush=True)
            os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status: print(name, "ends with status", status)
"""


@pytest.mark.parametrize("start", range(4))
def test_failing_allocation_is_a_memory_error(start):
    group = kinds.NAMES[start::4]
    step = 1 if repeats.SHARE == 1 else 3

    assert (
        fresh_process.run_script(
            SCRIPT, Path(__file__).parents[1] / "helpers", step, *group
        )
        == ""
    )


# What is more than dumps and loads. Here it is also counted what is left behind.
WORKS = {
    "prepare": """
        def helper(x): return json.dumps(x)
        def task(x, y=(1, 2)): return helper(x), C
        def work():
            prepared = waybill.prepare(task)
            prepared.dumps([1], y="a")
            prepared.dumps(C(1), helper, json)
            prepared.dumps(lambda: helper(1))
            prepared.refresh()
            prepared.digest
        """,
    "a prepared call": """
        def task(x, y=(1, 2)): return json.dumps(x), C
        prepared = waybill.prepare(task)
        def work():
            data = [prepared.dumps(*a) for a in ((1,), (C(2),), (lambda: 1, task))]
            waybill.loads(data[0])
        def check():
            assert prepared.dumps(1) == waybill.calls.dumps_call(task, (1,))
        """,
    "files": """
        import io
        value = [C(1), f, {"a": lambda: json.dumps}]
        def work():
            file = io.BytesIO()
            waybill.dump(value, file)
            file.seek(0)
            waybill.load(file)
        """,
    "small steps": """
        import io
        class Raw(io.RawIOBase):
            def __init__(self): self.data = b""
            def readable(self): return True
            def writable(self): return True
            def write(self, data):
                self.data += bytes(data[:50])
                return min(len(data), 50)
            def read(self, size):
                taken, self.data = self.data[:min(size, 60)], self.data[min(size, 60):]
                return taken
        value = [C(1), {"a": "text" * 20}]
        def work():
            file = Raw()
            waybill.dump(value, file)
            waybill.load(file)
        """,
    "what is opaque": """
        import other_python
        class D(C):
            def m(self, x, *, y=1): return super().m
        def outer(n):
            def inner(): return n, inner
            return inner
        value = [D(1), f, outer([1]), {"a": lambda: json.dumps}, D]
        data = other_python.as_of_another_python(waybill.dumps(value))
        def work():
            shown = waybill.loads(data, code="opaque")
            waybill.loads(waybill.dumps(shown))
        def check():
            assert waybill.loads(data, code="opaque")[0].kind == "instance"
        """,
    "code of another Python": """
        import linecache, other_python
        text = (
            "def outer(n):\\n"
            "    def inner(x: int = 3, *rest, y=2): return n, inner, json.dumps(x)\\n"
            "    return inner\\n"
            "class Base:\\n"
            "    def __init__(self, x): self.x = x\\n"
            "class D(Base):\\n"
            "    def m(self): return super().m(), D\\n"
        )
        linecache.cache["told.py"] = len(text), None, text.splitlines(True), "told.py"
        exec(compile(text, "told.py", "exec"), globals())
        value = [outer, D(2), outer(1), {"data": D}]
        data = other_python.as_of_another_python(waybill.dumps(value, source=True))
        def work():
            # What is compiled is kept: CPython's compiler crashes without memory.
            waybill.loads(data)
            waybill.forget_classes()
        def check():
            assert waybill.loads(data)[2]()[0] == 1
        """,
    "save": """
        value = [C(1), f, {"a": lambda: json.dumps}]
        in_memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
        folder = tempfile.TemporaryDirectory(dir=in_memory)  # fsync is quick there.
        path = os.path.join(folder.name, "saved")
        waybill.save("old", path)
        def work():
            waybill.save(value, path, environment=False)
            waybill.load(path)
        def check():
            # Old or new, and nothing beside it.
            waybill.load(path)
            left = os.listdir(os.path.dirname(path))
            assert left == ["saved"], left
        """,
    "streams with a memo": """
        import io
        shared, own = [1, "shared"], C(2)
        def work():
            file = io.BytesIO()
            pickler = waybill.Pickler(file)
            for thing in ([shared, f], {"again": shared, "own": own}, [own, f, shared]):
                pickler.dump(thing)
            file.seek(0)
            reader = waybill.Unpickler(file)
            first, second, third = reader.load(), reader.load(), reader.load()
            assert first[0] is second["again"] is third[2]
        """,
    "a stream that goes on": """
        shared, own = [1, "shared"], C(2)
        class File:
            def write(self, data): self.data = data
        def work():
            global pickler
            pickler = waybill.Pickler(File())
            pickler.dump([shared, own])
            pickler.dump([own, shared])
        def check():
            # Whatever failed: what follows the next clearing stands by itself.
            pickler.clear_memo()
            file = File()
            pickler._write = file.write
            pickler.dump([shared])
            assert waybill.loads(file.data) == [shared]
        """,
    "modules by value": """
        local = types.ModuleType("module_of_nobody")
        exec("import json\\nx = [1]\\ndef g(): return x, json", vars(local))
        sys.modules["module_of_nobody"] = local
        data = waybill.dumps(local.g, by_value=[local])
        def work():
            waybill.dumps(local.g, by_value=["module_of_nobody"])
            waybill.loads(data)
        """,
    "replace": """
        value = [threading.Lock(), C(threading.RLock()), (n for n in ())]
        def work():
            waybill.loads(waybill.dumps(
                value, replace={threading.Lock: "fresh", type(value[2]): "drop",
                                 type(threading.RLock()): "fresh"}))
        """,
    "a class and its instances, again": """
        class Own:
            def __init__(self, x): self.x = x
            def m(self): return self.x
        payloads = [waybill.dumps([Own(n), Own]) for n in range(3)]
        sent = Own
        def work():
            for payload in payloads:
                assert waybill.loads(payload)[1] is sent
            waybill.loads(payloads[0], reset_classes=True)
        """,
    "a class that is new each time": """
        def make():
            class Own:
                kinds = ["a"]
                def m(self): return self
            return Own
        cls = make()
        data = waybill.dumps([cls(), cls])
        del cls
        import gc
        gc.collect()  # It would come home.
        def work():
            arrived = waybill.loads(data)
            assert type(arrived[0]) is arrived[1]
        """,
    "functions that come again": """
        def make(n): return lambda x=1: (n, x, json.dumps, os.path)
        payloads = [waybill.dumps((f, make(n), n)) for n in range(4)]
        plain = waybill.dumps(f)
        def work():
            for payload in payloads: waybill.loads(payload)[1]()
            waybill.loads(plain)(1)
        """,
    "functions that are sent again": """
        value = lambda: (json.dumps, os.path, xml.dom)
        def work():
            assert waybill.dumps(value) == waybill.dumps(value)
        """,
    "classes that are sent again": """
        class Kept(C):
            items, table = [1, (2,)], {"a": [json.dumps]}
            @property
            def p(self): return json.dumps, os.path
            made = classmethod(lambda cls: cls(1))
        use = lambda: (Kept, json)
        def work():
            assert waybill.dumps(Kept(1)) == waybill.dumps(Kept(1))
            assert waybill.dumps(use) == waybill.dumps(use)
        """,
    "what a payload was made with": """
        value = [C(1), f, xml.dom]
        prepared = waybill.prepare(f, environment=True)
        def work():
            data = waybill.dumps(value, environment=True)
            assert "environment" in waybill.inspect(data)
            waybill.loads(data)
            prepared.dumps(1)
        """,
    "names that are others here": """
        data = waybill.dumps([json.dumps, json, f, xml.dom.Node, ValueError])
        rules = {"json:dumps": "json:loads", "xml.*": "xml.*", "json": "pickle"}
        renames = waybill.environment.Renames(rules)
        def work():
            value = waybill.loads(data, renames=renames)
            assert value[0] is json.loads and value[1] is pickle
        """,
    "names that moved": """
        from policy_payloads import payload_of_global
        sys.modules.setdefault("numpy", types.ModuleType("numpy")).prod = len
        vars(sys.modules["numpy"]).pop("product", None)
        core = sys.modules["numpy._core"] = types.ModuleType("numpy._core")
        core.made = len
        sys.modules["numpy.core"] = None
        moved = payload_of_global("numpy.core", "made")
        lost = payload_of_global("numpy", "product")
        nowhere = payload_of_global("numpy", "gone")
        def work():
            assert waybill.loads(moved) is len
            assert waybill.loads(lost) is len
            try: waybill.loads(nowhere)
            except AttributeError: pass
        """,
    "questions": """
        value = [C(1), f, {"a": lambda: json.dumps}]
        data = waybill.dumps(value)
        def work():
            waybill.fingerprint(value)
            waybill.imports(value, by_value=True)
            waybill.inspect(data)
        """,
    "explanations": """
        lock = threading.Lock()
        value = [C(lock), f, {"a": lambda: (json.dumps, lock)}, b"x" * 70_000]
        def work():
            told = waybill.explain(value)
            assert [blocker.path_count for blocker in told.blockers] == [2]
            assert told.parts.path == "obj"
            assert told.to_text() and told.to_json()
            told._repr_html_()
            try: waybill.dumps(value)
            except waybill.EncodeError as error: assert error.path
        """,
    "errors": """
        lock = {"a": [threading.Lock()]}
        data = waybill.dumps([f, C(1)])
        def work():
            try: waybill.dumps(lock)
            except waybill.EncodeError as error: assert error.path
            for bad in (data[:-9], data + b"x", b""):
                try: waybill.loads(bad)
                except waybill.DecodeError as error: assert error.code
        """,
    "buffers": """
        held = bytearray(b"a" * 500)
        def work():
            buffers = []
            data = waybill.dumps([pickle.PickleBuffer(held)],
                                 buffer_callback=buffers.append)
            waybill.loads(data, buffers=buffers)
        """,
}

COUNTED = """
import gc, sys, textwrap, _testcapi
sys.path.append(sys.argv[1])
import kinds, waybill

# One name, so that what is only said once is said now.
scope = {"__name__": "module_that_is_nowhere"}
exec(kinds.IMPORTS, scope)
exec(compile(textwrap.dedent(sys.argv[2]), "work.py", "exec"), scope)
work, check = scope["work"], scope.get("check", lambda: None)
errors = {}

def series():
    quiet = 0
    for number in range(100_000):
        _testcapi.set_nomemory(number, number + 1)
        try:
            try: work()
            finally: _testcapi.remove_mem_hooks()
        except MemoryError:
            quiet = 0
        except BaseException as error:
            quiet = 0
            # The others of imports, and of os.stat() where there is nothing: Python's.
            known = ("can't allocate", "<function _find_and_load",
                     "error return without exception set")
            if not str(error).startswith(known):
                errors.setdefault(type(error).__name__, (number, str(error)))
        else:
            quiet += 1
        if number % 50 == 0: check()
        if quiet > 30: break
    check()
    work()

def count():
    for _ in range(3): gc.collect()
    return len(gc.get_objects()), sys.getallocatedblocks()

counted = int(sys.argv[3])  # 0: only that each failure is a MemoryError.
work()
for _ in range(2 if counted else 1): series()
for _ in range(3):  # What is left each time is a leak, what is left once fills a table.
    before = count()
    for _ in range(counted): series()
    objects, blocks = (now - then for now, then in zip(count(), before))
    if objects < 30 and blocks < 300: break
print(errors, objects, blocks)
"""


@pytest.mark.parametrize("name", WORKS)
def test_failing_allocation_leaves_a_process_that_works_and_nothing_else(name):
    counted = 0 if "WAYBILL_SANITIZED" in os.environ else 3
    output = fresh_process.run_script(
        COUNTED, Path(__file__).parents[1] / "helpers", WORKS[name], counted
    )

    errors, objects, blocks = output.rsplit(None, 2)
    assert eval(errors) == {}
    # What leaks where allocations fail would be left hundreds of times. Tables of fixed
    # size fill up meanwhile.
    assert int(objects) < 30
    assert int(blocks) < 300
