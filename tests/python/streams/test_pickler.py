"""Pickler and Unpickler are subclassed and used as those of pickle are."""

import copyreg
import io
import pickle
import types

import pytest
import waybill
from refusals import refused_as
from sources import NOWHERE, define


class Own:
    def __init__(self, name="own"):
        self.name = name


def dump(*objects, pickler=waybill.Pickler, **options):
    """A file at its start, with these objects dumped by one Pickler."""
    file = io.BytesIO()
    writer = pickler(file, **options)
    for obj in objects:
        writer.dump(obj)
    file.seek(0)
    return file


# ---- Persistent ids


class WithIds(waybill.Pickler):
    def persistent_id(self, obj):
        return ("own", obj.name) if isinstance(obj, Own) else None


class ByIds(waybill.Unpickler):
    def persistent_load(self, pid):
        return pid


def test_persistent_id_stands_for_the_object_wherever_it_is():
    one = Own()

    file = dump([one, {"k": one}, (lambda: one)], pickler=WithIds)
    first, second, third = ByIds(file).load()

    assert (first, second["k"], third()) == (("own", "own"),) * 3


def test_persistent_id_is_asked_for_globals_of_functions():
    function = define("def value(): return own", own=Own("global")).value

    assert ByIds(dump(function, pickler=WithIds)).load()() == ("own", "global")


def test_persistent_id_without_persistent_load_is_an_unpickling_error():
    with pytest.raises(pickle.UnpicklingError, match="persistent"):
        waybill.Unpickler(dump(Own(), pickler=WithIds)).load()


def test_error_of_persistent_id_comes_through():
    class Broken(waybill.Pickler):
        def persistent_id(self, obj):
            raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        dump(1, pickler=Broken)


# ---- Reducers of a Pickler's own


def test_reducer_override_goes_before_all_else():
    class Overriding(waybill.Pickler):
        def reducer_override(self, obj):
            if isinstance(obj, Own):
                return str, (obj.name,)
            return NotImplemented

    file = dump([Own("a"), range(2)], pickler=Overriding)

    assert waybill.load(file) == ["a", range(2)]


def test_reducer_override_is_asked_for_functions_and_classes():
    class Naming(waybill.Pickler):
        def reducer_override(self, obj):
            if getattr(obj, "__module__", None) == NOWHERE:
                return "".join, ([obj.__name__],)
            return NotImplemented

    value = define("def f(): pass\nclass C: pass\nvalue = [f, C]").value

    assert waybill.load(dump(value, pickler=Naming)) == ["f", "C"]


def test_dispatch_table_of_an_instance_is_used():
    file = io.BytesIO()
    pickler = waybill.Pickler(file)
    pickler.dispatch_table = {Own: lambda obj: (str.upper, (obj.name,))}

    pickler.dump(Own())

    assert waybill.loads(file.getvalue()) == "OWN"


def test_dispatch_table_of_a_class_hides_that_of_copyreg():
    class Table(waybill.Pickler):
        dispatch_table = {Own: lambda obj: (str, (obj.name,))}

    copyreg.pickle(Own, lambda obj: (str, ("by copyreg",)))
    try:
        assert waybill.load(dump(Own(), pickler=Table)) == "own"
        assert waybill.load(dump(Own())) == "by copyreg"
    finally:
        del copyreg.dispatch_table[Own]


# ---- find_class


class Renaming(waybill.Unpickler):
    def find_class(self, module, name):
        if (module, name) == (__name__, "Own"):
            return dict
        return super().find_class(module, name)


def test_find_class_decides_what_a_name_means():
    assert Renaming(dump(Own)).load() is dict


def test_find_class_is_asked_for_the_class_of_an_instance():
    class Asked(waybill.Unpickler):
        asked = []

        def find_class(self, module, name):
            self.asked.append((module, name))
            return super().find_class(module, name)

    Asked(dump(Own())).load()

    assert (__name__, "Own") in Asked.asked


