"""Files may take less than they are given, and give less than they are asked for."""

import errno
import io
import os
import signal
import socket
import sys
import threading
import time

import fresh_process
import pytest
import waybill
from piped import through_a_pipe
from refusals import refused_as
from sources import define

THING = {"text": "x" * 50_000, "numbers": list(range(20_000)), "own": [b"y" * 90_000]}


class Sink(io.RawIOBase):
    """A raw file that takes at most `step` bytes at a time, and `room` in all."""

    def __init__(self, step, room=None, answer=None):
        self.step, self.room, self.answer = step, room, answer
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, data):
        if self.room is not None and len(self.data) >= self.room:
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer
        room = len(data) if self.room is None else self.room - len(self.data)
        taken = bytes(data[: min(self.step, room)])
        self.data += taken
        return len(taken)


class Source:
    """Gives at most `step` bytes at a time; then what `ends` says."""

    def __init__(self, data, step, ends=b""):
        self.file, self.step, self.ends, self.calls = io.BytesIO(data), step, ends, 0

    def read(self, size):
        self.calls += 1
        taken = self.file.read(min(size, self.step))
        if not taken:
            if isinstance(self.ends, BaseException):
                raise self.ends
            return self.ends
        return taken

    def readline(self):
        raise AssertionError("no lines here")


def dump(obj, file):
    waybill.dump(obj, file)


def dump_by_pickler(obj, file):
    waybill.Pickler(file).dump(obj)


def load(file):
    return waybill.load(file)


def load_by_unpickler(file):
    return waybill.Unpickler(file).load()


DUMPS = pytest.mark.parametrize("dump", [dump, dump_by_pickler])
LOADS = pytest.mark.parametrize("load", [load, load_by_unpickler])


# ---- Writing


@DUMPS
@pytest.mark.parametrize("step", [1, 7, 4096, 10**9])
def test_all_is_written_to_a_file_that_takes_less(dump, step):
    thing = THING if step > 7 else [1, "two", {3: (4,)}]
    file = Sink(step)

    dump(thing, file)

    assert waybill.loads(file.data) == thing


@DUMPS
@pytest.mark.parametrize("answer", [None, "some text", True, b"", 10**9])
def test_what_is_no_file_may_answer_what_it_likes(dump, answer):
    class Collector:
        parts = []

        def write(self, data):
            self.parts.append(bytes(data))
            return answer if answer is not True else len(data)

    Collector.parts = []
    dump(THING, Collector())

    assert [waybill.loads(part) for part in Collector.parts] == [THING]


@DUMPS
def test_file_that_cannot_take_more_now_is_a_blocking_error_that_counts(dump):
    file = Sink(100, room=250)

    with pytest.raises(BlockingIOError) as caught:
        dump(THING, file)

    assert caught.value.errno == errno.EAGAIN
    assert caught.value.characters_written == 250 == len(file.data)


@DUMPS
@pytest.mark.parametrize("answer", [0, -3])
def test_file_that_takes_nothing_is_an_error_and_no_endless_loop(dump, answer):
    with pytest.raises(OSError, match=r"write\(\) took"):
        dump(THING, Sink(100, room=250, answer=answer))


@DUMPS
def test_blocking_error_of_the_file_counts_what_came_before_it(dump):
    error = BlockingIOError(errno.EAGAIN, "not now", 0)

    with pytest.raises(BlockingIOError) as caught:
        dump(THING, Sink(100, room=250, answer=error))

    assert caught.value.characters_written == 250


@DUMPS
def test_pipe_without_buffer_gets_all_of_it(dump):
    got = through_a_pipe(lambda file: dump(THING, file), waybill.load, buffering=0)

    assert got == THING


@DUMPS
@LOADS
def test_socket_without_buffer_carries_all_of_it(dump, load):
    left, right = socket.socketpair()
    got = []
    with (
        left,
        right,
        left.makefile("wb", buffering=0) as out,
        right.makefile("rb", buffering=0) as incoming,
    ):
        thread = threading.Thread(target=lambda: got.append(load(incoming)))
        thread.start()
        dump(THING, out)
        thread.join()

    assert got == [THING]


@DUMPS
@pytest.mark.parametrize("buffering", [0, -1])
def test_full_pipe_that_does_not_block_tells_what_it_took(dump, buffering):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    big = b"z" * 5_000_000
    with open(reader, "rb", buffering=0):
        with open(writer, "wb", buffering=0) as raw:
            file = io.BufferedWriter(raw) if buffering else raw
            with pytest.raises(BlockingIOError) as caught:
                dump(big, file)

    assert 0 < caught.value.characters_written < len(big)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@DUMPS
