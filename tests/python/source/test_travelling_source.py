"""Source that travels beside code: when it does, what it changes, and what a Python
makes of it that cannot run the code."""

import dataclasses
import functools
import gc
import inspect
import linecache
import sys
import traceback
import typing
import weakref

import fresh_process
import pytest
import waybill
from other_python import as_of_another_python
from waybill._classes.identity import TRACKER
from waybill.calls import dumps_call, loads_outcome, run_call

FACTOR = 3


def helper(x):
    return x * FACTOR  # A comment that travels.


def task(x, *, y=2):
    """What it does."""
    return helper(x) + y


def closure_of(a, b):
    def inner(c):
        return a + b * c

    return inner


class Model:
    """Text that
    is indented."""

    weight = 2

    def __init__(self, bias: int = 1):
        self.__bias = bias

    def predict(self, x) -> "int":
        return helper(x) * self.weight + self.__bias

    @property
    def bias(self):
        return self.__bias

    @classmethod
    def default(cls):
        return cls()


class Derived(Model):
    def predict(self, x):
        return super().predict(x) + 100


@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: list = dataclasses.field(default_factory=list)

    def total(self):
        return self.x + sum(self.y)


def without_source():
    scope = {"__name__": __name__}
    exec("def lost(x): return x + 1", scope)
    return scope["lost"]


@pytest.fixture(autouse=True)
def by_value():
    waybill.register_pickle_by_value(sys.modules[__name__])
    yield
    waybill.unregister_pickle_by_value(sys.modules[__name__])


def arrived(obj, **options):
    """The object as another Python gets it."""
    return waybill.loads(
        as_of_another_python(waybill.dumps(obj, source=True)), **options
    )


# ---- What is sent


def test_no_source_travels_unless_it_is_asked_for():
    assert b"A comment that travels" not in waybill.dumps(helper)
    assert waybill.dumps(helper, source=False) == waybill.dumps(helper)
    assert b"A comment that travels" in waybill.dumps(helper, source="auto")


def test_source_true_and_auto_are_the_same_where_all_is_proven():
    for obj in (task, closure_of(1, 2), Model, Model(4), Point(1)):
        assert waybill.dumps(obj, source=True) == waybill.dumps(obj, source="auto")


def test_source_true_names_a_function_without():
    with pytest.raises(waybill.EncodeError, match="has no source") as caught:
        waybill.dumps({"key": [without_source()]}, source=True)

    assert caught.value.path == "obj['key'][0]"


def test_auto_sends_what_has_no_source_without():
    assert waybill.loads(waybill.dumps(without_source(), source="auto"))(1) == 2


@pytest.mark.parametrize("value", ["yes", 1, 2.0, "", [], b"auto"])
def test_another_value_of_source_is_refused(value):
    with pytest.raises(ValueError, match="source should be"):
        waybill.dumps(task, source=value)


def test_a_process_can_ask_for_source_once():
    plain, told = waybill.dumps(task), waybill.dumps(task, source=True)
    waybill.configure(source="auto")
    try:
        assert waybill.dumps(task) == told
        assert waybill.dumps(task, source=False) == plain
    finally:
        waybill.configure(source=None)
    assert waybill.dumps(task) == plain


@pytest.mark.parametrize("source", [False, "auto", True, None, "".join("auto")])
def test_payloads_are_equal_however_source_is_asked_for(source):
    plain = waybill.dumps(Model())
    whole = waybill.dumps(Model(), source=source, application=None)  # Python's way.
    assert waybill.dumps(Model(), source=source) == whole
    assert waybill.dumps(Model(), 5, source=source) == whole
    assert waybill.dumps(Model(), protocol=5, source=source) == whole
    waybill.configure(source=source)
    try:
        assert waybill.dumps(Model()) == whole
        assert waybill.dumps(Model(), source=None) == whole
        assert waybill.dumps(Model(), source=False) == plain
        assert waybill.loads(whole).predict(1) == 7
    finally:
        waybill.configure(source=None)


def test_prepared_calls_and_picklers_take_source():
    import io

    prepared = waybill.prepare(task, source=True)
    file = io.BytesIO()
    waybill.Pickler(file, source=True).dump(task)

    assert prepared.dumps(2) == dumps_call(task, (2,), source=True)
    assert file.getvalue() == waybill.dumps(task, source=True)


@pytest.mark.parametrize("caches", [True, False])
def test_repetitions_give_equal_payloads_with_source_and_without(caches):
    waybill.configure(caches=caches)
    try:
        for obj in (task, Model, (task, Model(1), Point(2))):
            plain, told = waybill.dumps(obj), waybill.dumps(obj, source="auto")
            for _ in range(4):
                assert waybill.dumps(obj) == plain
                assert waybill.dumps(obj, source="auto") == told
                assert waybill.dumps(obj, source=True) == told
    finally:
        waybill.configure(caches=None)


