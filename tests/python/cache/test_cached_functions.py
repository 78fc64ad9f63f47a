"""A function that is sent again is sent as before, unless anything has changed.

What a fresh copy of its code gives is what counts: nothing is remembered of that.
"""

import gc
import sys
import types
import weakref

import pytest
import waybill
from sources import imported

NAMES = ("module_one", "module_two", "module_one.inner", "module_one.other")

pytestmark = pytest.mark.usefixtures("modules")


def function(body="return one, two.value, one.inner.thing, len", **scope):
    """A function that names the modules, in a namespace of its own."""
    scope = {
        "__name__": "nowhere",
        "one": sys.modules["module_one"],
        "two": sys.modules["module_two"],
        **scope,
    }
    exec(compile(f"def f():\n {body}", "<sent>", "exec"), scope)
    return scope["f"]


def fresh(f):
    """What a function that is the same but was never sent becomes."""
    copy = types.FunctionType(
        f.__code__.replace(), f.__globals__, f.__name__, f.__defaults__, f.__closure__
    )
    copy.__module__, copy.__qualname__, copy.__doc__ = (
        f.__module__,
        f.__qualname__,
        f.__doc__,
    )
    copy.__kwdefaults__ = f.__kwdefaults__
    copy.__dict__.update(f.__dict__)
    copy.__annotations__ = f.__annotations__
    return waybill.dumps(copy)


def warm(f):
    for _ in range(5):
        assert waybill.dumps(f) == fresh(f)
    return f


BODIES = [
    "return one, two",
    "return one.value",
    "return one.inner.thing",
    "return one.inner",
    "return one.missing.more, one.other.missing",
    "return [m.inner for m in (one, two)]",
    "return ', '.join([str(one.value)])",
    "x = one.inner; return x.thing",
    "import json; return json.dumps(one.value)",
    "return getattr(one, 'inner')",
    "return vars(one)['inner']",
    "return one.__dict__['inner']",
    "return [1, 2][0], {'a': one}['a'].inner",
    "def g(): return one.inner\n return g",
    "return lambda x: x.inner(one)",
    "return unknown.inner, one",
    "global new; new = one; return new.inner",
    "return 'text'",
]


#: What namespaces say of themselves beside their name: of a module that says nothing,
#: of a script or a cell of a notebook, of a module at the top, and of one in a package.
NAMESPACES = {
    "silent": {},
    "script": {"__package__": None, "__spec__": None},
    "module": {"__package__": ""},
    "submodule": {"__package__": "package"},
}


@pytest.mark.parametrize("scope", NAMESPACES.values(), ids=NAMESPACES)
@pytest.mark.parametrize("body", BODIES)
def test_bytes_are_those_of_a_function_that_was_never_sent(body, scope):
    warm(function(body, **scope))


def set_global(name, make):
    return lambda f: f.__globals__.__setitem__(name, make())


def set_in_module(module, name, make):
    return lambda f: setattr(sys.modules[module], name, make())


def delete_in_module(module, name):
    return lambda f: delattr(sys.modules[module], name)


def list_module(name, make):
    def change(f):
        sys.modules[name] = make()

    return change


def other_module(name="module_one", **attributes):
    module = types.ModuleType(name)
    module.__spec__ = types.SimpleNamespace(name=name)
    vars(module).update(attributes)
    return module


def reloaded(f):
    module = other_module("module_one", value=7)
    sys.modules["module_one"] = f.__globals__["one"] = module


def no_spec(f):
    f.__globals__["one"].__spec__ = None


CHANGES = {
    "global rebound to a value": set_global("one", lambda: 7),
    "global rebound to a module": set_global("one", lambda: sys.modules["module_two"]),
    "global rebound to text": set_global("two", lambda: "two"),
    "global deleted": lambda f: f.__globals__.pop("two"),
    "builtin hidden": set_global("len", lambda: 7),
    "builtin hidden by a module": set_global("len", lambda: sys.modules["module_two"]),
    "name of the namespace": set_global("__name__", lambda: "elsewhere"),
    "package of the namespace": set_global("__package__", lambda: "another"),
    "no package of the namespace": set_global("__package__", lambda: None),
    "silence about the package": lambda f: f.__globals__.pop("__package__", None),
    "path of the namespace": set_global("__path__", list),
    "spec of the namespace": set_global("__spec__", lambda: None),
    "attribute becomes a module": set_in_module(
        "module_two", "value", lambda: sys.modules["module_one.other"]
    ),
    "submodule becomes a value": set_in_module("module_one", "inner", lambda: 7),
    "submodule becomes another": set_in_module(
        "module_one", "inner", lambda: sys.modules["module_one.other"]
    ),
    "submodule deleted": delete_in_module("module_one", "inner"),
    "submodule is listed as another": list_module(
        "module_one.inner", lambda: other_module("module_one.inner")
    ),
    "submodule is not listed": lambda f: sys.modules.pop("module_one.inner"),
    "module is not listed": lambda f: sys.modules.pop("module_two"),
    "module is listed as another": list_module("module_two", other_module),
    "module reloaded": reloaded,
    "module renamed": set_in_module("module_two", "__name__", lambda: "renamed"),
    "submodule renamed": set_in_module(
        "module_one.inner", "__name__", lambda: "renamed"
    ),
    "module has no spec": no_spec,
    "missing attribute becomes a submodule": list_module(
        "module_two.value", lambda: other_module("module_two.value")
    ),
    "looked at": lambda f: (f.__annotations__, f.__dict__),
}