@pytest.mark.parametrize("buffering", [0, -1])
def test_full_disk_is_the_files_own_error(dump, buffering):
    with open("/dev/full", "wb", buffering=0) as raw:
        file = io.BufferedWriter(raw) if buffering else raw
        with pytest.raises(OSError) as caught:
            dump(THING, file)

    assert caught.value.errno == errno.ENOSPC


# The first write takes what there is room for; only the next one says why no more.
LIMITED = """
import errno, os, resource, signal, waybill
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
with open("cut", "wb", buffering=0) as file:
    try: waybill.{call}
    except OSError as error: answer = error.errno, os.path.getsize("cut")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limits for files")
@pytest.mark.parametrize(
    "call", ["dump(bytes(50_000), file)", "Pickler(file).dump(bytes(50_000))"]
)
def test_disk_that_fills_up_in_the_middle_is_an_error(call):
    answer = fresh_process.execute(LIMITED.format(call=call))

    assert answer == (errno.EFBIG, 10_000)


# ---- Reading


@LOADS
@pytest.mark.parametrize("step", [1, 13, 4096])
def test_file_may_give_less_than_it_is_asked_for(load, step):
    function = define("def f(x): return [x, os.path]", os=os).f
    data = waybill.dumps([THING, function])

    text, function = load(Source(data, step))

    assert text == THING
    assert function(1) == [1, os.path]


@pytest.mark.once
def test_reading_by_single_bytes_measures_no_more_often():
    data = waybill.dumps(list(range(300_000)))
    source = Source(data, 1)

    waybill.load(source)

    # As many reads as bytes. It takes hours if each begins at the start again.
    assert source.calls == len(data)


@LOADS
@pytest.mark.parametrize("step", [1, 10**9])
def test_end_in_the_middle_is_truncated_with_its_offset(load, step):
    data = waybill.dumps([lambda: os, "text" * 10])

    for size in range(1, len(data)):
        with refused_as("truncated") as caught:
            load(Source(data[:size], step))
        assert caught.value.offset <= size


@LOADS
def test_end_at_the_start_is_the_end_of_the_file(load):
    with pytest.raises(EOFError):
        load(Source(b"", 1))


@LOADS
def test_text_is_named(load):
    with pytest.raises(TypeError, match=r"read\(\) must return bytes, not str"):
        load(io.StringIO("text"))


@LOADS
def test_numbers_are_named(load):
    with pytest.raises(TypeError, match=r"read\(\) must return bytes, not list"):
        load(Source(b"", 1, ends=[1, 2]))


@LOADS
def test_more_than_was_asked_for_is_an_error(load):
    class Generous(Source):
        def read(self, size):
            return super().read(size) + b"more"

    with pytest.raises(OSError, match=r"read\(\d+\) returned \d+ bytes"):
        load(Generous(waybill.dumps(THING), 10**9))


@LOADS
@pytest.mark.parametrize("size", [0, 100])
def test_file_that_has_nothing_yet_is_a_blocking_error(load, size):
    with pytest.raises(BlockingIOError) as caught:
        load(Source(waybill.dumps(THING)[:size], 10**9, ends=None))

    assert caught.value.errno == errno.EAGAIN


@LOADS
@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_file_may_give_other_bytes_like_objects(load, kind):
    class Kind(Source):
        def read(self, size):
            return kind(super().read(size))

    assert load(Kind(waybill.dumps(THING), 1000)) == THING


# ---- Streams that fail and go on


@pytest.mark.parametrize(
    "size, ends, error",
    [(10**9, None, BlockingIOError), (300, KeyboardInterrupt(), KeyboardInterrupt)],
    ids=["had nothing yet", "raised"],
)
def test_unpickler_goes_on_where_the_file(size, ends, error):
    data = waybill.dumps([1]) + waybill.dumps(THING)
    source = Source(data[:1000], size, ends=ends)
    reader = waybill.Unpickler(source)
    first = reader.load()

    with pytest.raises(error):
        reader.load()
    source.file = io.BytesIO(data[1000:])

    assert (first, reader.load()) == ([1], THING)


def test_unpickler_starts_anew_after_a_payload_that_was_cut():
    source = Source(waybill.dumps(THING)[:1000], 300)
    reader = waybill.Unpickler(source)

    with pytest.raises(waybill.DecodeError):
        reader.load()
    with pytest.raises(EOFError):
        reader.load()
    source.file = io.BytesIO(waybill.dumps([2]))

    assert reader.load() == [2]


@pytest.mark.parametrize("taken", [0, 10, None])
def test_payload_after_a_failed_write_refers_to_nothing_before_it(taken):
    shared, other = ["shared"], ["other"]
    file = Sink(10**9)
    pickler = waybill.Pickler(file)
    pickler.dump([shared])
    first = len(file.data)

    # Whatever of it arrived: nobody can tell how many payloads the receiver has.
    file.room = None if taken is None else first + taken
    file.answer = OSError(errno.ENOSPC, "full")
    if taken is None:
        pickler._write = lambda data: file.write(data) and 1 / 0
    with pytest.raises((OSError, ZeroDivisionError)):
        pickler.dump([other, shared])
    file.room, pickler._write = None, file.write
    start = len(file.data)
    pickler.dump({"both": [shared, other]})
    pickler.dump([other, shared])

    alone = io.BytesIO(file.data[start:])
    assert waybill.load(alone) == {"both": [["shared"], ["other"]]}
    assert waybill.load(alone) == [["other"], ["shared"]]


def test_pickler_goes_on_with_its_memo_after_an_object_that_cannot_travel():
    shared = ["shared"]
    file = io.BytesIO()
    pickler = waybill.Pickler(file)
    pickler.dump(shared)

    with pytest.raises(waybill.EncodeError):
        pickler.dump([["new"], (i for i in ())])
    pickler.dump([shared])
    file.seek(0)
    reader = waybill.Unpickler(file)

    assert reader.load() is reader.load()[0]


def test_pickler_used_by_a_reducer_of_its_own_object_refers_to_nothing_wrong():
    file = io.BytesIO()
    pickler = waybill.Pickler(file)
    shared = ["shared"]

    class Sends:
        def __reduce__(self):
            pickler.dump([shared, "inner"])
            return list, ()

    pickler.dump(["first"])
    pickler.dump([shared, Sends()])
    pickler.dump([shared, "last"])
    file.seek(0)
    reader = waybill.Unpickler(file)

    assert [reader.load() for _ in range(4)] == [
        ["first"],
        [["shared"], "inner"],
        [["shared"], []],
        [["shared"], "last"],
    ]


def test_payload_that_could_not_be_loaded_counts_for_those_after_it(tmp_path):
    # Its module is missing, so it fails before anything of it is built.
    (tmp_path / "module_that_goes.py").write_text("class C: pass", encoding="utf-8")
    answer = fresh_process.execute(
        f"""
