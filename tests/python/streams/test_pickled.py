"""waybill.pickled, and waybill.integrations.pickle: payloads inside pickles."""

import copyreg
import inspect
import io
import json
import pickle
import pickletools
import threading

import fresh_process
import pytest
import waybill
import waybill.integrations.pickle as envelope
from waybill import _pickled


def made(scale):
    """A function that nobody can import."""
    return lambda x: x * scale


scaled = made(3)


CALLS = []


def note_call(told):
    CALLS.append(told)


class Point:
    def __init__(self, x):
        self.x = x


@pytest.fixture(autouse=True)
def as_before():
    yield
    waybill.configure(key=None, by_value=None, replace=None)
    _pickled._shared.clear()


def in_fresh_process(stream, expression):
    """What an expression of `it` is where nothing but pickle was imported."""
    code = (
        "import pickle, sys; assert 'waybill' not in sys.modules;"
        f"it = pickle.loads(sys.stdin.buffer.read()); print({expression})"
    )
    return fresh_process.run_script(code, given=stream)


class TestStream:
    def test_is_a_pickle_that_pickletools_finds_sound(self):
        for obj in scaled, "x" * 1000, b"y" * 300:
            out = io.StringIO()
            pickletools.dis(envelope.dumps(obj), out)
            assert "waybill._pickled" in out.getvalue()

    def test_has_the_payload_that_dumps_gives_in_it(self):
        for obj in (1, scaled, "x" * 1000):
            assert waybill.dumps(obj) in envelope.dumps(obj)

    def test_is_read_where_nothing_was_imported(self):
        offset = 4
        stream = envelope.dumps(lambda x: x + offset)

        assert in_fresh_process(stream, "it(38)") == "42\n"

    def test_holds_payloads_of_every_size(self):
        texts = ["x" * size for size in (*range(300), 70_000)]
        sizes = {len(waybill.dumps(text)) for text in texts}

        assert {255, 256} <= sizes and max(sizes) > 1 << 16
        assert all(pickle.loads(envelope.dumps(text)) == text for text in texts)

    def test_counts_payloads_of_4_gib_with_eight_bytes(self):
        class Large(bytes):
            def __len__(self):
                return 1 << 32

        stream = envelope.stream(Large(b"payload"))

        assert b"\x8e" + (1 << 32).to_bytes(8, "little") + b"payload" in stream

    def test_can_begin_with_a_call(self):
        stream = envelope.prepend_call((note_call, b""), envelope.dumps(scaled))

        function = pickle.loads(stream)

        assert function(2) == 6 and CALLS.pop() == b"" and not CALLS

    def test_calls_nothing_but_what_importing_waybill_gives(self):
        names = []

        class Asked(pickle.Unpickler):
            def find_class(self, module, name):
                names.append((module, name))
                return super().find_class(module, name)

        Asked(io.BytesIO(envelope.dumps(scaled))).load()

        assert names == [("waybill._pickled", "load")]

    def test_damage_is_told(self):
        stream = bytearray(envelope.dumps([1, 2, 3]))
        stream[-8] ^= 1

        with pytest.raises(waybill.DecodeError):
            pickle.loads(stream)

    def test_dump_and_load_take_files(self, tmp_path):
        with open(tmp_path / "f", "wb") as file:
            envelope.dump([scaled, 2], file)
        with open(tmp_path / "f", "rb") as file:
            function, number = envelope.load(file)
        assert function(number) == 6

    def test_errors_name_the_culprit(self):
        with pytest.raises(waybill.EncodeError, match=r"\['lock'\]"):
            envelope.dumps({"lock": threading.Lock()})
        with pytest.raises(pickle.PicklingError):
            envelope.dumps({"lock": threading.Lock()})


def raised_from(cause):
    try:
        try:
            raise cause
        except Exception as error:
            raise ValueError("told") from error
    except ValueError as error:
        return error


def pickled_by_class(obj):
    file = io.BytesIO()
    envelope.Pickler(file).dump(obj)
    return file.getvalue()


