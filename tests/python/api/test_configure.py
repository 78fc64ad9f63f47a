"""waybill.configure: what a process sets once for all of its calls."""

import inspect
import io
import itertools
import json
import os
import pickle
import threading
import warnings

import fresh_process
import pytest
import waybill
from sources import define, imported
from waybill import _core
from waybill._api import configuration
from waybill.integrations import pickle as envelope

KEY, OTHER_KEY = (
    waybill.security.SigningKey.generate(),
    waybill.security.SigningKey.generate(),
)
#: What says something of one object, or nothing at all.
OF_ONE_CALL = {
    *("obj", "data", "copy", "buffer_callback", "buffers"),
    *("protocol", "fix_imports", "encoding", "errors"),
}


@pytest.fixture(autouse=True)
def as_at_the_start():
    yield
    waybill.configure(**dict.fromkeys(configuration.TABLE))


def dumped(obj, **options):
    return waybill.dumps(obj, **options)


def pickled_to_a_file(obj, **options):
    file = io.BytesIO()
    waybill.Pickler(file, **options).dump(obj)
    return file.getvalue()


def dumped_to_a_file(obj, **options):
    file = io.BytesIO()
    waybill.dump(obj, file, **options)
    return file.getvalue()


def sent_as_a_call(obj, **options):
    return waybill.calls.dumps_call(len, [obj], **options)


def sent_as_a_prepared_call(obj, **options):
    return waybill.prepare(len, **options).dumps(obj)


def dumped_for_an_engine(obj):
    return payload_in(envelope.dumps(obj))


def pickled_for_an_engine(obj):
    file = io.BytesIO()
    envelope.Pickler(file).dump(obj)
    return payload_in(file.getvalue())


def payload_in(stream):
    import pickletools

    return next(a for o, a, _ in pickletools.genops(stream) if "BYTES" in o.name)


SENDERS = [
    *(dumped, pickled_to_a_file, dumped_to_a_file),
    *(sent_as_a_call, sent_as_a_prepared_call),
]
FOR_ENGINES = [dumped_for_an_engine, pickled_for_an_engine, envelope.payload]


def loaded(data, **options):
    return waybill.loads(data, **options)


def loaded_from_a_file(data, **options):
    return waybill.load(io.BytesIO(data), **options)


def unpickled_from_a_file(data, **options):
    return waybill.Unpickler(io.BytesIO(data), **options).load()


def loaded_by_an_engine(data):
    return envelope.loads(envelope.stream(data))


LOADERS = [loaded, loaded_from_a_file, unpickled_from_a_file]


def is_signed_by(data, key):
    try:
        waybill.security.verify(data, waybill.security.KeyRing(key))
    except waybill.SignatureError:
        return False
    return True


def test_each_option_of_dumps_and_loads_can_be_configured():
    taken = {
        name
        for function in (waybill.dumps, waybill.loads)
        for name in inspect.signature(function).parameters
    }

    assert taken - OF_ONE_CALL <= configuration.TABLE.keys()
    assert not taken & OF_ONE_CALL & configuration.TABLE.keys()
    for name in configuration.TABLE:
        assert name in waybill.configure.__doc__


#: For each option of dumps: a value, another, and whether a payload of `send` shows it.
OF_DUMPS = {
    "by_value": ([json], (), lambda send: b"raw_decode" in send(json.JSONDecoder)),
    "replace": (
        "fresh",
        "error",
        lambda send: not refuses(lambda: send(threading.Lock())),
    ),
    "key": (KEY, OTHER_KEY, lambda send: is_signed_by(send(1), KEY)),
    "application": (
        b"a",
        b"",
        lambda send: waybill.security.application(send(1)) == b"a",
    ),
    "compress": ("zstd", False, lambda send: len(send(bytes(100_000))) < 10_000),
    "warn_above": (99, 0, lambda send: warns(lambda: send(bytes(100)))),
    "source": (True, False, lambda send: b"# A note." in send(NOTED)),
    "environment": (True, False, lambda send: "environment" in inspected(send(1))),
}
NOTED = define("def value(): return 1  # A note.").value


def inspected(data):
    return waybill.inspect(data)


