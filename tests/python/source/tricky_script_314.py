"""Annotations of a script that name what there is not yet (PEP 649), with expressions
that use them.

Sent to all versions of Python from 3.14 on by test_scripts_cross.py.
"""

from dataclasses import dataclass, field, fields


@dataclass
class Node:
    value: Undefined
    after: Undefined[int] | None = None
    many: list[Undefined] = field(default_factory=list)
    text: "Node | None" = None

    def method(self, other: Undefined = 2) -> list[Missing]:
        return other


def made(kind):
    @dataclass
    class Inner:
        first: Undefined[kind]
        second: kind

    return Inner


Inner = made(int)
REFERENCE = fields(Node)[0].type

EXPRESSIONS = [
    "Node(1), Node(1) == Node(1), Node(1).method(), REFERENCE.__forward_arg__",
    "REFERENCE.__owner__ is Node, REFERENCE.__forward_is_class__",
    "[Node.__dataclass_fields__[name].type for name in ('value', 'many', 'text')]",
    "Node.__dataclass_fields__['after'].type.__extra_names__",
    "Inner(1, 2), Inner.__dataclass_fields__['second'].type",
    "Inner.__dataclass_fields__['first'].type.__forward_arg__.partition('[')[0]",
]
