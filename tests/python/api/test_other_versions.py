"""Payloads of another version of waybill, which names helpers that are not here."""

import pickle
import subprocess
import sys

import pytest
import waybill
from refusals import refused_as
from waybill import _pickled
from waybill.integrations import pickle as envelope

ADVICE = (
    "another version of waybill wrote it, and this is waybill "
    f"{waybill.__version__}; install the same version on both sides"
)


def of_another_version(name):
    """A payload that needs a helper of this name."""
    code = f"""
import sys, waybill, functools
from waybill import _reducers
_reducers.{name} = _reducers.make_lru_cache
_reducers.make_lru_cache.__qualname__ = _reducers.make_lru_cache.__name__ = {name!r}
sys.stdout.buffer.write(waybill.dumps(functools.lru_cache(lambda: 1)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert name.encode() in done.stdout
    return done.stdout


def test_helper_that_another_version_has_is_told_with_the_version():
    payload = of_another_version("make_lru_trunk")

    with refused_as("unknown_format") as caught:
        waybill.loads(payload)
    assert "no make_lru_trunk in waybill._reducers" in str(caught.value)
    assert ADVICE in str(caught.value)


def test_module_that_another_version_has_is_told_with_the_version():
    code = """
import sys, types, waybill
from importlib.machinery import ModuleSpec
name = "waybill._kinds.of_tomorrow"
sys.modules[name] = module = types.ModuleType(name)
module.__spec__ = ModuleSpec(name, None)
module.__file__ = "x.py"
def make(): pass
make.__module__ = name
module.make = make
class Thing:
    def __reduce__(self): return make, ()
sys.stdout.buffer.write(waybill.dumps(Thing()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    with pytest.raises(waybill.MissingModuleError) as caught:
        waybill.loads(done.stdout)

    assert "waybill._kinds.of_tomorrow" in str(caught.value)
    assert ADVICE in str(caught.value)


def test_name_that_a_module_of_others_lacks_is_its_own_error():
    class Thing:
        def __reduce__(self):
            return eval, ("__import__('json').no_such",)

    with pytest.raises(AttributeError, match="no_such"):
        waybill.loads(waybill.dumps(Thing()))


def test_pickle_of_another_version_is_told_with_the_version():
    stream = envelope.dumps(1).replace(b"\x04load\x93", b"\x09load_peel\x93")

    with refused_as("unknown_format") as caught:
        pickle.loads(stream)
    assert f"no load_peel in waybill._pickled: {ADVICE}" in str(caught.value)


def test_modules_can_be_asked_for_names_that_they_do_not_have():
    for name in "__no_such__", "no_such":
        assert not hasattr(_pickled, name)


def test_format_of_another_version_is_told():
    payload = bytearray(waybill.dumps(1))
    payload[payload.index(b"\xa2wb\x01") + 3] = 2

    with pytest.raises(waybill.DecodeError, match="read it with a newer waybill"):
        waybill.loads(bytes(payload))
