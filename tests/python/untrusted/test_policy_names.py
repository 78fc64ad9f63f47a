"""Policies ask about what names of a payload turn out to be, under all their names."""

import functools
import io
import json
import os
import random
import sys
import types

import fresh_process
import pytest
import waybill
from policy_payloads import payload_of_call, payload_of_global
from waybill import DATA_ONLY
from waybill.security import Policy


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


def test_load_options_of_the_process_see_through_another_name_too():
    program = """
waybill.restrict(policy=waybill.security.Policy("allow call os.path\\nallow lookup *"))
try:
    answer = waybill.loads(data, policy=waybill.security.Policy("allow call *"))
except waybill.PolicyError as error:
    answer = str(error)
"""
    data = payload_of_call("os.path", "os.getcwd")

    words = fresh_process.execute(program, data)

    assert f"call of {os.path.__name__}:os.getcwd" in words


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


ALIASES = [
    # What is denied, and the name by which a payload asks for it.
    ("call os:getpid", "posix", "getpid"),
    ("lookup os:getpid", "posix", "getpid"),
    ("call os", "posix", "getpid"),
    ("import os", "posix", "system"),
    ("import os.*", "posix", "system"),
    ("call builtins:open", "_io", "open"),
    ("call io:open", "_io", "open"),
    ("call io:open", "builtins", "open"),
    ("import io", "builtins", "open"),
    ("call posix:system", "os", "system"),
    ("call os.path:join", "posixpath", "join"),
    ("import os.path", "posixpath", "join"),
    ("call json.decoder:JSONDecoder", "json", "JSONDecoder"),
    ("call waybill_test_aliases:Holder", "waybill_test_elsewhere", "Other"),
    ("import waybill_test_aliases", "waybill_test_elsewhere", "Other"),
]


@pytest.mark.skipif(sys.platform == "win32", reason="names of POSIX")
@pytest.mark.parametrize(("denied", "name", "path"), ALIASES)
@pytest.mark.filterwarnings("ignore:waybill.security.Policy")
def test_what_is_denied_by_one_name_is_denied_by_all(module, denied, name, path):
    elsewhere = types.ModuleType("waybill_test_elsewhere")
    elsewhere.__spec__ = types.SimpleNamespace(
        name=elsewhere.__name__, _initializing=False
    )
    elsewhere.Other = module.Holder
    sys.modules[elsewhere.__name__] = elsewhere
    try:
        data = payload_of_global(name, path)
        policy = Policy(f"deny {denied}\nallow call *")
        with pytest.raises(
            waybill.PolicyError, match=f"the policy denies: deny {denied}"
        ):
            waybill.loads(data, policy=policy)
        assert waybill.loads(data, policy=Policy("allow call *")) is not None
    finally:
        del sys.modules[elsewhere.__name__]


@pytest.mark.filterwarnings("ignore:waybill.security.Policy")
def test_what_an_earlier_rule_allows_is_not_denied_by_another_name():
    data = payload_of_global("posix", "getcwd")
    policy = Policy("allow call os:getcwd\ndeny call os\nallow call *")

    assert waybill.loads(data, policy=policy) is os.getcwd


@pytest.mark.filterwarnings("ignore:waybill.security.Policy")
@pytest.mark.parametrize(
    ("module_name", "path"),
    [("builtins", "OSError"), ("collections.abc", "MutableMapping"), ("json", "loads")],
)
def test_what_a_denied_module_only_uses_is_not_denied(module_name, path):
    data = payload_of_global(module_name, path)

    waybill.loads(data, policy=Policy("deny import os\nallow call *"))


@pytest.mark.filterwarnings("ignore:waybill.security.Policy")
def test_module_is_denied_by_all_its_names():
    data = waybill.dumps(os.path)
    other = "os.path" if os.path.__name__ != "os.path" else "posixpath"

    with pytest.raises(waybill.PolicyError, match=f"deny import {other}"):
        waybill.loads(data, policy=Policy(f"deny import {other}\nallow call *"))


@pytest.mark.filterwarnings("ignore:waybill.security.Policy")
def test_nothing_is_imported_to_find_what_is_denied():
    program = """
import warnings
warnings.simplefilter("ignore")
rules = "deny call wave:open\\ndeny import turtle\\nallow call *"
policy = waybill.security.Policy(rules)
waybill.loads(data, policy=policy)
answer = [name for name in ("wave", "turtle") if name in sys.modules]
"""

    assert fresh_process.execute(program, payload_of_global("posix", "getpid")) == []


@pytest.mark.parametrize(
    ("rules", "rule"),
    [
        ("deny call os:getpid\nallow call *", "deny call os:getpid"),
        ("deny import os\nallow call *\nallow code", "deny import os"),
        ("deny import os.*\nallow lookup *", "deny import os.*"),
        ("deny lookup a.b:c\nallow call a.*", "deny lookup a.b:c"),
    ],
)
def test_policy_that_denies_by_name_and_allows_by_wildcard_warns(rules, rule):
    with pytest.warns(UserWarning, match="by a wildcard") as caught:
        Policy(rules)

    assert f"`{rule}`" in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "rules",
    [
        "allow call *",
        "allow call *\ndeny import os",
        "deny import numpy.ctypeslib\nallow import numpy.*\nallow lookup numpy.*:array",
        "deny import os.*\nallow lookup json.*\nallow call collections:deque",
        "deny call *\nallow call *",
        "deny code\nallow call *",
        waybill.security.STANDARD_TYPES.rules,
    ],
)
@pytest.mark.filterwarnings("error")
def test_policy_without_such_rules_does_not_warn(rules):
    Policy(rules)
