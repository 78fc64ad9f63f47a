"""loads(data, renames=...): names of a payload that are others here."""

import io
import json
import sys

import fresh_process
import pytest
import waybill
from fresh_process import FreshProcessError
from policy_payloads import payload_of_global
from waybill.environment import Renames
from waybill.security import Policy


@pytest.fixture
def names(tmp_path, monkeypatch):
    """A package as it was; a folder with one as it became; a payload of the first."""
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, package in (old, "shop"), (new, "store"):
        (folder / package / "parts").mkdir(parents=True)
        (folder / package / "__init__.py").write_text(
            f"def sell(): return '{package}'\n"
        )
        (folder / package / "parts" / "__init__.py").write_text("")
        (folder / package / "parts" / "wheel.py").write_text(
            f"class Wheel:\n    class Nut: made = '{package}'\n"
            "    def turn(self): pass\n"
            f"where = '{package}'\ndef roll(): return '{package}'\n"
        )
    (new / "single.py").write_text("class Round:\n    class Nut: made = 'single'\n")
    monkeypatch.syspath_prepend(old)
    yield tmp_path
    for name in [
        n for n in sys.modules if n.split(".")[0] in ("shop", "store", "single")
    ]:
        del sys.modules[name]


def payload(*choice):
    import shop
    import shop.parts.wheel as wheel

    def use():
        return shop.parts.wheel.where

    everything = {
        "sell": shop.sell,
        "roll": wheel.roll,
        "Wheel": wheel.Wheel,
        "Nut": wheel.Wheel.Nut,
        "module": wheel,
        "instance": wheel.Wheel(),
        "use": use,
    }
    return waybill.dumps([everything[each] for each in choice])


def arrived(data, rules, expression, *path):
    return fresh_process.execute(
        f"""
renames = waybill.environment.Renames({rules!r})
value = waybill.loads(data, renames=renames)
applied = renames.applied
answer = ({expression})
""",
        data,
        path=path,
    )


def test_package_with_all_below_it(names):
    data = payload("sell", "roll", "Nut", "module", "instance")

    told = arrived(
        data,
        {"shop.*": "store.*"},
        "value[0](), value[1](), value[2].made, value[3].__name__, "
        "type(value[4]).__module__, applied, 'shop' in sys.modules",
        names / "new",
    )

    assert told == (
        *("store", "store", "store", "store.parts.wheel", "store.parts.wheel"),
        {"shop": "store", "shop.parts.wheel": "store.parts.wheel"},
        False,
    )


def test_one_module(names):
    data = payload("roll")

    told = arrived(
        data,
        {"shop.parts.wheel": "store.parts.wheel"},
        "value[0](), applied",
        names / "new",
    )

    assert told == ("store", {"shop.parts.wheel": "store.parts.wheel"})


WHEEL = "shop.parts.wheel:Wheel"
#: What is sent, the rules, and the error, which names both names.
ERRORS = {
    "a rule for a module is not about what is below it": (
        ["roll"],
        {"shop": "store"},
        "MissingModuleError: .*here: shop.parts.wheel, for",
    ),
    "a module that is gone is missing if more than renamed names is wanted": (
        ["Wheel", "roll"],
        {WHEEL: "single:Round"},
        "MissingModuleError: .*here: shop.parts.wheel, for",
    ),
    "a module": (
        ["sell"],
        {"shop": "nothing"},
        r"here: nothing \(renamed from shop\), for shop.sell;",
    ),
    "a name": (
        ["Nut"],
        {WHEEL: "gone:X"},
        r"here: gone \(renamed from shop.parts.wheel:Wheel.Nut\);",
    ),
    "a name that is not there": (
        ["Wheel"],
        {WHEEL: "single:Gone"},
        "AttributeError: .*no attribute 'Gone'",
    ),
}


@pytest.mark.parametrize("sent, rules, told", ERRORS.values(), ids=ERRORS)
def test_error_names_what_is_missing(names, sent, rules, told):
    with pytest.raises(FreshProcessError, match=told):
        arrived(payload(*sent), rules, "1", names / "new")


def test_name_with_what_is_inside_of_it(names):
    data = payload("Wheel", "Nut", "instance")

    told = arrived(
        data,
        {"shop.parts.wheel:Wheel": "single:Round"},
        "value[0].__name__, value[1].made, type(value[2]) is value[0], applied",
        names / "new",
    )

    assert told == (
        *("Round", "single", True),
        {
            "shop.parts.wheel:Wheel": "single:Round",
            "shop.parts.wheel:Wheel.Nut": "single:Round.Nut",
        },
    )


