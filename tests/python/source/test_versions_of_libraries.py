"""What the standard library keeps of classes and functions differs between versions:
what arrives is what the receiver's own library would have made."""

import functools
import sys
import typing

import pytest
import waybill
from other_python import as_of_another_python


class Node:
    def __init__(self, parent: typing.Optional["Node"] = None):
        self.parent = parent

    def root(self) -> typing.Union["Node", None]:
        return self.parent.root() if self.parent else self


class Options(typing.TypedDict, total=False):
    name: "str"
    node: typing.Optional["Node"]


@typing.runtime_checkable
class HasRoot(typing.Protocol):
    depth: int

    def root(self): ...


class Deep(Node):
    depth = 3


class Kinds:
    @functools.singledispatchmethod
    def kind(self, value):
        return "any"

    @kind.register
    def _(self, value: int):
        return "int"


@pytest.fixture(autouse=True)
def by_value():
    waybill.register_pickle_by_value(sys.modules[__name__])
    yield
    waybill.unregister_pickle_by_value(sys.modules[__name__])


def arrived(obj):
    return waybill.loads(as_of_another_python(waybill.dumps(obj, source=True)))


def test_forward_references_go_by_their_text():
    typing.get_type_hints(Node.root)  # What it gives is kept in them.

    node = arrived(Node)

    hint = node.root.__annotations__["return"]
    assert hint == typing.Union[typing.ForwardRef("Node"), None]
    assert arrived(typing.ForwardRef("A | B", is_class=True)) == typing.ForwardRef(
        "A | B", is_class=True
    )


def test_typed_dicts_have_their_keys():
    options = arrived(Options)

    assert options(name="a") == {"name": "a"}
    assert options.__optional_keys__ == {"name", "node"}
    assert not options.__total__


def test_protocols_know_their_members():
    has_root, deep, node = arrived((HasRoot, Deep, Node))

    assert isinstance(deep(), has_root)
    assert not isinstance(node(), has_root) and not isinstance(3, has_root)


def test_methods_that_dispatch_do_so():
    kinds = arrived(Kinds)

    assert kinds().kind(3) == "int" and kinds().kind("") == "any"
    assert waybill.loads(waybill.dumps(Kinds))().kind(3) == "int"
