"""Policies are asked before anything is imported, and again at every lookup."""

import collections
import datetime
import decimal
import io
import json
import pickle

import fresh_process
import pytest
import waybill
from mutation_worker import sealed
from policy_payloads import Reduced, refused, round_trip_under
from waybill import DATA_ONLY
from waybill.security import INSTALLED_CODE, STANDARD_TYPES, Policy


def test_data_only_lets_in_all_builtin_data():
    data = {
        "numbers": [0, -1, 2**80, -(2**64), 1.5, 2j, True, None],
        "text": ["", "é", "\ud800", b"", b"x" * 100, bytearray(b"y")],
        (1, ("a", frozenset({2}))): {3, 4.5, "z"},
        "rest": [..., NotImplemented, range(1, 9, 2), slice(1, None, 2), ()],
    }
    data["self"] = data

    arrived = round_trip_under(data, DATA_ONLY)

    assert arrived.pop("self") is arrived
    del data["self"]
    assert arrived == data


def add_one(x):
    return x + 1


@pytest.mark.parametrize(
    "obj",
    [
        lambda: 1,
        add_one,
        int,
        json.loads,
        json,
        Reduced(print, ("called",)),
        datetime.date(2020, 1, 1),
        ValueError("x"),
        type("Local", (), {}),
        object(),
        (lambda: 1).__code__,
        [collections.OrderedDict()],
    ],
    ids=lambda obj: type(obj).__name__,
)
def test_data_only_refuses_all_else(obj):
    refused(obj, DATA_ONLY)


def test_data_only_refuses_the_same_in_a_process_that_has_imported_nothing():
    program = """
events = []
sys.addaudithook(lambda event, arguments: events.append((event, str(arguments)[:80])))
def attempt():
    try:
        waybill.loads(data, policy=waybill.DATA_ONLY)
    except waybill.PolicyError as error:
        return str(error)
attempt()
del events[:]
words = attempt()
answer = words, events[:], "decimal" in sys.modules
"""
    words, events, is_imported = fresh_process.execute(
        program, waybill.dumps(decimal.Decimal(1))
    )

    assert "import of decimal" in words
    assert events == []
    assert not is_imported


def test_refusal_names_what_needs_the_import():
    def task():
        return json.loads("1")

    words = refused(task, Policy("deny import json\nallow call *\nallow code"))

    assert "import of json, which the policy denies: deny import json" in words
    assert "(for json in test_refusal" in words


def test_standard_types_refuse_other_callables():
    assert "call of builtins:print" in refused(
        Reduced(print, ("called",)), STANDARD_TYPES
    )
    assert "code by value" in refused(lambda: 1, STANDARD_TYPES)


def test_installed_code_lets_no_code_in():
    assert round_trip_under(Reduced(int, ("7",)), INSTALLED_CODE) == 7
    assert "code by value" in refused(lambda: 1, INSTALLED_CODE)


def test_call_is_refused_where_only_the_lookup_is_allowed():
    policy = Policy("allow lookup builtins")

    assert round_trip_under(int, policy) is int
    assert "call of builtins:int" in refused(Reduced(int, ("7",)), policy)


def test_function_by_value_needs_code_and_its_imports():
    def task():
        return json.loads("[1]")

    assert round_trip_under(task, Policy("allow code\nallow import json"))() == [1]
    assert "import of json" in refused(task, Policy("allow code"))


def test_lazy_import_is_for_neither_policies_nor_find_class():
    lazy = b"\x93\xd4\x00\x0c\xa2os\xa6system"

    class Unpickler(waybill.Unpickler):
        def find_class(self, module, name):
            raise AssertionError("not asked")

    with pytest.raises(waybill.PolicyError, match="a lazy import"):
        waybill.loads(sealed(lazy), policy=Policy("allow call *"))
    with pytest.raises(waybill.PolicyError, match="a lazy import"):
        Unpickler(io.BytesIO(sealed(lazy))).load()


def test_policies_that_let_no_code_in_go_with_strict_limits():
    deep = []
    for _ in range(600):
        deep = [deep]
    data = waybill.dumps(deep)

    for policy in DATA_ONLY, STANDARD_TYPES, INSTALLED_CODE:
        with pytest.raises(waybill.DecodeError, match="max_depth allows: 512"):
            waybill.loads(data, policy=policy)
    waybill.loads(data, policy=Policy("allow code"))


def test_what_came_before_makes_no_difference():
    def task():
        return 1

    data = waybill.dumps(task)
    for _ in range(5):
        waybill.loads(data)

    with pytest.raises(waybill.PolicyError):
        waybill.loads(data, policy=DATA_ONLY)


def test_unpickler_asks_for_each_payload():
    file = io.BytesIO(waybill.dumps([1]) + waybill.dumps(json))
    unpickler = waybill.Unpickler(file, policy=DATA_ONLY)

    assert unpickler.load() == [1]
    with pytest.raises(waybill.PolicyError):
        unpickler.load()


def test_unpickler_of_data_shares_objects_between_payloads():
    file = io.BytesIO()
    pickler, shared = waybill.Pickler(file), [1]
    pickler.dump(shared)
    pickler.dump([shared])
    file.seek(0)
    unpickler = waybill.Unpickler(file, policy=DATA_ONLY)

    first, second = unpickler.load(), unpickler.load()

    assert second[0] is first


def test_load_and_loads_take_the_same_options(tmp_path):
    path = tmp_path / "payload"
    path.write_bytes(waybill.dumps(json))

    with path.open("rb") as file, pytest.raises(waybill.PolicyError):
        waybill.load(file, policy=DATA_ONLY)


def test_verdict_carries_the_rule():
    policy = Policy("# mine\nallow call json.*\ndeny import os")

    assert policy.ask("call", "json", "loads") == (True, "allow call json.*")
    assert policy.ask("import", "os") == waybill.security.Verdict(
        False, "deny import os"
    )
    assert policy.ask("code") == (False, None)


def test_text_that_is_no_policy_is_a_value_error():
    with pytest.raises(ValueError, match='not a rule: "permit all"'):
        Policy("allow code\npermit all")
    with pytest.raises(TypeError):
        Policy(7)
    with pytest.raises(ValueError, match="a request should be"):
        Policy().ask("eat", "json")


def test_policy_cannot_be_changed_and_can_be_copied():
    policy = Policy("allow code")

    with pytest.raises(AttributeError):
        policy.rules = "allow call *"
    with pytest.raises(TypeError):
        waybill.loads(waybill.dumps(1), policy="allow code")
    copy = pickle.loads(pickle.dumps(policy))
    assert copy.rules == policy.rules and copy.ask("code").allowed
