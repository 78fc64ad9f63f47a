"""What a library derives from a class statement has no say in keys and ids."""

import os
import sys

import fresh_process
import pytest
import waybill

SCRIPT = """
import dataclasses, typing, enum, sys
{imports}
import waybill
def handler(x): return x
class Unset: pass
UNSET = Unset()
class Color(enum.Enum): RED = 1
@dataclasses.dataclass
class WithFunction: on_error: typing.Callable = handler
@dataclasses.dataclass
class WithMark: x: typing.Any = UNSET
@dataclasses.dataclass
class WithObject: x: typing.Any = object()
@dataclasses.dataclass
class WithLambda: key: typing.Callable = lambda v: v
@dataclasses.dataclass(frozen=True)
class WithSet: words: frozenset = frozenset(["the", "a", "of", "to"])
@dataclasses.dataclass(slots=True)
class WithSlots: x: typing.Any = (handler, frozenset(["the", "a", "of"]))
@dataclasses.dataclass(kw_only=True)
class WithBuiltin: x: typing.Any = dataclasses.field(default=len); y: typing.Any = UNSET
@dataclasses.dataclass
class WithText:
    "It has a text of its own: <function at 0x12>."
    on_error: typing.Callable = handler
@dataclasses.dataclass
class Derived(WithFunction): more: int = 1
Made = dataclasses.make_dataclass("Made", [("f", typing.Callable, handler)])
def task(): return WithFunction().on_error(3)
sent = [WithFunction, WithMark, WithObject, WithLambda, WithSet, WithSlots, WithBuiltin,
        WithText, Derived, Made, WithFunction(), WithSet(), task]
"""
KEYS = SCRIPT + "print(*map(waybill.fingerprint, sent), sep='\\n')"


def keys(seed, imports=""):
    env = dict(os.environ, PYTHONHASHSEED=str(seed))
    script = KEYS.replace("{imports}", imports)
    return fresh_process.run_script(script, env=env).splitlines()


def test_keys_are_those_of_any_process():
    first = keys(1)

    assert len(set(first)) == 13
    assert keys(2) == first
    assert (
        keys(3, "import json, decimal\nheld = [object() for _ in range(99)]") == first
    )


def sent():
    scope = {"__name__": "nowhere"}
    exec(SCRIPT.replace("{imports}", ""), scope)
    return scope["sent"]


def test_two_definitions_in_one_process_have_one_id():
    one, other = sent(), sent()

    for first, second in zip(one, other, strict=True):
        assert waybill.fingerprint(first) == waybill.fingerprint(second)


def test_docs_are_written_again_where_a_class_arrives():
    classes = [item for item in sent() if isinstance(item, type)]
    program = "[(cls.__name__, cls.__doc__) for cls in value]"

    arrived = fresh_process.send(classes, program)

    for cls, (name, doc) in zip(classes, arrived, strict=True):
        assert name == cls.__name__
        assert (
            doc.split(" at 0x")[0].split("{")[0]
            == (cls.__doc__.split(" at 0x")[0].split("{")[0])
        )


@pytest.mark.parametrize(
    "options", ["", ", class_state='sender'", ", reset_classes=True"]
)
def test_a_doc_that_was_written_again_stays(options):
    cls = sent()[0]
    first = waybill.dumps(cls)
    cls.more = 1
    program = f"""
one, other = waybill.loads(data)
cls = waybill.loads(one)
doc = cls.__doc__.split(" at 0x")
# But for addresses: 3.15 asks for defaults when the doc is first read.
again = waybill.loads(other{options}).__doc__.split(" at 0x")
answer = cls.more, again[0] == doc[0], doc[0].startswith("WithFunction(on_error")
"""

    answer = fresh_process.execute(program, waybill.dumps([first, waybill.dumps(cls)]))

    assert answer == (1, True, True)


def test_a_doc_that_the_author_changed_travels():
    cls = sent()[0]
    cls.__doc__ = "WithFunction(as of <something at 0x12>)"

    assert fresh_process.send(cls, "value.__doc__") == cls.__doc__


def test_a_class_that_comes_back_from_a_worker_has_its_key():
    cls = sent()[0]
    program = "waybill.fingerprint(value)"

    assert fresh_process.send(cls, program) == waybill.fingerprint(cls)
    assert sys.modules.get("nowhere") is None
