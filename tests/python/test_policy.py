"""Policies are asked before anything is imported, and again at every lookup."""

import collections
import datetime
import decimal
import functools
import io
import ipaddress
import json
import os
import pathlib
import pickle
import random
import sys
import types
import uuid

import fresh_process
import pytest
import waybill
from mutation_worker import DIGEST_SIZE, resealed, sealed
from waybill import DATA_ONLY, INSTALLED_CODE, STANDARD_TYPES, Policy


def refused(obj, policy, **options):
    """The words with which an object is not let in."""
    with pytest.raises(waybill.PolicyError) as caught:
        waybill.loads(waybill.dumps(obj), policy=policy, **options)
    assert caught.value.code == "refused"
    return str(caught.value)


def arrives(obj, policy):
    return waybill.loads(waybill.dumps(obj), policy=policy)


class Reduced:
    """Travels as a call."""

    def __init__(self, *reduced):
        self.reduced = reduced

    def __reduce__(self):
        return self.reduced


@pytest.fixture
def module():
    """A module that gives names to what is not its own."""
    made = types.ModuleType("waybill_test_aliases")
    made.__spec__ = types.SimpleNamespace(name=made.__name__, _initializing=False)
    made.loads = json.loads  # An alias of another module's function,
    made.json = json  # the module itself,
    made.Holder = type("Holder", (), {"module": json})  # and a way to it.
    made.Holder.__module__ = made.__name__
    sys.modules[made.__name__] = made
    yield made
    del sys.modules[made.__name__]


def payload_of(node, module_name, path):
    """An envelope with what `node` makes of a name, as a hostile sender would write it.

    `node` takes what makes the tag of a node, and the node that looks the name up.
    """
    msgpack = pytest.importorskip("msgpack")
    pytest.importorskip("xxhash")

    def tag(number):
        return msgpack.ExtType(0, bytes([number]))

    packed = msgpack.packb(
        [
            ["wb", 1, 3, 11, 0],
            {0: [[module_name, 0, None, None, None, 0]]},
            [],
            [],
            node(tag, [tag(7), msgpack.ExtType(2, b"\x00"), path]),
            {},
            bytes(8),
            None,
        ]
    )
    return resealed(packed, len(packed) - DIGEST_SIZE - 1)


def payload_of_global(module_name, path):
    return payload_of(lambda _, found: found, module_name, path)


def payload_of_call(module_name, path, *arguments):
    return payload_of(
        lambda tag, found: [tag(14), found, arguments, None, [], {}], module_name, path
    )


def test_data_only_lets_in_all_builtin_data():
    data = {
        "numbers": [0, -1, 2**80, -(2**64), 1.5, 2j, True, None],
        "text": ["", "é", "\ud800", b"", b"x" * 100, bytearray(b"y")],
        (1, ("a", frozenset({2}))): {3, 4.5, "z"},
        "rest": [..., NotImplemented, range(1, 9, 2), slice(1, None, 2), ()],
    }
    data["self"] = data

    arrived = arrives(data, DATA_ONLY)

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


def test_standard_types_arrive():
    objects = [
        datetime.datetime(2020, 1, 2, 3, 4, 5, 6, datetime.timezone.utc),
        datetime.date(2020, 1, 2),
        datetime.time(1, 2, 3),
        datetime.timedelta(1, 2, 3),
        decimal.Decimal("1.50"),
        uuid.UUID(int=7),
        pathlib.PurePosixPath("a/b"),
        pathlib.PureWindowsPath("a\\b"),
        pathlib.PosixPath("/x"),
        ipaddress.ip_address("10.0.0.1"),
        ipaddress.ip_address("::1"),
        collections.deque([1, 2], maxlen=3),
        collections.Counter("aab"),
        collections.OrderedDict(b=1, a=2),
        collections.defaultdict(list, {1: [2]}),
    ]

    assert arrives(objects, STANDARD_TYPES) == objects


def test_standard_types_refuse_other_callables():
    assert "call of builtins:print" in refused(
        Reduced(print, ("called",)), STANDARD_TYPES
    )
    assert "code that comes along" in refused(lambda: 1, STANDARD_TYPES)


def test_installed_code_lets_no_code_in():
    assert arrives(Reduced(int, ("7",)), INSTALLED_CODE) == 7
    assert "code that comes along" in refused(lambda: 1, INSTALLED_CODE)


def test_call_is_refused_where_only_the_lookup_is_allowed():
    policy = Policy("allow lookup builtins")

    assert arrives(int, policy) is int
    assert "call of builtins:int" in refused(Reduced(int, ("7",)), policy)


def test_function_by_value_needs_code_and_its_imports():
    def task():
        return json.loads("[1]")

    assert arrives(task, Policy("allow code\nallow import json"))() == [1]
    assert "import of json" in refused(task, Policy("allow code"))