def test_find_class_may_refuse():
    class Refusing(waybill.Unpickler):
        def find_class(self, module, name):
            raise pickle.UnpicklingError(f"{module}.{name} is forbidden")

    with pytest.raises(pickle.UnpicklingError, match=r"Own is forbidden"):
        Refusing(dump(Own())).load()


def test_nothing_is_imported_where_find_class_is_overridden():
    class Stand(waybill.Unpickler):
        def find_class(self, module, name):
            return f"{module}.{name}"

    file = dump(Own)
    data = file.getvalue().replace(b"test_pickler", b"test_elsewhr")

    with refused_as("digest_mismatch"):
        waybill.loads(data)
    assert Stand(file).load() == f"{__name__}.Own"


# ---- Memo and streams


def test_object_of_an_earlier_payload_is_the_same_object():
    shared = [1]

    reader = waybill.Unpickler(dump([shared], {"again": shared}))

    assert reader.load()[0] is reader.load()["again"]


def test_later_payload_does_not_repeat_what_came_before():
    shared = ["x" * 1000]
    file = io.BytesIO()
    pickler = waybill.Pickler(file)

    pickler.dump(shared)
    first = file.tell()
    pickler.dump(shared)

    assert first > 1000
    assert file.tell() - first < 100


def test_changes_between_two_dumps_are_not_sent_as_with_pickle():
    shared = [1]
    file = io.BytesIO()
    pickler = waybill.Pickler(file)

    pickler.dump(shared)
    shared.append(2)
    pickler.dump(shared)
    file.seek(0)
    reader = waybill.Unpickler(file)

    assert (reader.load(), reader.load()) == ([1], [1])


def test_payload_after_clear_memo_stands_by_itself():
    shared = [1]
    file = io.BytesIO()
    pickler = waybill.Pickler(file)

    pickler.dump(shared)
    pickler.clear_memo()
    start = file.tell()
    pickler.dump(shared)

    assert waybill.loads(file.getvalue()[start:]) == [1]


def test_payload_that_needs_an_earlier_one_is_refused_alone():
    shared = [1]
    file = dump(shared, shared)
    waybill.load(file)

    with refused_as("bad_reference"):
        waybill.load(file)


def test_functions_of_two_payloads_share_globals():
    scope = define(
        """
        count = 0
        def add():
            global count
            count += 1
        def get(): return count
        """
    )
    reader = waybill.Unpickler(dump([scope.add], [scope.get, scope.add]))

    (add,), (get, again) = reader.load(), reader.load()
    add()

    assert again is add
    assert get() == 1


def test_closures_of_two_payloads_share_cells():
    def counter():
        count = 0

        def add():
            nonlocal count
            count += 1

        return add, lambda: count

    add, get = counter()
    reader = waybill.Unpickler(dump(add, [get, get], (add, get)))

    (add, (get, again), both) = reader.load(), reader.load(), reader.load()
    add()

    assert get() == 1
    assert get is again
    assert both == (add, get)


def test_module_by_value_follows_its_functions_in_a_stream():
    module = types.ModuleType("made_here")
    exec("count = 0\ndef add():\n global count\n count += 1", vars(module))
    reader = waybill.Unpickler(dump(module.add, module, module.add))

    add, arrived, again = reader.load(), reader.load(), reader.load()

    assert again is add is arrived.add
    assert arrived.count == 0


def test_place_in_the_stream_that_holds_no_cell_is_refused():
    first, second = io.BytesIO(), io.BytesIO()
    number = 1
    pickler = waybill.Pickler(first)
    pickler.dump(lambda: number)
    pickler._write = second.write
    pickler.dump(lambda: number)
    reader = waybill.Unpickler(io.BytesIO(waybill.dumps([1]) + second.getvalue()))
    reader.load()

    with refused_as("bad_reference"):
        reader.load()


