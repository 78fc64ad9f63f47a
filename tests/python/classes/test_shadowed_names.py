"""A class body may use the names that the interpreter's own attributes of types have.

Such an attribute is in the dict of the class, where instances find it. The class itself
shows the interpreter's own, most of which cannot be set.
"""

import fresh_process
import pytest
import waybill
from sources import define
from without_caches import dumps_without_caches

NAMES = [
    *("__base__", "__bases__", "__basicsize__", "__class__", "__dict__"),
    *("__dictoffset__", "__flags__", "__itemsize__", "__mro__", "__name__"),
    *("__text_signature__", "__weakrefoffset__"),
]
VALUES = {
    "text": "'shadow'",
    "None": "None",
    "a list": "['shadow']",
    "a tuple of classes": "(dict,)",
    "a property that uses the class": "property(lambda self: C.kind)",
}
HEADS = {
    "plain": "class C:",
    "derived": "class B: pass\nclass C(B):",
    "of a metaclass": "class M(type): pass\nclass C(metaclass=M):",
    "abstract": "import abc\nclass C(abc.ABC):",
    "with a hook": "class B:\n def __init_subclass__(cls): pass\nclass C(B):",
    "with slots": "class C:\n __slots__ = 'x',",
}


def shown_of(value, name):
    """An expression: what the class and its instances show, as text."""
    return (
        f"str(object.__getattribute__({value}(), {name!r})),"
        f" type(vars({value})[{name!r}]).__name__,"
        f" str(type.__dict__['__mro__'].__get__({value})), {value}.kind"
    )


#: Each value in a plain class, and a text in each class.
BODIES = {
    **{value: (HEADS["plain"], VALUES[value]) for value in VALUES},
    **{head: (HEADS[head], VALUES["text"]) for head in HEADS},
}


@pytest.mark.parametrize("head, value", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("name", NAMES)
def test_name_of_a_type_in_a_class_body_arrives(name, head, value):
    made = define(f"{head}\n {name} = {value}\n kind = 'own'")
    shown = shown_of("value", name)

    data = waybill.dumps(made.C)

    assert fresh_process.load(data, shown) == eval(shown, {"value": made.C})
    assert waybill.dumps(made.C) == data == dumps_without_caches(made.C)


@pytest.mark.parametrize("name", NAMES)
def test_class_with_such_a_name_takes_later_payloads(places, name):
    home, worker = places
    home.do(f"class C:\n {name} = 'shadow'\n kind, table = 'own', {{}}")
    shown = shown_of("C", name)
    for _ in range(3):
        worker.load(home.dumps("{'C': C}"))
    worker.do("first, C.table['worker'] = C, 1")

    home.do("C.kind = 'other'")
    for _ in range(2):
        worker.load(home.dumps("{'C': C}"))

    assert worker.get(shown) == home.get(shown)
    assert worker.get("C is first, C.kind, C.table") == (True, "other", {"worker": 1})


@pytest.mark.parametrize("name", NAMES)
def test_class_with_such_a_name_is_sent_on_and_comes_home(places, name):
    home, worker = places
    home.do(f"class C:\n {name} = 'shadow'\n kind = 'own'\nfirst = C")
    data = home.dumps("{'C': C}")
    worker.load(data)

    sent_on = worker.dumps("{'C': C}")
    home.load(sent_on)

    assert home.get("C is first") and sent_on == data
    assert fresh_process.load(sent_on, f"vars(value['C'])[{name!r}]") == "shadow"
