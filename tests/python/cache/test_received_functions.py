"""A function that is received again is what it was the first time, made anew.

Its code is that of one that lives still; nothing else is shared, and nothing is kept.
"""

import io
import sys
import threading

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
    body = bytes([0x90 | 9]) + b"".join(sections[:7])
    return body + b"\xc4\x08" + xxhash.xxh3_64_digest(body) + b"\xc0"


def test_code_that_wants_cells_is_refused_without_them():
    closure = parts(
        payload_of("def outer(n):\n def f(): return n\n return f\nf = outer(5)")
    )
    bare = parts(payload_of("def f(): return 1"))

    forged = sealed([*closure[:3], *bare[3:6], closure[6]])

    for _ in range(4):
        with pytest.raises(waybill.DecodeError, match="a closure with more or fewer"):
            waybill.loads(forged)


@pytest.mark.parametrize("name", ["__builtins__", "__name__"])
def test_globals_that_a_function_takes_up_when_it_is_made_come_after_it(name):
    sections = parts(
        payload_of(
            f"def f(): return {'a' * len(name)}, one",
            **{"a" * len(name): sys.modules["module_one"]},
        )
    )
    sections[5] = sections[5].replace(b"a" * len(name), name.encode())
    forged = sealed(sections)
    long_way = waybill.Unpickler(io.BytesIO(forged)).load()

    for _ in range(4):
        function = waybill.loads(forged)
        assert function.__module__ == long_way.__module__ == "nowhere"
        assert function.__builtins__ is long_way.__builtins__


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
