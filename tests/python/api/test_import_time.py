"""`import waybill` loads little; what it leaves for later is there when it is needed.

The programs run in processes that have loaded nothing else, not even `site`.
"""

from __future__ import annotations

import sys
import typing
from pathlib import Path

import fresh_process
import pytest
import waybill
from waybill._api import lazy, named_tuples

SITE = Path(waybill.__file__).parents[1]
#: What takes longer than all of waybill, or loads what does.
HEAVY = {
    *("argparse", "ast", "_ast", "collections", "contextlib", "dataclasses", "enum"),
    *("functools", "inspect", "json", "logging", "pickle", "_pickle", "re"),
    *("tokenize", "typing", "weakref"),
}
SETTING = f"""
import sys
before = set(sys.modules)
sys.path.insert(0, {str(SITE)!r})
import waybill
"""


def run(program):
    return fresh_process.run_script(SETTING + program, flags=["-I", "-S"])


def test_import_loads_nothing_that_takes_long():
    loaded = run("print(*set(sys.modules) - before)").split()

    assert "waybill._core" in loaded
    assert not HEAVY & set(loaded)


def test_function_travels_without_what_takes_long():
    answer, *loaded = run("""
arrived = waybill.loads(waybill.dumps(lambda x: x + 1))
print(arrived(41), *set(sys.modules) - before)
""").split()

    assert answer == "42"
    assert not {"_pickle", "typing", "collections"} & set(loaded)


def test_errors_of_the_extension_are_pickles_where_nobody_has_imported_pickle():
    kinds = run("""
raised = []
for step in (
    lambda: waybill.dumps(i for i in ()),
    lambda: waybill.loads(b""),
    lambda: waybill.loads(b"", policy=waybill.DATA_ONLY),
    lambda: waybill.loads(waybill.dumps(print), policy=waybill.DATA_ONLY),
):
    try: step()
    except Exception as error: raised.append(error)
assert "pickle" not in sys.modules
import pickle
assert isinstance(raised[0], pickle.PicklingError)
assert all(isinstance(error, pickle.UnpicklingError) for error in raised[1:])
print(*(type(error).__name__ for error in raised))
""")

    assert kinds.split() == ["EncodeError", "DecodeError", "DecodeError", "PolicyError"]


def test_what_code_of_a_payload_raises_first_is_what_arrives():
    run("""
class Sent(Exception): pass
def fail(): raise Sent("there")
class Failing:
    def __reduce__(self): return fail, ()
class Refusing:
    def __reduce__(self): raise Sent("here")
try: waybill.loads(waybill.dumps([Failing()]))
except Exception as error:
    assert type(error).__name__ == "Sent", error
    assert "was being built" in error.__notes__[0]
try: waybill.dumps([Refusing()])
except Sent as error:
    assert isinstance(error, waybill.EncodeError) and error.path.startswith("obj[0]")
""")


def test_module_that_is_missing_is_told_or_stood_in_for():
    run("""
import types
module = types.ModuleType("gone")
module.__spec__ = types.SimpleNamespace(name="gone")
sys.modules["gone"] = module
gone = module
data = waybill.dumps(lambda: gone.name)
del sys.modules["gone"]
try: waybill.loads(data)
except ModuleNotFoundError as error:
    assert error.name == "gone" and type(error) is waybill.MissingModuleError
else: raise AssertionError("it was found")
assert callable(waybill.loads(data, missing="later"))
""")


@pytest.mark.parametrize("name", sorted(lazy.NAMES))
def test_late_name_is_one_object_for_threads_that_ask_at_once(name):
    run(f"""
import threading
gate = threading.Barrier(4)
found = []
def ask():
    gate.wait()
    found.append(getattr(waybill, {name!r}))
threads = [threading.Thread(target=ask) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(found) == 4 and len(set(map(id, found))) == 1
assert found[0] is waybill.{name} is vars(waybill)[{name!r}]
""")


def test_threads_that_fail_at_once_raise_one_class():
    run("""
import threading
gate = threading.Barrier(4)
found = set()
def fail():
    gate.wait()
    try: waybill.loads(b"")
    except Exception as error: found.add(type(error))
threads = [threading.Thread(target=fail) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert found == {waybill.DecodeError}, found
""")


def test_package_lists_and_exports_what_it_has_not_made():
    run("""
assert set(waybill.__all__) <= set(dir(waybill))
scope = {}
exec("from waybill import *", scope)
assert scope["EncodeError"] is waybill.PicklingError is waybill.EncodeError
assert scope["DecodeError"] is waybill.UnpicklingError is waybill.DecodeError
""")


def test_name_that_the_package_has_not_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'waybill' has no attribute 'nothing'"):
        waybill.nothing
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from waybill import nothing