def warns(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return waybill.SizeWarning in [warning.category for warning in caught]


def refuses(call):
    try:
        call()
    except (waybill.Error, ModuleNotFoundError):
        return True
    return False


@pytest.mark.parametrize("option", OF_DUMPS)
@pytest.mark.parametrize("send", SENDERS + FOR_ENGINES)
def test_what_the_process_is_told_of_dumps_holds_wherever_objects_are_packed(
    option, send
):
    value, _, shows = OF_DUMPS[option]
    assert not shows(send)

    waybill.configure(**{option: value})
    told = shows(send)
    waybill.configure(**{option: None})

    assert told and not shows(send)


@pytest.mark.parametrize("option", OF_DUMPS)
@pytest.mark.parametrize("send", SENDERS)
def test_what_a_call_of_dumps_says_goes_first(option, send):
    value, other, shows = OF_DUMPS[option]

    waybill.configure(**{option: value})
    assert not shows(lambda obj: send(obj, **{option: other}))

    waybill.configure(**{option: other})
    assert shows(lambda obj: send(obj, **{option: value}))


ANYTHING = waybill.security.Policy("allow code\nallow call *")
ADD = waybill.dumps(lambda x: x + 1, key=KEY)


def does_not_add(load):
    return refuses(lambda: load(ADD)) or load(ADD)(1) != 2


def payloads_that_need_a_module():
    """Of a function in the module, and of one that uses the module."""
    name = "module_that_is_gone"
    inside = define("def loads(): pass", name).loads
    with imported(name, loads=inside):
        user = define(f"import {name}\ndef use(): return {name}").use
        return waybill.dumps(inside), waybill.dumps(user)


IS_GONE, USES_WHAT_IS_GONE = payloads_that_need_a_module()


def loaded_or_none(load, data):
    try:
        return load(data)
    except ModuleNotFoundError:
        return None


def loses_state(load):
    """Whether a payload overwrites what this process has set of its class."""
    program = """
scope = {"__name__": "nowhere"}
exec("class Kept: state = 'sent'", scope)
answer = waybill.dumps(scope["Kept"])
"""
    data = fresh_process.execute(program)
    load(data).state = "changed"
    return load(data).state == "sent"


class Asks:
    def __reduce__(self):
        return _core.current_map_location, ()


ASKS = waybill.dumps(Asks())

#: For each option of loads: a value, another, and whether what `load` gives shows it.
OF_LOADS = {
    "reset_classes": (True, False, loses_state),
    "class_state": ("sender", "worker", loses_state),
    "missing": (
        "later",
        "error",
        lambda load: loaded_or_none(load, USES_WHAT_IS_GONE) is not None,
    ),
    "map_location": ("a", "b", lambda load: load(ASKS) == "a"),
    "renames": (
        {"module_that_is_gone": "json"},
        {"another_module": "json"},
        lambda load: loaded_or_none(load, IS_GONE) is json.loads,
    ),
    "code": (
        "opaque",
        "run",
        lambda load: isinstance(loaded_or_none(load, IS_GONE), waybill.Opaque),
    ),
    "policy": (waybill.DATA_ONLY, ANYTHING, does_not_add),
    "keys": (
        waybill.security.KeyRing(OTHER_KEY),
        waybill.security.KeyRing(KEY),
        does_not_add,
    ),
    "limits": (
        waybill.security.Limits(max_bytes=10),
        waybill.security.Limits(),
        does_not_add,
    ),
}


def test_each_option_of_a_call_has_a_row():
    of_calls = {name for name, row in configuration.TABLE.items() if row.apply is None}

    assert OF_DUMPS.keys() >= configuration.ENCODING.keys()
    assert OF_LOADS.keys() >= configuration.DECODING.keys()
    assert OF_DUMPS.keys() | OF_LOADS.keys() == of_calls


@pytest.mark.parametrize("option", OF_LOADS)
@pytest.mark.parametrize("load", [*LOADERS, loaded_by_an_engine])
def test_what_the_process_is_told_of_loads_holds_wherever_objects_are_loaded(
    option, load
):
    value, other, shows = OF_LOADS[option]
    assert not shows(load)

    waybill.configure(**{option: value})
    assert shows(load)

    waybill.configure(**{option: other})
    assert not shows(load)


#: An Unpickler takes what is said of classes from the process alone.
NO_ARGUMENTS = [
    (unpickled_from_a_file, option) for option in ("reset_classes", "class_state")
]


@pytest.mark.parametrize(
    ("load", "option"),
    [pair for pair in itertools.product(LOADERS, OF_LOADS) if pair not in NO_ARGUMENTS],
)
def test_what_a_call_of_loads_says_goes_first(load, option):
    value, other, shows = OF_LOADS[option]

    waybill.configure(**{option: value})
    assert not shows(lambda data: load(data, **{option: other}))

    waybill.configure(**{option: other})
    assert shows(lambda data: load(data, **{option: value}))


def test_options_that_belong_together_can_come_from_both_sides():
    waybill.configure(keys=waybill.security.KeyRing(KEY))

    assert waybill.loads(waybill.dumps([1], key=KEY), policy=waybill.DATA_ONLY) == [1]
    assert refuses(lambda: waybill.loads(waybill.dumps([1]), policy=waybill.DATA_ONLY))


def test_what_was_kept_on_other_terms_is_asked_for_again():
    stream = pickle.dumps(waybill.pickled(lambda: 1))
    pickle.loads(stream)

    waybill.configure(policy=waybill.DATA_ONLY)

    with pytest.raises(waybill.PolicyError):
        pickle.loads(stream)


def in_fresh_process(code):
    return fresh_process.run_script(code).split()


@pytest.mark.parametrize("loosened", ["configured", "called", "both"])
def test_what_is_restricted_cannot_be_loosened(loosened):
    code = f"""
import waybill
from waybill.integrations import pickle as envelope
anything = waybill.security.Policy("allow code\\nallow call *")
payload = waybill.dumps(lambda: 1)
waybill.restrict(policy=waybill.DATA_ONLY)
if {loosened!r} != "called":
    waybill.configure(policy=anything, limits=waybill.security.Limits())
policy = anything if {loosened!r} != "configured" else None
for load in (
    lambda: waybill.loads(payload, policy=policy),
    lambda: envelope.loads(envelope.stream(payload)),
):
    try:
        load()
    except waybill.PolicyError:
        print("refused")
"""
    assert in_fresh_process(code) == ["refused"] * 2


def test_a_configured_policy_is_no_restriction():
    waybill.configure(policy=waybill.DATA_ONLY)
    waybill.configure(policy=None)

    assert waybill.loads(ADD)(1) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_forked_children_inherit_what_is_configured():
    code = """
import os, sys, waybill
key = waybill.security.SigningKey.generate()
ring = waybill.security.KeyRing()
ring.add(key)
waybill.configure(key=key, policy=waybill.DATA_ONLY, replace="fresh")
child = os.fork()
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
import threading
waybill.security.verify(waybill.dumps(threading.Lock()), ring)
try:
    waybill.loads(waybill.dumps(lambda: 1))
except waybill.PolicyError:
    print("child")
"""
    assert in_fresh_process(code) == ["child"]


def test_pickle_of_the_integrations_obeys_what_is_restricted_in_each_way_to_load():
    code = """
import io, pickle, waybill
from waybill.integrations import pickle as envelope
class Big:
    def __reduce_ex__(self, protocol):
        return bytes, (pickle.PickleBuffer(bytearray(b"12")),)
buffers = []
streams = [
    (envelope.dumps(lambda: 1), None),
    (envelope.dumps([Big()], buffer_callback=buffers.append), buffers),
    (pickle.dumps([waybill.pickled(lambda: 1)]), None),
]
waybill.restrict(policy=waybill.DATA_ONLY)
for stream, buffers in streams:
    for load in (
        lambda: envelope.loads(stream, buffers=buffers),
        lambda: envelope.load(io.BytesIO(stream), buffers=buffers),
        lambda: envelope.Unpickler(io.BytesIO(stream), buffers=buffers).load(),
    ):
        try:
            load()
        except waybill.PolicyError:
            print("refused")
print(envelope.loads(envelope.dumps(["data"]))[0])
"""
    assert in_fresh_process(code) == ["refused"] * 9 + ["data"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"protocol": 5}, TypeError),
        ({"replace": "no such"}, ValueError),
        ({"by_value": ["no such"]}, ValueError),
        ({"key": waybill.security.KeyRing(KEY)}, TypeError),
        ({"keys": KEY}, TypeError),
        ({"application": "text"}, TypeError),
        ({"policy": "allow code"}, TypeError),
        ({"limits": 3}, TypeError),
        ({"limits": ("many",) * 9}, TypeError),
        ({"missing": "never"}, ValueError),
        ({"class_state": "both"}, ValueError),
        ({"max_classes": 0}, ValueError),
        ({"trace": 1}, TypeError),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else value.__name__,
)
def test_what_no_call_would_take_is_refused_and_nothing_is_set(options, error):
    with pytest.raises(error):
        waybill.configure(**{"application": b"a", **options})

    assert waybill.security.application(waybill.dumps(1)) is None


def test_what_there_is_to_configure_is_told_who_asks_for_something_else():
    with pytest.raises(
        TypeError, match="no option colour; there are by_value, .*missing"
    ):
        waybill.configure(colour=1)