def test_module_that_is_gone_is_missing_if_no_name_of_it_is_wanted(names):
    import shop.parts.wheel

    def use():
        return shop.parts.wheel.where

    rules = {"shop.parts.wheel:Wheel": "single:Round"}

    with pytest.raises(FreshProcessError, match="MissingModuleError"):
        arrived(waybill.dumps(use), rules, "1", names / "new", names)


def test_rules_hold_even_where_the_old_name_is_there(names):
    sys.path.insert(0, str(names / "new"))
    try:
        value = waybill.loads(payload("roll", "sell"), renames={"shop.*": "store.*"})
    finally:
        sys.path.remove(str(names / "new"))

    assert [each() for each in value] == ["store", "store"]


def test_more_special_rules_go_first(names):
    data = payload("sell", "roll", "Nut")
    rules = {
        "shop.*": "nothing.*",
        "shop": "store",
        "shop.parts.*": "store.parts.*",
        "shop.parts.wheel:Wheel": "nothing:Wheel",
        "shop.parts.wheel:Wheel.Nut": "single:Round.Nut",
    }

    told = arrived(data, rules, "value[0](), value[1](), value[2].made", names / "new")

    assert told == ("store", "store", "single")


def test_one_rule_is_applied_to_a_name(names):
    rules = {"shop": "store", "store": "nothing"}

    assert arrived(payload("sell"), rules, "value[0]()", names / "new") == "store"


def test_builtins_are_renamed_as_all_are():
    data = waybill.dumps([len, ValueError])

    value = waybill.loads(data, renames={"builtins:ValueError": "builtins:KeyError"})

    assert value == [len, KeyError]


LOADERS = {
    "load": lambda data, **o: waybill.load(io.BytesIO(data), **o),
    "Unpickler": lambda data, **o: waybill.Unpickler(io.BytesIO(data), **o).load(),
    "views": lambda data, **o: waybill.loads(data, copy=False, **o),
}


@pytest.mark.parametrize("name", LOADERS)
def test_wherever_objects_are_loaded(name):
    data = waybill.dumps(json.dumps)

    loaded = LOADERS[name](data, renames={"json:dumps": "json:loads"})

    assert loaded is json.loads
    assert LOADERS[name](data) is json.dumps


def test_files_that_are_opened(tmp_path):
    waybill.save({"a": json.dumps}, tmp_path / "file")

    with waybill.open(tmp_path / "file", renames={"json:dumps": "json:loads"}) as file:
        assert file["a"].load() is json.loads
        assert file.load() == {"a": json.loads}


def test_calls_and_what_they_raise():
    data = waybill.calls.dumps_call(json.dumps, ["[1]"])
    rules = {"json:dumps": "json:loads", "builtins:KeyError": "builtins:IndexError"}

    outcome = waybill.calls.run_call(data, renames=rules)
    assert waybill.calls.loads_outcome(outcome) == [1]

    raising = waybill.calls.run_call(waybill.calls.dumps_call({}.__getitem__, [1]))
    with pytest.raises(IndexError):
        waybill.calls.loads_outcome(raising, renames=rules)


def test_what_is_configured_holds_for_all_and_an_argument_goes_first():
    data = waybill.dumps(json.dumps)
    waybill.configure(renames={"json:dumps": "json:loads"})
    try:
        assert waybill.loads(data) is json.loads
        assert waybill.loads(data, renames={}) is json.dumps
    finally:
        waybill.configure(renames=None)
    assert waybill.loads(data) is json.dumps


def test_find_class_gets_the_new_names():
    asked = []

    class Own(waybill.Unpickler):
        def find_class(self, module, name):
            asked.append((module, name))
            return super().find_class(module, name)

    data = waybill.dumps([json.dumps, json.JSONDecoder, len])
    rules = {"json:dumps": "json:loads", "json.decoder": "json"}

    loaded = Own(io.BytesIO(data), renames=rules).load()

    assert loaded == [json.loads, json.JSONDecoder, len]
    assert asked == [("json", "loads"), ("json", "JSONDecoder"), ("builtins", "len")]


def test_missing_later_stands_for_the_new_name(names):
    told = fresh_process.execute(
        f"""
value = waybill.loads(data, missing="later", renames={{"shop.*": "store.*"}})
try:
    value[0].turn
except waybill.MissingModuleError as error:
    answer = [str(error)]
sys.path.append({str(names / "new")!r})
answer.append(value[0].where)
""",
        payload("module"),
    )

    assert "here: store.parts.wheel (renamed from shop.parts.wheel), for" in told[0]
    assert told[1] == "store"