@pytest.mark.parametrize("dumps", [envelope.dumps, pickled_by_class])
class TestExceptions:
    def test_go_with_their_causes(self, dumps):
        loaded = pickle.loads(dumps(raised_from(KeyError(1))))

        assert repr(loaded.__cause__) == "KeyError(1)"

    @pytest.mark.parametrize("is_registered", [False, True])
    def test_go_without_causes_that_cannot_travel(
        self, dumps, is_registered, monkeypatch
    ):
        if is_registered:  # As tblib does, for all.

            def pickle_exception(error):
                return ValueError, (), vars(error.__cause__)

            pickle_exception.__module__ = "tblib.pickling_support"
            copyreg = {ValueError: pickle_exception}
            monkeypatch.setattr("copyreg.dispatch_table", copyreg)
            monkeypatch.setattr(
                envelope.Pickler, "dispatch_table", copyreg, raising=False
            )
        cause = KeyError(1)
        cause.lock = threading.Lock()

        (loaded,) = pickle.loads(dumps([raised_from(cause)]))

        assert repr(loaded) == "ValueError('told')"
        assert loaded.__cause__ is loaded.__context__ is None
        assert loaded.__traceback__.tb_frame.f_code.co_name == "raised_from"

    def test_keep_what_is_registered_for_them_when_causes_stay_behind(
        self, dumps, monkeypatch
    ):
        table = {KeyError: lambda error: (KeyError, ("redacted",))}
        monkeypatch.setitem(copyreg.dispatch_table, KeyError, table[KeyError])
        monkeypatch.setattr(envelope.Pickler, "dispatch_table", table, raising=False)
        error = raised_from(LookupError(1))
        error.__cause__.lock = threading.Lock()

        (_, loaded) = pickle.loads(dumps([error, KeyError("secret")]))

        assert repr(loaded) == "KeyError('redacted')"

    def test_that_cannot_travel_themselves_are_told(self, dumps):
        error = raised_from(KeyError(1))
        error.lock = threading.Lock()

        with pytest.raises(waybill.EncodeError, match=r"obj\.lock"):
            dumps(error)


class TestBuffers:
    def test_kept_ones_travel_beside_the_pickle(self):
        buffers = []
        data = bytearray(b"x" * 100_000)
        stream = envelope.dumps(
            [pickle.PickleBuffer(data), 1], buffer_callback=buffers.append
        )

        (loaded, one) = pickle.loads(stream, buffers=buffers)

        assert len(stream) < 1000
        assert one == 1
        memoryview(loaded)[:1] = b"y"
        assert data[:2] == b"yx"

    def test_read_only_ones_stay_so(self):
        buffers = []
        objects = [pickle.PickleBuffer(bytearray(b"a")), pickle.PickleBuffer(b"b")]
        stream = envelope.dumps(objects, buffer_callback=buffers.append)
        arrived = [bytearray(b"a"), bytearray(b"b")]  # As from a socket.

        first, second = pickle.loads(stream, buffers=arrived)

        assert not memoryview(first).readonly
        assert memoryview(second).readonly

    def test_those_a_callback_does_not_keep_are_in_the_pickle(self):
        stream = envelope.dumps(
            pickle.PickleBuffer(b"z" * 500), buffer_callback=lambda buffer: True
        )

        assert bytes(pickle.loads(stream)) == b"z" * 500

    def test_numpy_arrays_share_their_memory(self):
        numpy = pytest.importorskip("numpy")
        array = numpy.arange(50_000.0)
        buffers = []
        stream = envelope.dumps({"a": array}, buffer_callback=buffers.append)

        loaded = pickle.loads(stream, buffers=buffers)["a"]

        assert len(stream) < 1000
        assert numpy.shares_memory(loaded, array)

    def test_need_protocol_5(self):
        with pytest.raises(ValueError, match="protocol"):
            envelope.dumps(1, 4, buffer_callback=[].append)


class TestPickler:
    def test_each_dump_stands_by_itself(self):
        file = io.BytesIO()
        shared = [1]
        pickler = envelope.Pickler(file)
        pickler.dump(shared)
        middle = file.tell()
        pickler.dump([shared, scaled])

        assert pickle.loads(file.getvalue()[middle:])[0] == [1]

    @pytest.mark.parametrize(("size", "writes"), [(100, 1), (100_000, 3)])
    def test_large_payloads_are_written_without_a_copy(self, size, writes):
        written = []

        class File:
            def write(self, data):
                written.append(bytes(data))
                return len(data)

        envelope.Pickler(File()).dump("x" * size)

        assert len(written) == writes
        assert pickle.loads(b"".join(written)) == "x" * size

    def test_dispatch_tables_go_first(self):
        class Table(envelope.Pickler):
            dispatch_table = {Point: lambda point: (complex, (point.x, 0))}

        on_class, on_instance = io.BytesIO(), io.BytesIO()
        Table(on_class).dump([Point(2)])
        pickler = envelope.Pickler(on_instance, 5)
        pickler.dispatch_table = {Point: lambda point: (int, (point.x,))}
        pickler.dump([Point(2)])

        assert pickle.loads(on_class.getvalue()) == [2 + 0j]
        assert pickle.loads(on_instance.getvalue()) == [2]

    def test_reducer_override_goes_first(self):
        class Overriding(envelope.Pickler):
            def reducer_override(self, obj):
                return (str, ("a point",)) if isinstance(obj, Point) else NotImplemented

        file = io.BytesIO()
        Overriding(file).dump([Point(1), scaled])

        text, function = pickle.loads(file.getvalue())
        assert (text, function(2)) == ("a point", 6)

    def test_buffers_are_kept_by_its_callback(self):
        buffers, file = [], io.BytesIO()
        pickler = envelope.Pickler(file, 5, buffer_callback=buffers.append)
        pickler.dump(pickle.PickleBuffer(b"k" * 1000))

        assert len(buffers) == 1 and len(file.getvalue()) < 200
        assert bytes(pickle.loads(file.getvalue(), buffers=buffers)) == b"k" * 1000

    def test_persistent_ids_are_refused_before_anything_is_written(self):
        class Persistent(envelope.Pickler):
            def persistent_id(self, obj):
                return None

        file = io.BytesIO()
        with pytest.raises(TypeError, match=r"waybill\.Pickler"):
            Persistent(file).dump(1)
        assert file.getvalue() == b""

    def test_files_without_write_are_refused(self):
        with pytest.raises(TypeError, match="write"):
            envelope.Pickler(object())


