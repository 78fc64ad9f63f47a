"""A function that is received again is what it was the first time, made anew.

Its code is that of one that lives still; nothing else is shared, and nothing is kept.
"""

import gc
import io
import sys
import threading
import types
import weakref

import fresh_process
import msgpack
import pytest
import waybill
import xxhash

pytestmark = pytest.mark.usefixtures("modules")


def payload_of(source="def f(x=None): return one, two.value", **scope):
    scope = {
        "__name__": "nowhere",
        "one": sys.modules["module_one"],
        "two": sys.modules["module_two"],
        **scope,
    }
    exec(compile(source, "<received>", "exec"), scope)
    return waybill.dumps(scope["f"])


BARE = "def f(): return one, two.value"


def warm(payload):
    for _ in range(4):
        function = waybill.loads(payload)
    return function


def described(function):
    """All that can be seen of a function; its code by content, globals but builtins."""
    return (
        function.__name__,
        function.__qualname__,
        function.__module__,
        function.__doc__,
        function.__defaults__,
        function.__kwdefaults__,
        function.__dict__,
        function.__annotations__,
        function.__closure__ and [cell.cell_contents for cell in function.__closure__],
        function.__code__,
        function.__code__.co_filename,
        list(function.__code__.co_lines()),
        [(k, v) for k, v in function.__globals__.items() if k != "__builtins__"],
    )


SOURCES = [
    BARE,
    "def f(): return one.inner.thing",
    "def f(): 'Documented.'; return two",
    "def f(): return 1",
    "def f():\n import json\n return json",
    "def f(): return [lambda: one]",
    "def f(): return missing, one",
    "def f(x=1, *, y=2): return one",
    "def f(x: int) -> str: return one",
    "def f(): return f",
    "def outer(n):\n def f(): return n, one\n return f\nf = outer(5)",
    "def f(): return one\nf.attribute = 1",
    "def f(): return one\nf.__name__ = 'other'",
    "def f(): return value, one\nvalue = [1]",
    "f = lambda: (one, one)",
    "async def f(): return two",
    "def f(x, /, *args, y, **more): return x in (1, 'a', None), f'{y}', b'b', 1.5, -1",
    "def f(x): return 2**80, 1j, ..., x in {1, 2}, x[1:2]",
    "def f(x):\n try: one.x\n except ValueError as e: yield e\n finally: del x",
    "def 名前(値): return 値, '\\udc80', one\nf = 名前",
]


@pytest.mark.parametrize("source", SOURCES)
def test_received_again_it_is_the_same(source):
    payload = payload_of(source)
    long_way = waybill.Unpickler(io.BytesIO(payload)).load()  # Keeps what it decodes.
    first = described(waybill.loads(payload))
    held = warm(payload)

    again = waybill.loads(payload)

    if "return f" not in source:  # There the namespace holds the function itself.
        assert described(again) == first == described(held) == described(long_way)
    assert again is not held
    assert again.__globals__ is not held.__globals__
    assert again.__globals__["__builtins__"] is held.__globals__["__builtins__"]


def test_code_is_shared_with_one_that_lives():
    payload = payload_of(BARE)
    held = warm(payload)

    assert waybill.loads(payload).__code__ is held.__code__


def test_what_is_done_to_one_is_not_seen_in_the_next():
    payload = payload_of(BARE)
    held = warm(payload)
    held.__globals__["one"] = "changed"
    held.__globals__["more"] = 1
    held.attribute = 2
    held.__defaults__ = (1,)

    again = waybill.loads(payload)

    assert again() == (sys.modules["module_one"], 2)
    assert "more" not in again.__globals__
    assert again.__dict__ == {}
    assert again.__defaults__ is None


def test_code_that_was_taken_from_the_function_is_still_that_of_the_payload():
    payload = payload_of(BARE)
    held = warm(payload)
    code = held.__code__
    held.__code__ = (lambda: "other").__code__

    assert waybill.loads(payload).__code__ is code


