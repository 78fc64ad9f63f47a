"""``loads(data, code="opaque")``: payloads show their data wherever they are loaded."""

import collections
import dataclasses
import enum
import functools
import gc
import inspect
import io
import sys
import types
import weakref

import pytest
import waybill
from python.helpers.other_python import as_of_another_python

LIMIT = 3


class Item:
    """Something that is sold."""

    tax = 0.2

    def __init__(self, name, price):
        self.name = name
        self.price = price

    def total(self, count, /, rate: float = LIMIT, *rest, places, **more) -> float:
        return self.price * count * rate


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: list

    def __hash__(self):
        raise RuntimeError("nobody asks")


class Colour(enum.Enum):
    RED = 1

    def text(self):
        return self.name.lower()


def scaled(value, by=2, *, where="here"):
    return value * by, LIMIT


def counter():
    seen = [0]

    def count(step):
        seen[0] += step
        return count

    return count


def by_value(obj, **options):
    """A payload that has the code of this module in it."""
    return waybill.dumps(obj, by_value=[sys.modules[__name__]], **options)


def foreign(obj, **options):
    """The same, made by another Python."""
    return as_of_another_python(by_value(obj, **options))


def opaque(obj, **options):
    """What another Python sees of it, which has no source."""
    return waybill.loads(foreign(obj), code="opaque", **options)


@pytest.fixture
def gone():
    """A function that sends what it is given as if its module were not here."""
    module = types.ModuleType("gone_for_good")
    module.__spec__ = types.SimpleNamespace(
        name=module.__name__, loader=None, origin=None, submodule_search_locations=None
    )
    module.__file__ = "/nowhere/gone_for_good.py"

    def send(text, expression):
        exec(text, vars(module))
        for value in vars(module).values():
            if getattr(value, "__module__", None) == "builtins":
                value.__module__ = module.__name__
        sys.modules[module.__name__] = module
        data = waybill.dumps(eval(expression, vars(module)))
        del sys.modules[module.__name__]
        return data

    send.module = module
    yield send
    sys.modules.pop(module.__name__, None)


def test_without_the_option_it_is_an_error_as_ever():
    payload = foreign(scaled)
    with pytest.raises(waybill.PythonMismatchError):
        waybill.loads(payload)
    with pytest.raises(waybill.PythonMismatchError):
        waybill.loads(payload, code="run")


def test_a_function_shows_name_signature_and_what_it_holds():
    function = opaque(scaled)
    assert type(function) is waybill.Opaque
    assert function.kind == "function"
    assert function.name == f"{__name__}.scaled"
    assert function.signature == inspect.signature(scaled)
    assert function.__defaults__ == (2,)
    assert function.__kwdefaults__ == {"where": "here"}
    assert function.__globals__["LIMIT"] == LIMIT
    assert function.source is None
    assert "without source" in function.reason
    assert repr(function) == (
        f"<opaque function {__name__}.scaled(value, by=2, *, where='here')>"
    )


def test_signatures_are_those_of_the_real_functions():
    shown, expected = opaque(Item).total.signature, inspect.signature(Item.total)
    if sys.version_info >= (3, 14):  # A function tells annotations, which is opaque.
        bare = [p.replace(annotation=p.empty) for p in expected.parameters.values()]
        expected = inspect.Signature(bare)
    assert shown == expected
    generator = opaque((lambda *a, k=1, **b: 0))
    assert str(generator.signature) == "(*a, k=1, **b)"


def test_source_that_does_not_compile_here_is_shown():
    payload = foreign([scaled, len], source=True)
    whole = waybill.loads(payload, code="opaque")
    assert whole[0](2) == (4, LIMIT)  # It compiles, so it is the real thing.
    text = b"return value * by, LIMIT"
    assert payload.count(text) == 1
    broken = payload.replace(text, b"return value * by LIMIT ")
    broken = as_of_another_python(_sealed(broken))
    function = waybill.loads(broken, code="opaque")[0]
    assert "return value * by LIMIT" in function.source
    assert "does not compile" in function.reason


def _sealed(payload):
    import xxhash

    body = payload[:-11]
    return body + b"\xc4\x08" + xxhash.xxh3_64_digest(body) + b"\xc0"


def test_instances_show_their_fields_and_classes_what_they_have():
    item, same, kind = opaque([i := Item("tea", 3), i, Item])
    assert item is same
    assert item.kind == "instance"
    assert item.name == kind.name == f"{__name__}.Item"
    assert dict(item.fields) == {"name": "tea", "price": 3}
    assert item.price == 3
    assert item.fields["name"] == "tea"  # The property of that name is another's.
    assert kind.tax == 0.2
    assert kind.fields["__doc__"] == "Something that is sold."
    assert kind.total.kind == "function"
    assert item.parts["class"] is kind
    assert dir(item)[-1] == "source" and "price" in dir(item)