def test_alias_has_to_be_allowed_under_its_own_name_too(module):
    data = payload_of_global(module.__name__, "loads")
    alone = Policy(f"allow lookup {module.__name__}")
    both = Policy(f"allow lookup {module.__name__}\nallow lookup json:loads")

    with pytest.raises(waybill.PolicyError, match="lookup of json:loads") as caught:
        waybill.loads(data, policy=alone)

    assert "the payload calls it waybill_test_aliases:loads" in str(caught.value)
    assert waybill.loads(data, policy=both) is json.loads


def test_alias_that_may_be_called_has_to_be_callable_under_its_own_name(module):
    data = payload_of_global(module.__name__, "loads")
    policy = Policy(f"allow call {module.__name__}\nallow lookup json")

    with pytest.raises(waybill.PolicyError, match="call of json:loads"):
        waybill.loads(data, policy=policy)


@pytest.mark.parametrize("path", ["json.loads", "Holder.module.loads"])
def test_way_through_another_module_is_asked_about(module, path):
    data = payload_of_global(module.__name__, path)
    alone = Policy(f"allow lookup {module.__name__}")
    both = Policy(f"allow lookup {module.__name__}\nallow lookup json:loads")

    with pytest.raises(waybill.PolicyError, match="lookup of json:loads"):
        waybill.loads(data, policy=alone)

    assert waybill.loads(data, policy=both) is json.loads


def test_module_found_under_a_name_needs_its_import(module):
    data = payload_of_global(module.__name__, "json")

    with pytest.raises(waybill.PolicyError, match="import of json"):
        waybill.loads(data, policy=Policy(f"allow lookup {module.__name__}"))

    both = Policy(f"allow lookup {module.__name__}\nallow import json")
    assert waybill.loads(data, policy=both) is json


def test_what_has_no_name_of_its_own_is_let_in_by_the_name_that_was_asked_for():
    data = payload_of_global("json", "JSONDecodeError.__doc__")
    exact = Policy("allow lookup json:JSONDecodeError.__doc__")

    # A str has no name: what was asked for is all there is to go by.
    assert waybill.loads(data, policy=exact) == json.JSONDecodeError.__doc__


@pytest.mark.parametrize(
    "path",
    ["loads.__globals__", "loads.__builtins__.get", "JSONDecoder.__init__.__code__"],
)
def test_names_that_lead_to_all_there_is_have_to_be_spelled_out(path):
    data = payload_of_global("json", path)

    for rule in "allow call json.*", "allow call *", f"allow call json:{path}.*":
        with pytest.raises(waybill.PolicyError, match="which no rule"):
            waybill.loads(data, policy=Policy(rule))


def test_method_of_an_instance_is_asked_about_by_its_type(module):
    module.choice = random.Random().choice
    module.get = {}.get
    module.part = functools.partial(int)
    name = module.__name__

    for path, own in {
        "choice": "random:Random.choice",
        "get": "builtins:dict.get",
        "part": "functools:partial",
    }.items():
        data = payload_of_global(name, path)
        with pytest.raises(waybill.PolicyError, match=f"call of {own}"):
            waybill.loads(data, policy=Policy(f"allow call {name}"))
        both = Policy(f"allow call {name}\nallow call {own}")
        assert waybill.loads(data, policy=both) == getattr(module, path)


def test_call_through_another_module_takes_leave_to_call_there(module):
    module.random = random
    data = payload_of_global(module.__name__, "random.choice")
    policy = Policy(f"allow call {module.__name__}\nallow lookup random")

    with pytest.raises(waybill.PolicyError, match="call of random:choice"):
        waybill.loads(data, policy=policy)


def test_call_through_a_module_with_another_name_takes_leave_to_call_there():
    """os.path is what sys.modules has by that name; itself it has another."""
    own_name = os.path.__name__
    data = payload_of_call("os.path", "os.getcwd")
    leave = f"allow call os.path\nallow call {own_name}\nallow lookup *"

    with pytest.raises(waybill.PolicyError, match=f"call of {own_name}:os.getcwd"):
        waybill.loads(data, policy=Policy("allow call os.path\nallow lookup *"))
    with pytest.raises(waybill.PolicyError, match="call of os:getcwd"):
        waybill.loads(data, policy=Policy(leave))
    with pytest.raises(waybill.PolicyError, match=f"call of {os.getcwd.__module__}:"):
        waybill.loads(data, policy=Policy("allow call os\n" + leave))
    with pytest.raises(waybill.PolicyError, match=r"call of os.path:os.getcwd"):
        waybill.loads(data, policy=Policy(f"allow call {own_name}\nallow lookup *"))

    own_rule = f"allow call os\nallow call {os.getcwd.__module__}\n"
    assert waybill.loads(data, policy=Policy(own_rule + leave)) == os.getcwd()