def test_failed_dump_writes_nothing_and_the_next_one_works():
    file = io.BytesIO()
    pickler = waybill.Pickler(file)
    shared = [1]

    with pytest.raises(waybill.EncodeError):
        pickler.dump([shared, (i for i in ())])
    assert file.getvalue() == b""
    pickler.dump(shared)

    assert waybill.loads(file.getvalue()) == [1]


def test_two_payloads_follow_each_other_in_a_file(tmp_path):
    path = tmp_path / "two"
    with path.open("wb") as file:
        waybill.dump(lambda: 1, file)
        waybill.Pickler(file).dump({"two": 2})

    with path.open("rb") as file:
        assert waybill.load(file)() == 1
        assert waybill.Unpickler(file).load() == {"two": 2}
        with pytest.raises(EOFError):
            waybill.load(file)


# ---- Buffers out of band


def test_buffers_travel_beside_the_payload():
    buffers = []
    data = waybill.dumps(
        [pickle.PickleBuffer(b"a" * 1000)], buffer_callback=buffers.append
    )

    assert len(data) < 100
    assert bytes(waybill.loads(data, buffers=buffers)[0]) == b"a" * 1000


def test_buffer_that_the_callback_refuses_travels_inside():
    held = pickle.PickleBuffer(b"abc")

    data = waybill.dumps(held, buffer_callback=lambda buffer: True)

    assert waybill.loads(data) == b"abc"


def test_missing_buffer_is_named():
    buffers = []
    data = waybill.dumps(pickle.PickleBuffer(b"a"), buffer_callback=buffers.append)

    with pytest.raises(waybill.DecodeError, match="buffer"):
        waybill.loads(data)


def test_numpy_array_is_not_copied():
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(1000)
    buffers = []

    data = waybill.dumps({"a": array}, buffer_callback=buffers.append)
    arrived = waybill.loads(data, buffers=buffers)["a"]
    arrived[0] = 7

    assert len(data) < 400
    assert array[0] == 7


def test_buffers_of_a_pickler_go_to_an_unpickler():
    buffers = []
    held = bytearray(b"abc")

    file = dump(
        pickle.PickleBuffer(held), memoryview(held)[1:], buffer_callback=buffers.append
    )
    reader = waybill.Unpickler(file, buffers=buffers)

    assert (bytes(reader.load()), bytes(reader.load())) == (b"abc", b"bc")


def test_buffers_need_protocol_5_as_in_pickle():
    with pytest.raises(ValueError, match="protocol"):
        waybill.dumps(1, protocol=4, buffer_callback=print)


# ---- Made as pickle's are


@pytest.mark.parametrize(
    "base, method, error",
    [
        (waybill.Pickler, "dump", pickle.PicklingError),
        (waybill.Unpickler, "load", pickle.UnpicklingError),
    ],
)
def test_subclass_that_does_not_call_init_is_told(base, method, error):
    class Forgetful(base):
        def __init__(self):
            pass

    arguments = (1,) if method == "dump" else ()

    with pytest.raises(error, match=r"__init__\(\) was not called"):
        getattr(Forgetful(), method)(*arguments)


@pytest.mark.parametrize("kind", ["Pickler", "Unpickler"])
def test_file_without_its_methods_is_refused(kind):
    with pytest.raises((TypeError, AttributeError), match=r"'read'|'write'|'readline'"):
        getattr(waybill, kind)(object())


@pytest.mark.parametrize("protocol", [None, -1, 0, 1, 2, 3, 4, 5])
def test_protocol_is_taken_and_changes_nothing(protocol):
    assert waybill.dumps([1], protocol) == waybill.dumps([1])
    assert waybill.dumps([1], protocol=protocol) == waybill.dumps([1])


def test_names_of_cloudpickle_are_there():
    assert waybill.CloudPickler is waybill.Pickler
    assert issubclass(waybill.PicklingError, pickle.PicklingError)
    assert issubclass(waybill.UnpicklingError, pickle.UnpicklingError)