def test_opaque_objects_are_keys_and_items_by_identity():
    point = Point(1, [2])
    object.__setattr__(point, "x", 5)
    held = opaque([point, {"at": point}, (point,)])
    assert held[0] is held[1]["at"] is held[2][0]
    assert {held[0]: 1}[held[0]] == 1
    assert held[0].fields == {"x": 5, "y": [2]}


def test_cycles_close():
    item = Item("self", 0)
    item.price = [item]
    shown = opaque(item)
    assert shown.price[0] is shown
    assert repr(shown).startswith("<opaque instance of ")
    count = opaque(counter())
    cells = [cell.cell_contents for cell in count.__closure__]
    assert count in cells and [0] in cells


def test_a_class_that_begins_again_is_one_class():
    class Base:
        def make(self):
            return Child()

    class Child(Base):
        pass

    shown = opaque([Child, Base])
    made = shown[1].make
    assert shown[0].parts["bases"] == [shown[1]]
    found = [*made.__globals__.values(), *(c.cell_contents for c in made.__closure__)]
    assert shown[0] in found


@pytest.mark.parametrize(
    ("obj", "name"),
    [
        (functools.partial(scaled, 1), "functools.partial"),
        (Colour.RED, f"{__name__}.Colour"),
        (functools.lru_cache(scaled), "functools._lru_cache_wrapper"),
        (property(scaled), "builtins.property"),
        (Item("x", 1).total, "builtins.method"),
    ],
    ids=["partial", "member", "cached", "property", "method"],
)
def test_what_would_be_made_of_something_opaque_is_opaque(obj, name):
    shown = opaque([obj])[0]
    assert type(shown) is waybill.Opaque
    if not isinstance(obj, types.MethodType):
        assert shown.name == name


def test_data_around_it_is_as_it_was():
    held = collections.OrderedDict(a=[scaled], b=collections.deque([1]), c={1.5, None})
    shown = opaque(held)
    assert type(shown) is collections.OrderedDict
    assert shown["a"][0].kind == "function"
    assert shown["b"] == held["b"] and shown["c"] == held["c"]


def test_instances_of_classes_that_are_not_here(gone):
    text = """
class Plain:
    def __init__(self):
        self.value = [1, self]
class Pair(tuple): pass
class Row(list): pass
class Slots:
    __slots__ = "a", "b"
    def __init__(self):
        self.a = 1
class Wrong(Exception): pass
def helper(): pass
"""
    expression = "[Plain(), Pair((1, 2)), Row([3]), Slots(), Wrong('w'), helper, Plain]"
    data = gone(text, expression)
    with pytest.raises(waybill.MissingModuleError):
        waybill.loads(data)
    plain, pair, row, slots, wrong, helper, kind = waybill.loads(data, code="opaque")
    assert plain.name == "gone_for_good.Plain" and plain.value == [1, plain]
    assert "gone_for_good" in plain.reason
    assert pair.parts["args"] == [(1, 2)]
    assert row.parts["items"] == [3]
    assert slots.a == 1
    assert wrong.name == "gone_for_good.Wrong" and wrong.args == ("w",)
    assert (helper.kind, helper.name) == ("name", "gone_for_good.helper")
    assert plain.parts["class"] is kind


def test_code_of_this_python_is_built_as_ever(gone):
    data = gone("class Plain: pass", "Plain()")
    held = waybill.loads(waybill.dumps([scaled, data]), code="opaque")
    assert held[0](2) == (4, LIMIT)


def test_constructors_that_fail_leave_what_they_were_given():
    class Strict:
        def __init__(self, value):
            self.value = value

        def __reduce__(self):
            return _refuses, (self.value,), {"seen": 1}

    shown = waybill.loads(waybill.dumps([Strict(5), 6]), code="opaque")
    assert shown[0].parts["args"] == [5] and shown[0].seen == 1
    assert shown[0].reason == "ValueError: never 5"
    assert shown[1] == 6


def _refuses(value):
    raise ValueError(f"never {value}")


def test_states_that_are_not_taken_are_shown():
    shown = waybill.loads(waybill.dumps([TakesNothing(7)]), code="opaque")[0]
    assert type(shown) is waybill.Opaque
    assert shown.fields == {"value": 7}
    assert shown.name == f"{__name__}.TakesNothing"
    assert "takes nothing" in shown.reason


class TakesNothing:
    def __init__(self, value):
        self.value = value

    def __setstate__(self, state):
        raise LookupError("takes nothing")


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, SystemExit])
def test_errors_of_the_process_are_no_reason(error):
    with pytest.raises(error):
        waybill.loads(waybill.dumps(Raises(error)), code="opaque")


class Raises:
    def __init__(self, error):
        self.error = error

    def __reduce__(self):
        return _raise, (self.error,)