class TestConfigure:
    def test_modules_of_an_iterator_go_by_value(self):
        waybill.configure(by_value=iter([json]))

        assert b"raw_decode" in envelope.dumps(json.JSONDecoder)

    def test_modules_registered_with_cloudpickle_go_by_value(self):
        cloudpickle = pytest.importorskip("cloudpickle")
        cloudpickle.register_pickle_by_value(json)
        try:
            file = io.BytesIO()
            envelope.Pickler(file).dump(json.JSONDecoder)
            streams = envelope.dumps(json.JSONDecoder), file.getvalue()
        finally:
            cloudpickle.unregister_pickle_by_value(json)

        assert all(b"raw_decode" in stream for stream in streams)
        assert b"raw_decode" not in envelope.dumps(json.JSONDecoder)


class TestPickled:
    def test_arrives_as_the_object_itself(self):
        offset = 1
        wrapper = waybill.pickled(lambda x: x + offset)

        arrived = pickle.loads(pickle.dumps(wrapper))

        assert type(arrived) is type(scaled)
        assert (wrapper(1), arrived(1)) == (2, 2)

    def test_is_read_where_nothing_was_imported(self):
        stream = pickle.dumps([waybill.pickled(scaled), 5])

        assert in_fresh_process(stream, "it[0](it[1])") == "15\n"

    def test_has_the_name_and_the_signature_of_a_function(self):
        def halved(x):
            """Half of it."""
            return x / 2

        wrapper = waybill.pickled(halved)

        assert (wrapper.__name__, wrapper.__doc__) == ("halved", "Half of it.")
        assert wrapper.__wrapped__ is halved
        assert str(inspect.signature(wrapper)) == "(x)"
        assert "halved" in repr(wrapper)

    @pytest.mark.parametrize("protocol", range(6))
    def test_goes_into_pickles_of_every_protocol(self, protocol):
        numpy = pytest.importorskip("numpy")
        array = numpy.arange(100.0)

        stream = pickle.dumps(
            [waybill.pickled(array), waybill.pickled(scaled)], protocol
        )

        loaded, function = pickle.loads(stream)
        assert (loaded == array).all() and function(1) == 3

    def test_later_changes_do_not_travel(self):
        data = {"a": 1}
        wrapper = waybill.pickled(data)
        data["a"] = 2

        assert pickle.loads(pickle.dumps(wrapper)) == {"a": 1}

    def test_data_is_new_each_time(self):
        stream = pickle.dumps(waybill.pickled([1]))

        assert pickle.loads(stream) is not pickle.loads(stream)

    def test_objects_that_can_be_called_are_new_each_time_too(self):
        class Counter:
            calls = 0

            def __call__(self):
                self.calls += 1
                return self.calls

        stream = pickle.dumps(waybill.pickled(Counter()))

        assert [pickle.loads(stream)(), pickle.loads(stream)()] == [1, 1]

    def test_equal_functions_are_one_where_they_arrive(self):
        one, same, other = (
            pickle.loads(pickle.dumps(waybill.pickled(made(scale))))
            for scale in (1, 1, 2)
        )

        assert one is same
        assert one is not other and other(1) == 2

    def test_ten_thousand_times_a_function_is_loaded_once(self, monkeypatch):
        loaded = []
        monkeypatch.setattr(
            _pickled, "loads", lambda data: loaded.append(1) or waybill.loads(data)
        )
        wrapper = waybill.pickled(scaled)

        results = {
            pickle.loads(pickle.dumps((wrapper, i)))[0](1) for i in range(10_000)
        }

        assert (results, len(loaded)) == ({3}, 1)

    def test_errors_are_told_when_it_is_made(self):
        with pytest.raises(waybill.EncodeError, match="lock"):
            waybill.pickled(threading.Lock())
        assert waybill.pickled(threading.Lock(), replace="fresh")

    def test_can_be_sent_by_waybill_too(self):
        assert waybill.loads(waybill.dumps([waybill.pickled(scaled)]))[0](2) == 6