def test_source_that_appears_later_is_sent_then():
    scope = {"__name__": __name__}
    name = "<a cell of a notebook>"
    text = "def late(x):\n    return x + 1  # Found later.\n"
    exec(compile(text, name, "exec"), scope)
    for _ in range(3):
        assert b"Found later" not in waybill.dumps(scope["late"], source="auto")

    linecache.cache[name] = len(text), None, text.splitlines(True), name
    try:
        assert b"Found later" in waybill.dumps(scope["late"], source="auto")
    finally:
        del linecache.cache[name]


def test_source_changes_neither_fingerprints_nor_ids():
    before = waybill.fingerprint(Model)
    waybill.dumps(Model, source=True)

    assert waybill.fingerprint(Model) == before
    assert waybill.loads(waybill.dumps(Model, source=True)) is waybill.loads(
        waybill.dumps(Model)
    )


def test_a_payload_with_source_means_the_same_here():
    same = waybill.loads(waybill.dumps((task, closure_of(1, 2)), source=True))

    assert same[0](2) == task(2) and same[1](3) == 7
    assert same[0].__code__ == task.__code__


# ---- What another Python gets


def test_functions_arrive_from_their_source():
    assert arrived(task)(2, y=5) == 11
    assert arrived(task).__doc__ == task.__doc__
    assert arrived(closure_of(1, 2))(3) == 7
    assert arrived(lambda x: x + FACTOR)(1) == 4
    assert inspect.signature(arrived(task)) == inspect.signature(task)


def test_cells_are_matched_by_name():
    def shared():
        count = 0

        def increase():
            nonlocal count
            count += 1

        def tell():
            return count

        return increase, tell

    increase, tell = arrived(shared())
    increase()
    increase()
    assert tell() == 2


def test_classes_arrive_from_their_source():
    source_of_new_class = type("Fresh", (Derived,), {"__module__": __name__})
    cls = arrived(source_of_new_class)

    assert cls(5).predict(1) == 3 * 2 + 5 + 100
    assert cls.default().bias == 1


def test_a_decorated_function_keeps_what_is_around_it():
    def twice(function):
        @functools.wraps(function)
        def around(*args):
            return function(*args) * 2

        return around

    @twice
    def one(x):
        return x

    assert arrived(one)(4) == 8
    assert arrived(one).__name__ == "one"


def test_annotations_arrive_evaluated():
    def annotated(a: int, *, b: "Unknown" = None) -> typing.List[str]:  # noqa: F821,UP006
        return a

    assert arrived(annotated).__annotations__ == {
        "a": int,
        "b": "Unknown",
        "return": typing.List[str],  # noqa: UP006
    }


def test_tracebacks_of_what_arrived_show_its_lines(tmp_path):
    file = tmp_path / "gone.py"
    file.write_text("def fail():\n    raise ValueError('here')  # This line.\n")
    scope = {"__name__": __name__}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    payload = as_of_another_python(waybill.dumps(scope["fail"], source=True))
    file.unlink()
    linecache.clearcache()

    function = waybill.loads(payload)

    with pytest.raises(ValueError) as caught:
        function()
    assert "# This line." in "".join(traceback.format_exception(caught.value))
    assert "# This line." in inspect.getsource(function)


def test_what_has_no_source_is_refused_before_anything_is_built():
    built = []

    class Noisy:
        def __reduce__(self):
            return built.append, (1,)

    payload = waybill.dumps([Noisy(), task, without_source()], source="auto")

    with pytest.raises(waybill.PythonMismatchError) as caught:
        waybill.loads(as_of_another_python(payload))
    assert "the function lost" in str(caught.value)
    assert 'source="auto"' in str(caught.value)
    assert caught.value.code == "python_mismatch"
    assert not built


def test_syntax_that_is_newer_is_refused_before_anything_is_imported():
    payload = waybill.dumps(task, source=True)
    newer = payload.replace(b"return helper(x) + y", b"return helper(x) $ y")
    assert newer != payload

    with pytest.raises(waybill.PythonMismatchError, match="does not compile") as caught:
        waybill.loads(as_of_another_python(newer))
    assert f"{__file__}:{task.__code__.co_firstlineno + 2}" in str(caught.value)


def test_source_with_another_signature_is_refused():
    payload = waybill.dumps(task, source=True)
    other = payload.replace(b"def task(x, *, y=2)", b"def task(x, *, z=2)")

    with pytest.raises(waybill.PythonMismatchError, match="another signature"):
        waybill.loads(as_of_another_python(other))


def test_data_only_compiles_nothing():
    payload = as_of_another_python(waybill.dumps(task, source=True))

    with pytest.raises(waybill.PolicyError):
        waybill.loads(payload, policy=waybill.DATA_ONLY)