def _raise(error):
    raise error()


def test_unsound_payloads_are_errors_as_ever():
    payload = foreign(scaled)
    for bad in (payload[:-1], payload + b"x", payload[:20] + b"\xc1" + payload[21:]):
        with pytest.raises(waybill.DecodeError):
            waybill.loads(bad, code="opaque")


def test_policies_hold_as_ever():
    payload = foreign(scaled)
    with pytest.raises(waybill.PolicyError):
        waybill.loads(payload, code="opaque", policy=waybill.DATA_ONLY)
    call = waybill.dumps(Raises(ValueError))
    with pytest.raises(waybill.PolicyError):
        waybill.loads(call, code="opaque", policy=waybill.DATA_ONLY)


def test_it_is_inert_and_read_only():
    function, item = opaque([scaled, Item("tea", 3)])
    with pytest.raises(TypeError, match="cannot be called here: PythonMismatchError"):
        function(1)
    for change in (
        lambda: setattr(item, "price", 4),
        lambda: delattr(item, "price"),
        lambda: item.fields.update(price=4),
        lambda: item.missing,
    ):
        with pytest.raises(AttributeError):
            change()
    with pytest.raises(TypeError, match="come from loads"):
        waybill.Opaque()


def test_sent_on_it_is_the_real_thing_where_that_can_be_built(gone):
    data = gone("class Plain:\n    pass", "[p := Plain(), p, Plain, 'data']")
    first, second, kind, _ = waybill.loads(data, code="opaque")
    sent = waybill.dumps({"first": first, "second": second, "kind": kind})
    there = waybill.loads(sent)
    assert there["first"] is there["second"]  # Still not here.
    assert there["first"].name == "gone_for_good.Plain"
    twice = waybill.dumps(there)
    sys.modules["gone_for_good"] = gone.module
    home = waybill.loads(twice)
    assert type(home["first"]) is home["kind"] is gone.module.Plain
    assert home["first"] is home["second"]


def test_a_function_of_another_python_comes_home_as_it_was():
    shown = opaque([scaled, counter()])
    sent = waybill.dumps(shown)
    # The payload inside, as the Python that made it has it.
    inner = foreign([scaled, counter()])
    assert sent.count(inner) == 1
    home = waybill.loads(_with_own_code(sent, inner))
    assert home[0](2) == (4, LIMIT)
    assert home[1](1) is home[1]


def _with_own_code(sent, inner):
    own = by_value([scaled, counter()])
    assert len(own) == len(inner)
    return _sealed(sent.replace(inner, own))


def test_copies_and_pickles():
    import copy
    import pickle

    item = opaque(Item("tea", 3))
    assert copy.copy(item) is copy.deepcopy(item) is item
    assert pickle.loads(pickle.dumps(item)).price == 3


def test_files_and_mapped_files_and_parts(tmp_path):
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(50_000, dtype="f8")
    held = {"array": array, "item": TakesNothing(8), "data": [1]}
    path = tmp_path / "run.waybill"
    waybill.save(held, path)
    for options in ({}, {"mmap": True}):
        shown = waybill.load(path, code="opaque", **options)
        assert shown["item"].fields == {"value": 8}
        assert (shown["array"] == array).all()
        again = waybill.loads(waybill.dumps(shown["item"]))
        assert again.fields == {"value": 8}
    with waybill.open(path, code="opaque") as file:
        shown = file["item"].load()
        assert shown.fields == {"value": 8}
        assert waybill.loads(waybill.dumps(shown)).fields == {"value": 8}


def test_objects_of_streams_say_why_they_cannot_be_sent_on():
    file = io.BytesIO()
    pickler = waybill.Pickler(file)
    pickler.dump(TakesNothing(1))
    pickler.dump(TakesNothing(2))
    file.seek(0)
    unpickler = waybill.Unpickler(file, code="opaque")
    shown = [unpickler.load(), unpickler.load()]
    assert [one.value for one in shown] == [1, 2]
    with pytest.raises(waybill.EncodeError, match="load the payload from its bytes"):
        waybill.dumps(shown)


def test_it_is_an_option_of_the_process():
    payload = foreign(scaled)
    waybill.configure(code="opaque")
    try:
        assert waybill.loads(payload).kind == "function"
        with pytest.raises(waybill.PythonMismatchError):
            waybill.loads(payload, code="run")
    finally:
        waybill.configure(code=None)
    with pytest.raises(ValueError, match='code should be "run" or "opaque"'):
        waybill.loads(payload, code="run it")


def test_nothing_stays_when_it_is_dropped():
    shown = opaque([i := Item("tea", 3), i.total])
    watched = weakref.ref(shown[0])
    sent = waybill.dumps(shown)
    again = weakref.ref(waybill.loads(sent)[0])
    shown.clear()
    gc.collect()
    assert watched() is None and again() is None
