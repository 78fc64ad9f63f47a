"""The public names: which there are, in which module, and that there are no others."""

import importlib
import inspect
import pickle

import fresh_process
import pytest
import waybill

NAMES = {
    "waybill": """
        dumps loads dump load save open Opaque Pickler Unpickler CloudPickler
        configure restrict DATA_ONLY
        imports ImportRecord inspect explain Explanation fingerprint missing pickled
        prepare
        forget_classes ClassChange cache_info clear_caches
        register_pickle_by_value unregister_pickle_by_value
        list_registry_pickle_by_value
        Error EncodeError PicklingError DecodeError UnpicklingError
        MissingModuleError PolicyError PythonMismatchError SignatureError SizeWarning
    """,
    "waybill.security": """
        Policy Limits Verdict STANDARD_TYPES STRICT_LIMITS INSTALLED_CODE
        KeyRing SigningKey sign verify application
    """,
    "waybill.calls": """
        dumps_call run_call loads_outcome result_of CallError PreparedCall RemoteError
    """,
    "waybill.environment": "missing versions MissingImport Renames",
}
#: What `from waybill import *` leaves out, since it would take Python's own away.
HIDES_BUILTIN = {"open"}
#: Those of waybill, for they are loaded with it or when they are asked for.
MODULES = {"security", "calls", "environment"}

each_namespace = pytest.mark.parametrize("namespace", NAMES)
each_name = pytest.mark.parametrize(
    ("namespace", "name"),
    [(namespace, name) for namespace in NAMES for name in NAMES[namespace].split()],
)


@each_namespace
def test_namespace_exports_exactly(namespace):
    module = importlib.import_module(namespace)

    assert {*module.__all__} == {*NAMES[namespace].split()} - HIDES_BUILTIN
    assert len(module.__all__) == len({*module.__all__})


def test_package_has_no_other_public_names():
    public = {name for name in dir(waybill) if not name.startswith("_")}
    modules = {name for name in public if inspect.ismodule(getattr(waybill, name))}

    assert public - modules == set(waybill.__all__) | HIDES_BUILTIN
    assert MODULES <= modules


@pytest.mark.parametrize("namespace", sorted(NAMES.keys() - {"waybill"}))
def test_module_defines_no_other_public_names(namespace):
    module = importlib.import_module(namespace)
    defined = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == namespace
    }

    assert defined <= set(module.__all__)


@each_name
def test_public_name_has_a_docstring(namespace, name):
    assert getattr(importlib.import_module(namespace), name).__doc__


@pytest.mark.parametrize("module", sorted(MODULES))
def test_module_is_an_attribute_of_the_package(module):
    fresh_process.run_script(f"""
import sys
import waybill
assert {module!r} in dir(waybill)
asked = waybill.{module}
import waybill.{module}
assert asked is sys.modules["waybill.{module}"] is waybill.{module}
""")


@pytest.mark.parametrize("module", sorted(MODULES))
def test_names_can_be_imported_before_the_package(module):
    name = NAMES[f"waybill.{module}"].split()[0]

    fresh_process.run_script(f"""
from waybill.{module} import {name}
import waybill
assert waybill.{module}.{name} is {name}
""")


@each_name
def test_class_and_function_of_a_namespace_say_where_they_are_found(namespace, name):
    public = getattr(importlib.import_module(namespace), name)

    if namespace != "waybill" and callable(public):
        assert public.__module__ == namespace
    if isinstance(public, type) or inspect.isfunction(public):
        assert pickle.loads(pickle.dumps(public)) is public
        assert waybill.loads(waybill.dumps(public)) is public


def test_function_that_names_a_namespace_travels_where_it_was_not_asked_for():
    output = fresh_process.run_script("""
import waybill
def told(): return waybill.calls.CallError("gone", "away"), waybill.environment.missing
print(waybill.dumps(told).hex())
""")

    output = fresh_process.run_script(f"""
import waybill
error, missing = waybill.loads(bytes.fromhex({output.strip()!r}))()
print(error, missing.__module__)
""")
    assert output.strip() == "gone: away waybill.environment"
