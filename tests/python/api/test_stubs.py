"""The stubs, and what is exported, are what the modules hold."""

import ast
import inspect
import re
from pathlib import Path

import pytest
import waybill
from waybill import _core

PACKAGE = Path(waybill.__file__).parent
STUB = PACKAGE / "_core.pyi"

if not STUB.exists():
    pytest.skip("there are no stubs here", allow_module_level=True)

STATEMENTS = ast.parse(STUB.read_text(encoding="utf-8")).body
DEFINED = {node.name: node for node in STATEMENTS if isinstance(node, ast.FunctionDef)}
CLASSES = {node.name: node for node in STATEMENTS if isinstance(node, ast.ClassDef)}
#: The public functions: only these have a docstring.
SIGNED = {name for name in DEFINED if getattr(_core, name).__doc__}
CONSTANTS = {node.target.id for node in STATEMENTS if isinstance(node, ast.AnnAssign)}


def names_of(module):
    return {name for name in dir(module) if not name.startswith("_")}


def test_stub_names_all_that_is_in_the_extension():
    assert DEFINED.keys() | CLASSES.keys() | CONSTANTS == names_of(_core)


@pytest.mark.parametrize("name", CLASSES)
def test_stub_names_all_that_a_class_has(name):
    told = {
        getattr(node, "name", None) or node.target.id for node in CLASSES[name].body
    }

    assert told - {"__new__"} == names_of(getattr(_core, name))


@pytest.mark.parametrize("name", sorted(SIGNED))
def test_stub_has_the_parameters_that_the_docstring_tells(name):
    arguments = DEFINED[name].args
    told = list(inspect.signature(getattr(_core, name)).parameters)

    parameters = [
        argument.arg
        for argument in arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    ]
    assert told == parameters


@pytest.mark.parametrize("function", [waybill.dumps, waybill.loads])
def test_exported_function_tells_its_defaults_and_each_option(function):
    signature = inspect.signature(function)
    arguments = DEFINED[function.__name__].args
    positional = dict(
        zip(reversed(arguments.args), reversed(arguments.defaults), strict=False)
    )
    defaults = positional | dict(
        zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    )

    assert {
        name: parameter.default
        for name, parameter in signature.parameters.items()
        if parameter.default is not parameter.empty
    } == {key.arg: ast.literal_eval(value) for key, value in defaults.items()}
    told = re.findall(r"^(\w+(?:, \w+)*)$", function.__doc__, re.MULTILINE)
    assert set(", ".join(told).split(", ")) == {key.arg for key in defaults}


@pytest.mark.parametrize("name", sorted(DEFINED))
def test_function_takes_as_many_arguments_as_the_stub_says(name):
    arguments = DEFINED[name].args
    most = len(arguments.posonlyargs) + len(arguments.args)

    for wrong in {0, most + 1, most + 2} - {most}:
        with pytest.raises(TypeError):
            getattr(_core, name)(*[b""] * wrong)


def test_functions_with_a_docstring_are_the_public_ones():
    public = {
        name for name in DEFINED if getattr(_core, name) is vars(waybill).get(name)
    }

    assert public == SIGNED


def test_package_is_marked_as_typed():
    assert (PACKAGE / "py.typed").exists()


def test_public_functions_say_what_module_they_are_of():
    kinds = [waybill.Error, waybill.DecodeError, waybill.EncodeError]

    assert all(kind.__module__.startswith("waybill") for kind in kinds)
