"""Looks into dicts of modules: however a dict is changed, it shows at once."""

import gc
import sys
import types
import weakref

import pytest
import waybill
from cached_nodes import Program
from without_caches import dumps_without_caches

PROGRAM = Program("""
import math, own_package.own_module as own
VALUE = 1
def f(x): return math.floor(x) + VALUE, own.name
""")


@pytest.fixture
def own():
    """A package with a module, as if they had been imported."""
    package, module = map(types.ModuleType, ("own_package", "own_package.own_module"))
    for each in (package, module):
        each.__spec__ = types.SimpleNamespace(name=each.__name__)
    package.own_module, module.name = module, "name"
    sys.modules.update({each.__name__: each for each in (package, module)})
    yield package
    for name in ("own_package", "own_package.own_module"):
        sys.modules.pop(name, None)


def dumps_again(scope):
    """The last of some dumps, which knows what was looked up before."""
    return [waybill.dumps(scope["f"]) for _ in range(4)][-1]


def clear_and_fill(scope):
    kept = dict(scope)
    scope.clear()
    scope.update(kept, VALUE=2)


def popitem(scope):
    scope["last"] = scope.pop("VALUE")
    waybill.dumps(scope["f"])
    scope.popitem()


WAYS = {
    "an item that is set": lambda scope: scope.__setitem__("VALUE", 2),
    "an item that is deleted": lambda scope: scope.__delitem__("VALUE"),
    "pop": lambda scope: scope.pop("VALUE"),
    "popitem": popitem,
    "update": lambda scope: scope.update(VALUE=2),
    "a union in place": lambda scope: scope.__ior__({"VALUE": 2}),
    "clear, and update": clear_and_fill,
    "setdefault": lambda scope: (scope.pop("VALUE"), scope.setdefault("VALUE", 2)),
    "a statement": lambda scope: exec("VALUE = 2", scope),
    "a global of a function": lambda scope: exec(
        "def change():\n global VALUE\n VALUE = 2\nchange()", scope
    ),
    "a name that is made anew": lambda scope: scope.__setitem__(
        "".join(["VAL", "UE"]), 2
    ),
    "another name": lambda scope: scope.__setitem__("other", 2),
    "nothing": lambda scope: None,
}


@pytest.mark.parametrize("change", WAYS.values(), ids=WAYS)
def test_a_namespace_that_changes_shows_at_once(own, change):
    scope = PROGRAM.world()
    dumps_again(scope)

    change(scope)

    assert dumps_again(scope) == dumps_without_caches(scope["f"])


@pytest.mark.parametrize("change", WAYS.values(), ids=WAYS)
def test_so_does_one_that_is_the_dict_of_an_instance(own, change):
    class Holder:
        pass

    holder = Holder()
    holder.VALUE = 1
    holder.__dict__["__name__"] = "nowhere"
    PROGRAM.run(holder.__dict__)
    dumps_again(holder.__dict__)

    change(holder.__dict__)

    f = holder.__dict__["f"]
    assert dumps_again(holder.__dict__) == dumps_without_caches(f)


def test_attributes_that_are_set_show_in_the_namespace_of_an_instance(own):
    class Holder:
        pass

    holder = Holder()
    PROGRAM.run(holder.__dict__)
    for value in range(20):
        holder.VALUE = value
        data = dumps_again(holder.__dict__)
        assert data == dumps_without_caches(holder.f), value


def replace_module(own):
    other = types.ModuleType("own_package.own_module")
    other.__spec__, other.name = own.own_module.__spec__, "other"
    sys.modules["own_package.own_module"] = other


MODULE_CHANGES = {
    "one of another name": lambda own: setattr(own.own_module, "__name__", "other"),
    "one that is not listed": lambda own: sys.modules.pop("own_package.own_module"),
    "one that is replaced": replace_module,
    "one without a spec": lambda own: (
        delattr(own.own_module, "__spec__"),
        delattr(own, "__spec__"),
    ),
    "a package without it": lambda own: delattr(own, "own_module"),
    "a package that is gone": lambda own: sys.modules.pop("own_package"),
}


@pytest.mark.parametrize("change", MODULE_CHANGES.values(), ids=MODULE_CHANGES)
def test_a_module_that_changes_shows_at_once(own, change):
    scope = PROGRAM.world()
    dumps_again(scope)

    change(own)

    def outcome(dumps):
        try:
            return dumps(scope["f"])
        except waybill.EncodeError as error:
            return str(error)

    again = [outcome(waybill.dumps) for _ in range(3)]
    assert again == [outcome(dumps_without_caches)] * 3


def test_a_dict_in_place_of_sys_modules_shows_at_once(own, monkeypatch):
    scope = PROGRAM.world()
    dumps_again(scope)

    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    del sys.modules["own_package.own_module"]

    assert dumps_again(scope) == dumps_without_caches(scope["f"])


def test_a_namespace_where_another_one_was_is_another(own):
    for value in range(200):
        scope = PROGRAM.world()
        scope["VALUE"] = value
        assert waybill.dumps(scope["f"]) == dumps_without_caches(scope["f"])
        del scope["f"]


def test_more_names_than_are_remembered_are_all_looked_up():
    names = [f"name_{number}" for number in range(2000)]
    scope = dict.fromkeys(names, 1)
    exec(f"def f(): return [{', '.join(names)}]", scope)
    dumps_again(scope)

    for name in names[::97]:
        scope[name] = 2
        assert dumps_again(scope) == dumps_without_caches(scope["f"])


def test_what_was_looked_up_is_not_kept_alive(own):
    scope = PROGRAM.world()
    exec("class Held: pass", scope)
    exec("def f(): return Held", scope)
    dumps_again(scope)

    held = weakref.ref(scope["Held"])
    del scope
    gc.collect()

    assert held() is None