def test_code_outlives_its_last_function_and_modules_do_not():
    payload = payload_of(BARE)
    gc.collect()  # The function that was sent.
    function = warm(payload)
    watched = weakref.ref(function.__code__)
    modules = [sys.getrefcount(sys.modules[n]) for n in ("module_one", "module_two")]

    del function
    gc.collect()

    after = [sys.getrefcount(sys.modules[n]) for n in ("module_one", "module_two")]
    assert all(a < b for a, b in zip(after, modules, strict=True))
    assert waybill.loads(payload).__code__ is watched()
    assert waybill.loads(payload)()[1] == 2


def test_modules_are_those_of_now():
    payload = payload_of(BARE)
    held = warm(payload)
    replaced = types.ModuleType("module_one")
    replaced.__spec__ = sys.modules["module_one"].__spec__
    sys.modules["module_one"] = replaced

    assert waybill.loads(payload)()[0] is replaced
    assert held()[0] is not replaced


def test_a_module_that_is_gone_is_imported_again(tmp_path, monkeypatch):
    (tmp_path / "on_disk.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import on_disk

    payload = payload_of("def f(): return on_disk", on_disk=on_disk)
    held = warm(payload)
    del sys.modules["on_disk"]

    again = waybill.loads(payload)

    assert again() is sys.modules["on_disk"]
    assert again() is not held()


def test_a_module_that_is_gone_for_good_is_missing():
    payload = payload_of(BARE)
    held = warm(payload)
    spec = sys.modules.pop("module_two").__spec__
    assert held is not None and spec is not None

    with pytest.raises(waybill.MissingModuleError, match="module_two"):
        waybill.loads(payload)


def test_a_module_whose_import_goes_on_is_waited_for(tmp_path, monkeypatch):
    (tmp_path / "slow_module.py").write_text(
        "import builtins\nbuiltins.slow_started.set()\nbuiltins.slow_go.wait(60)\n"
        "value = 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    started, go = threading.Event(), threading.Event()
    go.set()
    monkeypatch.setattr("builtins.slow_started", started, raising=False)
    monkeypatch.setattr("builtins.slow_go", go, raising=False)
    import slow_module

    payload = payload_of("def f(): return slow_module.value", slow_module=slow_module)
    held = warm(payload)
    del sys.modules["slow_module"]
    started.clear()
    go.clear()
    importing = threading.Thread(target=__import__, args=["slow_module"])
    importing.start()
    assert started.wait(60)
    results = []
    loading = threading.Thread(target=lambda: results.append(waybill.loads(payload)()))
    loading.start()
    loading.join(0.2)
    waited = loading.is_alive()
    go.set()
    importing.join(60)
    loading.join(60)

    assert waited
    assert results == [1] == [held()]


@pytest.mark.parametrize("position", ["header", "manifest", "code", "payload"])
def test_an_altered_envelope_is_refused_also_when_its_digest_is_known(position):
    payload = payload_of(BARE)
    held = warm(payload)
    places = {
        "header": 2,
        "manifest": payload.index(b"module_one"),
        "code": payload.index(held.__code__.co_code),
        "payload": payload.rindex(b"nowhere"),
    }
    spoiled = bytearray(payload)
    spoiled[places[position]] ^= 1

    with pytest.raises(waybill.DecodeError):
        waybill.loads(bytes(spoiled))
    with pytest.raises(waybill.DecodeError):
        waybill.loads(payload + b"x")


def test_an_unpickler_decides_for_itself():
    class Unpickler(waybill.Unpickler):
        def find_class(self, module, name):
            raise AssertionError("nothing is named here")

    payload = payload_of(BARE)
    held = warm(payload)

    assert Unpickler(io.BytesIO(payload)).load().__code__ is not held.__code__


def test_a_bytearray_may_change_afterwards():
    payload = payload_of(BARE)
    held = warm(payload)
    memory = bytearray(payload)
    again = waybill.loads(memory)
    memory[:] = bytes(len(memory))

    assert again.__code__ is held.__code__
    assert waybill.loads(payload).__code__ is held.__code__


def parts(payload):
    """The sections of an envelope, each as its bytes."""
    unpacker = msgpack.Unpacker(strict_map_key=False)
    unpacker.feed(payload)
    count, found = unpacker.read_array_header(), []
    for _ in range(count):
        start = unpacker.tell()
        unpacker.skip()
        found.append(payload[start : unpacker.tell()])
    return found


def sealed(sections):
    body = bytes([0x90 | 8]) + b"".join(sections[:6])
    return body + b"\xc4\x08" + xxhash.xxh3_64_digest(body) + b"\xc0"


def test_code_that_wants_cells_is_refused_without_them():
    closure = parts(
        payload_of("def outer(n):\n def f(): return n\n return f\nf = outer(5)")
    )
    bare = parts(payload_of("def f(): return 1"))

    forged = sealed([*closure[:3], *bare[3:5], closure[5]])

    for _ in range(4):
        with pytest.raises(waybill.DecodeError, match="closure of another length"):
            waybill.loads(forged)


@pytest.mark.parametrize("name", ["__builtins__", "__name__"])
def test_globals_that_a_function_takes_up_when_it_is_made_come_after_it(name):
    sections = parts(
        payload_of(
            f"def f(): return {'a' * len(name)}, one",
            **{"a" * len(name): sys.modules["module_one"]},
        )
    )
    sections[4] = sections[4].replace(b"a" * len(name), name.encode())
    forged = sealed(sections)
    long_way = waybill.Unpickler(io.BytesIO(forged)).load()

    for _ in range(4):
        function = waybill.loads(forged)
        assert function.__module__ == long_way.__module__ == "nowhere"
        assert function.__builtins__ is long_way.__builtins__


def test_builtins_are_those_of_now(monkeypatch):
    payload = payload_of(BARE)
    held = warm(payload)
    replaced = types.ModuleType("builtins")
    vars(replaced).update(vars(sys.modules["builtins"]))
    named = waybill.dumps([len])
    monkeypatch.setitem(sys.modules, "builtins", replaced)
    monkeypatch.setattr(replaced, "len", "another")

    assert waybill.loads(payload).__globals__["__builtins__"] is replaced
    assert held.__globals__["__builtins__"] is not replaced
    assert waybill.loads(named) == ["another"]


def test_a_finalizer_may_load_the_same_while_it_is_noted():
    script = """
import gc, waybill
errors = []
class Trash:
    def __init__(self, data): self.data, self.me = data, self
    def __del__(self):
        try: waybill.loads(self.data)
        except BaseException as error: errors.append(repr(error))
def payload(number):
    scope = {"__name__": "m"}
    exec(f"def f(): return {number}", scope)
    return waybill.dumps(scope["f"])
for number in range(600):
    data = payload(number)
    keep = waybill.loads(data)
    gc.collect()
    Trash(data)
    gc.set_threshold(1 + number % 12, 1000, 1000)
    try: assert waybill.loads(data)() == number
    finally: gc.set_threshold(100_000)
print(errors)
"""
    assert fresh_process.run_script(script).strip() == "[]"


def test_functions_of_packages_each_have_a_path_of_their_own():
    payload = payload_of("def f(): return one\n__path__ = []", __package__="nowhere")
    held = warm(payload)

    again = waybill.loads(payload)

    assert again.__globals__["__path__"] == []
    assert again.__globals__["__path__"] is not held.__globals__["__path__"]


@pytest.mark.once
def test_no_more_is_kept_than_there_is_room_for():
    output = fresh_process.run_script("""
import gc, sys, waybill
def send(number):
    scope = {"__name__": "nowhere", "sys": sys}
    exec(f"def f(): return sys, {number}", scope)
    data = waybill.dumps(scope["f"])
    return [waybill.loads(data) for _ in range(3)]
def blocks():
    gc.collect()
    return sys.getallocatedblocks()
for number in range(3000): send(number)
before = blocks()
for number in range(3000, 9000): send(number)
print(blocks() - before)
""")

    assert int(output) < 500


def test_threads_receive_the_same_function():
    payload = payload_of(BARE)
    expected = (sys.modules["module_one"], 2)
    wrong = []

    def work():
        for number in range(2000):
            function = waybill.loads(payload)
            if function() != expected or number in function.__globals__:
                wrong.append(number)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


@pytest.mark.once
def test_functions_of_one_code_take_no_longer_for_each():
    # Each use of code used to look through all others: 3,200 took 43 milliseconds.
    output = fresh_process.run_script("""
import waybill
def holder(*, held=[lambda: n for n in range(200_000)]): return len(held)
data = waybill.dumps(holder)
for _ in range(4): arrived = waybill.loads(data)
print(arrived())
""")

    assert int(output) == 200_000
