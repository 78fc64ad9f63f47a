"""Errors say what is wrong and where; the errors of others pass through."""

import io
import pickle
import sys
import threading
import traceback

import fresh_process
import pytest
import waybill
from refusals import path_of_refused, refused_as
from sources import define, imported

LOCK = threading.Lock()


# ---- Paths to what cannot travel


class Session:
    def __init__(self, lock):
        self._lock = lock


def test_path_from_a_dict_through_a_closure_to_globals_of_an_instance():
    sent = define(
        """
        class Thing:
            pass
        def make(thing):
            def f(): return thing
            return f
        """
    )
    thing = sent.Thing()
    thing.run = define("def run(): return lock", lock=LOCK).run

    path = path_of_refused({"job": [0, sent.make(thing)]})

    assert path == (
        "obj['job'][1].__closure__[0].cell_contents.run"
        ".__globals__['lock'] (_thread.lock)"
    )


def test_path_is_that_of_the_culprit_and_not_of_its_neighbours():
    path = path_of_refused(
        {"fine": [1, 2], "bad": [Session(3), Session(LOCK)], "also": 1}
    )

    assert path == "obj['bad'][1]._lock (_thread.lock)"


@pytest.mark.once
def test_path_of_a_deep_object_is_given():
    value = LOCK
    for _ in range(50_000):
        value = [value]

    assert path_of_refused(value).endswith("(_thread.lock)")


def test_path_with_a_key_whose_repr_fails_or_is_long():
    class Key:
        def __repr__(self):
            raise RuntimeError("no repr")

    assert path_of_refused({Key(): LOCK}).endswith("(_thread.lock)")
    assert len(path_of_refused({"k" * 100_000: LOCK})) < 10_000


def test_path_with_a_key_that_has_no_repr_names_its_type():
    assert path_of_refused({10**5000: LOCK}) == "obj[<int>] (_thread.lock)"


def test_message_tells_why():
    assert path_of_refused([LOCK], match="cannot pickle '_thread.lock' object")


@pytest.mark.parametrize(
    "value",
    [(i for i in ()), sys._getframe(), sys.stdout, threading.local()],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_travel_is_refused(value):
    assert path_of_refused([value]).startswith("obj[0]")


# ---- Causes, and errors that are nobody's business


class Failing:
    def __init__(self, error):
        self.error = error

    def __reduce_ex__(self, protocol):
        raise self.error


def test_error_of_a_reducer_is_the_cause():
    error = ValueError("mine")

    with pytest.raises(waybill.EncodeError) as caught:
        waybill.dumps([Failing(error)])

    assert caught.value.__cause__ is error
    assert "mine" in str(caught.value)
    assert caught.value.path.startswith("obj[0]")


def test_errors_of_one_builtin_kind_are_of_one_class():
    kinds = set()
    for value in LOCK, (i for i in ()), {"a": LOCK}:
        with pytest.raises(TypeError) as caught:
            waybill.dumps(value)
        kinds.add(type(caught.value))

    (kind,) = kinds  # A class for each would be garbage with cycles.
    assert issubclass(kind, waybill.EncodeError)


def test_error_of_getstate_is_the_cause():
    class Bad:
        def __getstate__(self):
            raise KeyError("mine")

    with pytest.raises(waybill.EncodeError) as caught:
        waybill.dumps(Bad())

    assert type(caught.value.__cause__) is KeyError


def test_lock_keeps_the_type_error_as_its_cause():
    with pytest.raises(waybill.EncodeError) as caught:
        waybill.dumps(LOCK)

    assert type(caught.value.__cause__) is TypeError


@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt(), MemoryError(), SystemExit(3), GeneratorExit()],
    ids=repr,
)
def test_error_that_concerns_the_process_passes_through_dumps(error):
    with pytest.raises(type(error)) as caught:
        waybill.dumps([Failing(error)])

    assert caught.value is error


def raise_it(error):
    raise error


class FailsAtLoad:
    def __init__(self, error):
        self.error = error

    def __reduce__(self):
        return raise_it, (self.error,)


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), MemoryError(), SystemExit(3)], ids=repr
)
def test_error_that_concerns_the_process_passes_through_loads(error):
    data = waybill.dumps(FailsAtLoad(error))

    with pytest.raises(type(error)):
        waybill.loads(data)


def test_error_of_what_the_payload_calls_keeps_its_type():
    data = waybill.dumps([FailsAtLoad(ZeroDivisionError("there"))])

    with pytest.raises(ZeroDivisionError, match="there"):
        waybill.loads(data)


def test_recursion_error_of_a_reducer_is_no_crash():
    class Endless:
        def __reduce_ex__(self, protocol):
            return self.__reduce_ex__(protocol)

    with pytest.raises((waybill.EncodeError, RecursionError)):
        waybill.dumps(Endless())


def test_endless_chain_of_reducers_is_an_error_and_no_crash():
    script = """
import waybill
class Endless:
    def __reduce__(self): return Endless, (Endless(),)
try:
    waybill.dumps(Endless())
except waybill.EncodeError as error:
    print("refused" if "without end" in str(error) else error)
"""
    assert fresh_process.run_script(script).strip() == "refused"


# ---- Input