def test_errors_are_pickled_by_name_and_found_where_they_were_not_made():
    answer = run("""
import pickle
error = waybill.DecodeError("why")
print(pickle.dumps((error, waybill.pickled)).hex())
""")

    found = run(f"""
import pickle
error, pickled = pickle.loads(bytes.fromhex({answer.strip()!r}))
assert type(error) is waybill.DecodeError and pickled is waybill.pickled
print(str(error))
""")
    assert found.strip() == "why"


def test_errors_are_made_for_a_package_that_sys_modules_has_lost():
    run(f"""
sys.path.remove({str(SITE)!r})
for name in list(sys.modules):
    if name.partition(".")[0] == "waybill": del sys.modules[name]
try: waybill.loads(b"")
except Exception as error: assert type(error) is waybill.DecodeError
else: raise AssertionError("nothing was loaded")
assert waybill.Error is waybill.DecodeError.__base__
assert not any(name.startswith("waybill") for name in sys.modules)
""")


def test_errors_stay_the_same_for_a_package_that_is_imported_anew():
    run("""
old = waybill
early = old.DecodeError
for name in list(sys.modules):
    if name.partition(".")[0] == "waybill": del sys.modules[name]
import waybill
assert waybill is not old
for package, kind in ((old, early), (waybill, waybill.DecodeError)):
    try: package.loads(b"")
    except Exception as error: assert type(error) is kind
    else: raise AssertionError("nothing was loaded")
assert early is old.DecodeError is not waybill.DecodeError
""")


class Made(named_tuples.NamedTuple):
    """A record."""

    first: int
    second: str = "two"

    def both(self):
        return self.first, self.second


class Expected(typing.NamedTuple):
    """A record."""

    first: int
    second: str = "two"

    def both(self):
        return self.first, self.second


@pytest.mark.parametrize(
    "look",
    [
        lambda kind: (kind(1), kind(1, "b"), kind(second="b", first=1)),
        lambda kind: (kind(1).both(), kind(1).first, kind(1)[1], *kind(2)),
        lambda kind: repr(kind(1)).replace(kind.__name__, ""),
        lambda kind: kind._make([3, "c"]),
        lambda kind: kind(1)._replace(second="d"),
        lambda kind: kind(1)._asdict(),
        lambda kind: kind(1).__reduce_ex__(4)[1][1:],
        lambda kind: (kind._fields, kind._field_defaults, kind.__match_args__),
        lambda kind: (kind.__doc__, kind.__mro__[1:], type(kind), kind.__slots__),
        lambda kind: (kind.first.__doc__, kind.__new__.__defaults__),
        lambda kind: set(typing.get_type_hints(kind).items()),
        lambda kind: (kind(1) == (1, "two"), hash(kind(1)), hasattr(kind(1), "x")),
    ],
)
def test_record_is_what_a_named_tuple_is(look):
    assert look(Made) == look(Expected)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda kind: kind(),
        lambda kind: kind(1, 2, 3),
        lambda kind: kind(third=3),
        lambda kind: kind._make([1]),
        lambda kind: setattr(kind(1), "first", 2),
    ],
)
def test_record_refuses_what_a_named_tuple_refuses(wrong):
    with pytest.raises((TypeError, AttributeError)) as expected:
        wrong(Expected)

    with pytest.raises(expected.type) as raised:
        wrong(Made)
    assert str(raised.value).replace("Made", "Expected") == str(expected.value)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters are 3.12's")
@pytest.mark.parametrize(
    "source",
    [
        "def f[T](x: T = 1) -> T: return x",
        "def f[T, **P, *Ts](): return 1",
        "def f[T: int](): return 1",
        "class f[T]: pass",
        "type f[T] = list[T]",
    ],
)
def test_type_parameters_travel_where_nobody_has_imported_typing(source):
    received = run(f"""
scope = {{"__name__": "__main__"}}
exec({source!r}, scope)
arrived = waybill.loads(waybill.dumps(scope["f"]))
print(arrived.__name__, *arrived.__type_params__)
""")

    exec(source, scope := {})
    expected = scope["f"]
    assert received.split() == ["f", *map(str, expected.__type_params__)]


def test_abstract_classes_travel_by_name_where_nobody_has_imported_collections():
    answer = run("""
import _collections_abc
sent = _collections_abc.Sequence, lambda x: isinstance(x, _collections_abc.Mapping)
data = waybill.dumps(sent)
assert "collections.abc" not in sys.modules
arrived = waybill.loads(data)
print(arrived[0] is sent[0], arrived[1]({}), len(data) < 1000)
""")

    assert answer.split() == ["True", "True", "True"]
