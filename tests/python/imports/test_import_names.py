"""What dumps() writes, loads() takes: a module without a name is refused at once."""

import importlib.machinery
import sys
import types

import fresh_process
import pytest
import waybill
from sources import define, imported


def importing(name):
    """A function whose code imports a module of this name, which no source makes."""
    made = define("def f():\n    import replaced\n    return replaced").f
    names = tuple(name if n == "replaced" else n for n in made.__code__.co_names)
    made.__code__ = made.__code__.replace(co_names=names)
    return made


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: [{"key": f}]])
def test_import_of_a_module_without_a_name_is_refused_by_dumps(wrap):
    assert waybill.loads(waybill.dumps(wrap(importing("json"))))

    with pytest.raises(waybill.EncodeError, match="f: .*whose name is empty"):
        waybill.dumps(wrap(importing("")))


class Registered:
    """A class of the module without a name."""


Registered.__module__ = ""


@pytest.mark.parametrize(
    "of",
    [
        lambda module: [module],
        lambda module: define("def f(): return module.x", module=module).f,
        lambda module: Registered,
        lambda module: Registered(),
    ],
    ids=["value", "global", "class", "instance"],
)
def test_module_that_is_registered_without_a_name_breaks_no_payload(of, monkeypatch):
    module = types.ModuleType("")
    module.__spec__ = importlib.machinery.ModuleSpec("", None)
    module.x = 5
    module.Registered = Registered
    monkeypatch.setitem(sys.modules, "", module)
    sent = of(module)

    try:
        data = waybill.dumps(sent)
    except waybill.EncodeError as error:
        assert "whose name is empty" in str(error)
    else:
        assert waybill.loads(data) is not None


def test_class_that_was_put_into_a_library_when_it_was_made_travels_by_value():
    """As parametrised models of pydantic 2.13 are."""
    with imported("in_library") as library:
        made = type("Model[int]", (), {"__module__": "in_library", "kind": 7})
        setattr(library, "Model[int]", made)
        data = waybill.dumps(made)

    assert fresh_process.load(data, "value.kind, value.__name__") == (7, "Model[int]")


def test_parametrised_class_with_a_name_of_its_own_travels_by_that():
    with imported("in_library") as library:
        made = type("Model[int]", (), {"__module__": "in_library"})
        setattr(library, "Model[int]", made)
        library.IntModel = made

        assert waybill.loads(waybill.dumps(made)) is made
        assert [r.chain for r in waybill.imports(made)] == ["in_library.IntModel"]