@pytest.mark.parametrize(
    "data", [None, 5, "text", [1], object()], ids=lambda data: type(data).__name__
)
@pytest.mark.parametrize("function", [waybill.loads, waybill.inspect])
def test_input_of_another_type_is_a_type_error(function, data):
    with pytest.raises(TypeError):
        function(data)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_input_may_be_any_contiguous_buffer(kind):
    assert waybill.loads(kind(waybill.dumps([1]))) == [1]


def test_buffer_that_is_not_contiguous_is_refused():
    data = memoryview(bytes(2 * len(waybill.dumps(1))))[::2]

    with pytest.raises(BufferError):
        waybill.loads(data)


def test_trailing_bytes_are_refused_where_they_begin():
    data = waybill.dumps([1])

    with pytest.raises(waybill.DecodeError) as caught:
        waybill.loads(data + b"\0")

    assert (caught.value.code, caught.value.offset) == ("trailing_bytes", len(data))


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "truncated"),
        (waybill.dumps(1)[:-1], "truncated"),
        (pickle.dumps([1]), "not_an_envelope"),
        (b"\0" * 40, "not_an_envelope"),
        (b"\x99\x95\xa2wb\x02" + waybill.dumps(1)[6:], "unknown_format"),
        (waybill.dumps(1)[:-3] + b"\0\0\xc0", "digest_mismatch"),
    ],
    ids=["empty", "cut", "pickle", "zeros", "format 2", "digest"],
)
def test_bad_input_is_named(data, code):
    with refused_as(code) as caught:
        waybill.loads(data)
    assert 0 <= caught.value.offset <= len(data)
    assert f"{code} at byte {caught.value.offset}" in str(caught.value)


def test_nothing_is_imported_by_bad_input():
    payload = waybill.dumps(define("import this\ndef f(): return this").f)
    spoiled = payload[:-3] + bytes([payload[-3] ^ 1]) + payload[-2:]

    answer = fresh_process.execute(
        "try: waybill.loads(data)\n"
        "except waybill.DecodeError as e: answer = e.code, 'this' in sys.modules",
        spoiled,
    )

    assert answer == ("digest_mismatch", False)


def test_missing_module_names_module_chain_and_place(tmp_path):
    file = tmp_path / "job.py"
    with imported("absent_module") as module:
        scope = {"__name__": "nowhere", "alias": module}
        exec(compile("\n\ndef f():\n    return alias.x\n", str(file), "exec"), scope)
        data = waybill.dumps(scope["f"])

    with pytest.raises(waybill.MissingModuleError) as caught:
        waybill.loads(data)

    error = caught.value
    assert (error.code, error.name) == ("missing_module", "absent_module")
    assert isinstance(error, ModuleNotFoundError)
    assert isinstance(error.__cause__, ModuleNotFoundError)
    for part in ("absent_module", "alias", "f", str(file), "4"):
        assert part in str(error)


def test_missing_module_of_a_missing_package_can_be_printed():
    with imported("absent_package"), imported("absent_package.module") as module:
        data = waybill.dumps(module)

    with pytest.raises(
        waybill.MissingModuleError, match="absent_package.module"
    ) as got:
        waybill.loads(data)

    assert got.value.name == "absent_package"
    assert traceback.format_exception(got.value)


def test_missing_module_has_its_code_also_when_it_is_missed_later():
    with imported("absent_module") as module:
        data = waybill.dumps(define("def f(): return alias.x", alias=module).f)

    with pytest.raises(waybill.MissingModuleError) as caught:
        waybill.loads(data, missing="later")()

    assert caught.value.code == "missing_module"


def test_missing_module_stops_before_anything_is_called():
    with imported("module_gone") as module:
        sent = define("def f(): return module_gone", module_gone=module).f
        data = waybill.dumps([FailsAtLoad(ValueError()), sent])

    with pytest.raises(waybill.MissingModuleError):
        waybill.loads(data)


def test_error_of_a_module_that_is_being_imported_is_not_hidden(tmp_path):
    (tmp_path / "broken_module_of_waybill.py").write_text("1 / 0", encoding="utf-8")
    with imported("broken_module_of_waybill") as module:
        data = waybill.dumps(module)

    answer = fresh_process.execute(
        "try: answer = waybill.loads(data)\n"
        "except Exception as e: answer = 'ZeroDivisionError' in (\n"
        "    type(e).__name__, type(e.__cause__).__name__)",
        data,
        path=[tmp_path],
    )

    assert answer is True


def test_missing_global_of_a_module_is_named():
    with imported("module_of_this_test") as module:
        exec("def some_name(): pass", vars(module))
        data = waybill.dumps(module.some_name)
        del module.some_name

        with pytest.raises((waybill.Error, AttributeError), match="some_name"):
            waybill.loads(data)


# ---- Files


def test_dump_writes_what_dumps_gives():
    file = io.BytesIO()

    waybill.dump({"a": 1}, file)

    assert file.getvalue() == waybill.dumps({"a": 1})


def test_all_errors_are_waybill_errors():
    kinds = [
        waybill.EncodeError,
        waybill.DecodeError,
        waybill.PythonMismatchError,
        waybill.MissingModuleError,
    ]

    assert all(issubclass(kind, waybill.Error) for kind in kinds)