JSON_DUMPS = payload_of_global("json", "dumps")
REFUSED = {
    "the new module has to be allowed too": (
        {"json": "pickle"},
        "allow lookup json",
        "import of pickle.* the payload calls it json",
    ),
    "the new name has to be allowed too": (
        {"json:dumps": "pickle:dumps"},
        "allow import pickle\nallow lookup json",
        "lookup of pickle:dumps.* calls it json:dumps",
    ),
    "what may be called has to be callable under the new name": (
        {"json:dumps": "json:loads"},
        "allow call json:dumps\nallow lookup json",
        "call of json:loads",
    ),
    "the old name has to be allowed too": (
        {"json:dumps": "math:sqrt"},
        "allow call math\nallow import json",
        "json:dumps",
    ),
    "the own name of what is found is asked about": (
        {"json:dumps": "os:path.join"},
        "allow call json\nallow call os",
        "posixpath|ntpath",
    ),
}


@pytest.mark.parametrize("claim", REFUSED)
def test_a_policy_refuses_what_is_not_allowed_under_both_names(claim):
    rules, policy, told = REFUSED[claim]

    with pytest.raises(waybill.PolicyError, match=told):
        waybill.loads(JSON_DUMPS, renames=rules, policy=Policy(policy))


def test_what_is_allowed_under_both_names_is_allowed():
    import math

    policy = Policy("allow lookup json\nallow lookup math")
    rules = {"json:dumps": "math:sqrt"}

    assert waybill.loads(JSON_DUMPS, renames=rules, policy=policy) is math.sqrt


WRONG = [
    {"a": "b.*"},
    {"a.*": "b"},
    {"a:b": "c"},
    {"a": "b:c"},
    {"a.*.b": "c"},
    {"": "a"},
    {"a": ""},
    {"a..b": "c"},
    {"a:": "b:c"},
    {"*": "*"},
    {"a b": "c"},
]


@pytest.mark.parametrize("rules", WRONG, ids=str)
def test_what_is_no_rule_is_refused(rules):
    with pytest.raises(ValueError, match="a rule is"):
        Renames(rules)


@pytest.mark.parametrize("rules", [{"a": 1}, {1: "a"}, {"a": None}], ids=str)
def test_what_is_no_name_is_refused(rules):
    with pytest.raises(TypeError, match="names should be str"):
        Renames(rules)


def test_rules_of_a_dict_are_checked_when_they_apply():
    data = waybill.dumps(json.dumps)

    assert waybill.loads(data, renames={"other": "a:b"}) is json.dumps
    for rules in ({"json": "a:b"}, {"json.*": "a"}, {"json:dumps": "a"}):
        with pytest.raises(ValueError, match="a rule is"):
            waybill.loads(data, renames=rules)
    with pytest.raises(TypeError, match="names should be str"):
        waybill.loads(data, renames={"json": 5})


@pytest.mark.parametrize("renames", [5, "a", [("a", "b")]])
def test_what_are_no_rules_is_refused(renames):
    with pytest.raises(TypeError, match="renames should be a dict or Renames"):
        waybill.loads(waybill.dumps(1), renames=renames)


def test_what_is_told_is_bounded(monkeypatch):
    from waybill._environment import renames as renames_module

    monkeypatch.setattr(renames_module, "MAX_APPLIED", 3)
    renames = Renames(
        {f"builtins:{name}": "builtins:len" for name in dir(__builtins__)}
    )

    for error in ValueError, KeyError, IndexError, TypeError, OSError:
        waybill.loads(waybill.dumps(error), renames=renames)

    assert len(renames.applied) <= 3


def test_rules_travel():
    import pickle

    renames = Renames({"a": "b"}, known=False)
    renames.applied["x"] = "y"

    for made in (
        waybill.loads(waybill.dumps(renames)),
        pickle.loads(pickle.dumps(renames)),
    ):
        assert repr(made) == repr(renames) == "Renames({'a': 'b'}, known=False)"
        assert made.applied == {}


def test_names_are_looked_up_and_not_searched():
    """Whatever the number of rules, those that do not apply are not looked at."""
    asked = []

    class Rules(dict):
        def get(self, key, default=None):
            asked.append(key)
            return super().get(key, default)

        def __iter__(self):
            raise AssertionError("all rules are looked at")

        items = keys = values = __iter__

    rules = Rules({f"old{n}.part.*": f"new{n}.part.*" for n in range(5000)})
    data = waybill.dumps([json.dumps, json.JSONDecoder.decode])

    assert waybill.loads(data, renames=rules)[0] is json.dumps
    assert len(asked) < 30