def test_name_in_a_module_with_another_name_has_to_be_allowed_under_both():
    own_name = os.path.__name__
    data = payload_of_global("os.path", "sep")
    both = f"allow lookup os.path\nallow lookup {own_name}"

    with pytest.raises(waybill.PolicyError, match=f"lookup of {own_name}:sep"):
        waybill.loads(data, policy=Policy("allow lookup os.path"))

    assert waybill.loads(data, policy=Policy(both)) == os.path.sep


def test_module_without_a_name_of_its_own_is_asked_about_by_that_of_the_payload(
    module, monkeypatch
):
    def own():
        return "called"

    own.__module__ = module.__name__
    own.__qualname__ = "own"
    module.own = own
    # Nothing is in sys.modules by this name, and so it is no module's.
    monkeypatch.setattr(module, "__name__", "waybill_test_nowhere")
    monkeypatch.setattr(module, "__spec__", None)
    data = payload_of_call(own.__module__, "own")

    with pytest.raises(waybill.PolicyError, match=f"call of {own.__module__}:own"):
        waybill.loads(data, policy=Policy("allow call builtins\nallow lookup *"))

    assert (
        waybill.loads(data, policy=Policy(f"allow call {own.__module__}")) == "called"
    )


def test_module_that_can_be_called_is_asked_about_by_its_type(module):
    class Callable(types.ModuleType):
        def __call__(self):
            return "called"

    Callable.__module__ = module.__name__
    Callable.__qualname__ = "Callable"
    module.inner = Callable("waybill_test_inner")
    module.inner.__spec__ = module.__spec__
    data = payload_of_call(module.__name__, "inner")
    name = f"{module.__name__}:inner"

    with pytest.raises(waybill.PolicyError, match=r"call of .*:Callable"):
        waybill.loads(data, policy=Policy(f"allow call {name}\nallow import *"))

    policy = Policy(f"allow call {module.__name__}\nallow import *")
    assert waybill.loads(data, policy=policy) == "called"


def test_terms_of_the_process_see_through_another_name_too():
    program = """
waybill.restrict(policy=waybill.Policy("allow call os.path\\nallow lookup *"))
try:
    answer = waybill.loads(data, policy=waybill.Policy("allow call *"))
except waybill.PolicyError as error:
    answer = str(error)
"""
    data = payload_of_call("os.path", "os.getcwd")

    words = fresh_process.execute(program, data)

    assert f"call of {os.path.__name__}:os.getcwd" in words


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
        with pytest.raises(waybill.DecodeError, match="512 containers"):
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


def test_find_class_is_asked_only_for_what_the_policy_allows(module):
    asked = []

    class Unpickler(waybill.Unpickler):
        def find_class(self, module, name):
            asked.append(name)
            return json.loads

    data = payload_of_global(module.__name__, "anything")
    name = module.__name__

    with pytest.raises(waybill.PolicyError):
        Unpickler(io.BytesIO(data), policy=DATA_ONLY).load()
    assert asked == []
    with pytest.raises(waybill.PolicyError, match="lookup of json:loads"):
        Unpickler(io.BytesIO(data), policy=Policy(f"allow lookup {name}")).load()
    assert asked == ["anything"]


def test_load_and_loads_take_the_same_options(tmp_path):
    path = tmp_path / "payload"
    path.write_bytes(waybill.dumps(json))

    with path.open("rb") as file, pytest.raises(waybill.PolicyError):
        waybill.load(file, policy=DATA_ONLY)


def test_verdict_carries_the_rule():
    policy = Policy("# mine\nallow call json.*\ndeny import os")

    assert policy.ask("call", "json", "loads") == (True, "allow call json.*")
    assert policy.ask("import", "os") == waybill.Verdict(False, "deny import os")
    assert policy.ask("code") == (False, None)


def test_text_that_is_no_policy_is_a_value_error():
    with pytest.raises(ValueError, match='no rule: "permit all"'):
        Policy("allow code\npermit all")
    with pytest.raises(TypeError):
        Policy(7)
    with pytest.raises(ValueError, match="a request is"):
        Policy().ask("eat", "json")


def test_policy_cannot_be_changed_and_can_be_copied():
    policy = Policy("allow code")

    with pytest.raises(AttributeError):
        policy.rules = "allow call *"
    with pytest.raises(TypeError):
        waybill.loads(waybill.dumps(1), policy="allow code")
    copy = pickle.loads(pickle.dumps(policy))
    assert copy.rules == policy.rules and copy.ask("code").allowed