import io, sys
sys.path.append({str(tmp_path)!r})
import module_that_goes
first, second, third = ["1"], ["2"], ["3"]
file = io.BytesIO()
pickler = waybill.Pickler(file)
for thing in [first], [module_that_goes.C, second], [third], [first, third]:
    pickler.dump(thing)
pickler.dump(second)
sys.path.pop()
del sys.modules["module_that_goes"]
file.seek(0)
reader = waybill.Unpickler(file)
answer = []
for _ in range(5):
    try: answer.append(reader.load())
    except waybill.MissingModuleError: answer.append("missing")
    except waybill.DecodeError as error: answer.append(error.code)
"""
    )

    assert answer == [[["1"]], "missing", [["3"]], [["1"], ["3"]], "bad_reference"]


# ---- Signals


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
@pytest.mark.parametrize("reads", [waybill.load, lambda f: waybill.Unpickler(f).load()])
def test_signals_interrupt_neither_reading_nor_writing(reads):
    reader, writer = os.pipe()
    count, got = [], []
    old = signal.signal(signal.SIGALRM, lambda *_: count.append(1))
    signal.siginterrupt(signal.SIGALRM, True)
    data = waybill.dumps(THING)

    def write():
        with open(writer, "wb", buffering=0) as out:
            for start in range(0, len(data), 5000):
                out.write(data[start : start + 5000])
                time.sleep(0.002)

    thread = threading.Thread(target=write)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        with open(reader, "rb", buffering=0) as incoming:
            thread.start()
            got.append(reads(incoming))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
        thread.join()

    assert got == [THING]
    assert count


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_unpickler_goes_on_after_a_handler_that_raised():
    class Alarm(Exception):
        pass

    def handler(*_):
        raise Alarm

    reader, writer = os.pipe()
    data = waybill.dumps(THING)
    old = signal.signal(signal.SIGALRM, handler)
    try:
        with open(reader, "rb", buffering=0) as incoming:
            unpickler = waybill.Unpickler(incoming)
            os.write(writer, data[:30_000])
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(Alarm):
                unpickler.load()
            thread = threading.Thread(
                target=lambda: open(writer, "wb").write(data[30_000:])
            )
            thread.start()
            got = unpickler.load()
            thread.join()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)

    assert got == THING