@pytest.mark.parametrize("scope", NAMESPACES.values(), ids=NAMESPACES)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_change_shows_at_once(change, scope):
    f = warm(function(**scope))

    try:
        change(f)
        for _ in range(4):
            assert waybill.dumps(f) == fresh(f)
    finally:
        for name in ("module_two.value",):
            sys.modules.pop(name, None)


def test_function_that_can_be_imported_now_is_sent_by_name():
    f = warm(function())
    with imported("nowhere", f=f):
        for _ in range(5):
            assert waybill.loads(waybill.dumps(f)) is f
    for _ in range(5):
        assert waybill.dumps(f) == fresh(f)


def test_functions_that_share_code_do_not_share_what_was_sent():
    f = warm(function())
    g = types.FunctionType(f.__code__, {**f.__globals__, "one": 7, "__name__": "other"})

    for _ in range(10):
        assert waybill.dumps(f) == fresh(f)
        assert waybill.dumps(g) == fresh(g)


def test_registered_modules_travel_by_value_though_the_function_was_sent_before():
    f = warm(function())
    waybill.register_pickle_by_value(sys.modules["module_two"])
    try:
        assert waybill.dumps(f) == fresh(f)
    finally:
        waybill.unregister_pickle_by_value(sys.modules["module_two"])
    assert waybill.dumps(f) == fresh(f)


def test_module_of_a_function_that_is_listed_later_is_seen():
    module = types.ModuleType("module_one.made")
    module.__package__ = "module_one"
    exec("def outer():\n def f(): return 1\n return f", vars(module))
    f = warm(module.outer())

    sys.modules["module_one.made"] = module
    try:
        assert waybill.dumps(f) == fresh(f)
    finally:
        del sys.modules["module_one.made"]
    assert waybill.dumps(f) == fresh(f)


class Impostor:
    """Stands where a function's path leads, and changes the function when asked."""

    def __init__(self, function, answers):
        self.function, self.answers = function, answers

    def __getattr__(self, name):
        self.function.__code__ = (lambda: 2).__code__
        if self.answers:
            return self.function
        raise AttributeError(name)


@pytest.mark.parametrize("answers", [True, False])
def test_code_that_a_function_loses_while_it_is_compared_is_held(answers):
    with imported("nowhere") as module:
        scope = {"__name__": "nowhere"}
        exec("class Space:\n def f(): return 1", scope)
        f = warm(scope["Space"].f)
        del scope
        module.Space = Impostor(f, answers)

        waybill.dumps(f)

        del module.Space
        assert waybill.dumps(f) == fresh(f)


def test_function_that_is_sent_while_it_is_compared_is_no_harm():
    f = function("return missing, one")

    class Key(str):
        def __hash__(self):
            return hash("missing")

        def __eq__(self, other):
            if f.__doc__ is None:
                f.__doc__ = "changed"
                waybill.dumps(f)
                f.__doc__ = None
            return False

    warm(f)
    f.__globals__[Key("other")] = 1

    for _ in range(5):
        assert waybill.dumps(f) == fresh(f)


def test_name_of_a_module_that_is_more_than_text_is_not_kept(modules):
    class Name(str):
        pass

    modules[2].__name__ = Name("module_one.inner")
    seen = weakref.ref(modules[2].__name__)
    f = warm(function("return one.inner.thing"))

    modules[2].__name__ = "module_one.inner"
    gc.collect()

    assert seen() is None
    assert waybill.dumps(f) == fresh(f)


def test_nothing_that_was_sent_is_kept_alive():
    class Witness(types.ModuleType):
        pass

    inner = sys.modules["one_more.inner"] = Witness("one_more.inner")
    inner.__spec__ = types.SimpleNamespace(name="one_more.inner")
    with imported("one_more", inner=inner) as module:
        f = warm(function("return one.inner.thing", one=module))
        f.__globals__["witness"] = Witness("witness")
        seen = [f, f.__code__, f.__globals__["witness"], module, inner]
        seen = [weakref.ref(one) for one in seen]
        del sys.modules["one_more.inner"]
    del f, module, inner
    gc.collect()

    assert [one() for one in seen] == [None] * 5