def test_a_cut_or_altered_text_is_an_error_and_no_crash():
    payload = waybill.dumps((task, helper, Model), source=True)
    at = payload.index(b"zstd") if b"zstd" in payload else len(payload) - 200
    for i in range(at, len(payload) - 12):
        changed = bytearray(payload)
        changed[i] ^= 0x15
        try:
            waybill.loads(as_of_another_python(bytes(changed)))
        except (waybill.DecodeError, SyntaxError):
            pass


# ---- What travels on


def test_what_came_as_source_travels_on_with_it():
    function = arrived(task)
    back = as_of_another_python(waybill.dumps(function))

    assert waybill.loads(back)(2) == task(2)


def test_a_call_of_another_python_is_made_and_its_outcome_comes_back():
    call = as_of_another_python(dumps_call(task, (4,), source=True))

    assert loads_outcome(run_call(call)) == task(4)


def test_a_class_comes_home_from_another_python():
    there = waybill.loads(as_of_another_python(waybill.dumps(Model(3), source=True)))

    assert type(there) is Model


def test_classes_of_two_pythons_with_one_source_are_one():
    def made():
        class Same:
            def double(self, x):
                return x * 2

        return Same

    first = made()
    payload = waybill.dumps(first, source=True)
    own_id, source_id = TRACKER.id_of(first), TRACKER.source_id_of(first, True)
    other_id = bytes(b ^ 0xFF for b in own_id)
    del first
    gc.collect()

    one = waybill.loads(as_of_another_python(payload))
    two = waybill.loads(as_of_another_python(payload.replace(own_id, other_id)))

    assert one is two
    assert TRACKER.id_of(one) == own_id
    assert TRACKER.source_id_of(one, False) == source_id


def test_a_received_class_tells_its_source_id_to_all():
    def made():
        class Passing:
            def method(self):
                return 1

        return Passing

    cls = made()
    payload, own_id = waybill.dumps(cls, source=True), TRACKER.id_of(cls)
    source_id = TRACKER.source_id_of(cls, True)
    assert source_id not in waybill.dumps(cls)
    del cls
    gc.collect()

    got = waybill.loads(as_of_another_python(payload))

    assert TRACKER.id_of(got) == own_id
    assert source_id in waybill.dumps(got)


@pytest.mark.skipif(sys.version_info < (3, 13), reason="classes have no line")
def test_a_class_that_came_with_source_knows_its_line():
    line = Model.__firstlineno__
    plain = waybill.dumps(Model)
    assert waybill.dumps(Model, source=False) == plain
    Model.__firstlineno__ = line + 1
    try:
        # Equal classes are equal wherever they stand.
        assert waybill.dumps(Model) == plain
        told = waybill.dumps(Model, source=True)
    finally:
        Model.__firstlineno__ = line
    assert told != waybill.dumps(Model, source=True)
    lines = fresh_process.run_script(
        "import sys, waybill\n"
        "for data in sys.argv[1:]:\n"
        "    print(vars(waybill.loads(bytes.fromhex(data))).get('__firstlineno__'))\n"
        "    waybill.forget_classes()",
        plain.hex(),
        told.hex(),
    )
    assert lines.split() == ["None", str(line + 1)]


def test_source_ids_die_with_their_classes():
    def made():
        class Short:
            def method(self):
                return 2

        return Short

    cls = made()
    waybill.dumps(cls, source=True)
    source_id, watch = TRACKER.source_id_of(cls, True), weakref.ref(cls)
    assert TRACKER.find_by_source_id(source_id) == TRACKER.id_of(cls)
    del cls
    gc.collect()

    assert watch() is None
    assert TRACKER.find_by_source_id(source_id) is None


def test_twins_have_source_ids_of_their_own():
    def made():
        class Twin:
            def method(self):
                return 3

        return Twin

    one, two = made(), made()
    payload = waybill.dumps((one, two), source=True)

    assert TRACKER.source_id_of(one, True) != TRACKER.source_id_of(two, True)
    first, second = waybill.loads(as_of_another_python(payload))
    assert (first, second) == (one, two)


def test_dataclasses_are_written_anew():
    @dataclasses.dataclass(frozen=True, order=True)
    class Frozen:
        a: int
        b: str = "b"
        c: list = dataclasses.field(default_factory=list, compare=False)

    payload = as_of_another_python(waybill.dumps(Frozen(1), source=True))
    reference = repr(Frozen(1)).replace("test_dataclasses_are_written_anew.", "")
    del Frozen
    gc.collect()

    value = waybill.loads(payload)

    assert repr(value).replace("test_dataclasses_are_written_anew.", "") == reference
    assert value == type(value)(1) < type(value)(2)
    assert hash(value) == hash(type(value)(1))
    assert dataclasses.asdict(value) == {"a": 1, "b": "b", "c": []}
    assert dataclasses.replace(value, a=5).a == 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.a = 2
