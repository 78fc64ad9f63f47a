"""Compares two object graphs: each object, and which objects are shared.

Compares identity and cycles, and what ``==`` ignores: types, the sign of zero, bits of
a NaN, parts of functions. Uses nothing of waybill.
"""

from __future__ import annotations

import struct
from types import CellType, CodeType, FunctionType
from typing import Any

CODE_PARTS = (
    *("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_stacksize"),
    *("co_flags", "co_name", "co_qualname", "co_code", "co_names", "co_varnames"),
    *("co_freevars", "co_cellvars", "co_exceptiontable"),
    *("co_filename", "co_firstlineno", "co_linetable"),
)
FUNCTION_PARTS = (
    *("__code__", "__defaults__", "__kwdefaults__", "__closure__", "__dict__"),
    *("__name__", "__qualname__", "__module__", "__doc__", "__annotations__"),
)
#: Leaves have no identity of their own.
LEAVES = (bool, int, str, bytes, type(None), type(...), type(NotImplemented))


class GraphDifference(Exception):
    """Two graphs are not equal."""


def bits(value: Any) -> Any:
    """Equal for equal leaves, and for tuples and frozensets of equal leaves."""
    if type(value) is float:
        return "float", struct.pack("<d", value).hex()
    if type(value) is complex:
        return "complex", struct.pack("<dd", value.real, value.imag).hex()
    if type(value) is tuple:
        return "tuple", [bits(item) for item in value]
    if type(value) is frozenset:
        return "frozenset", sorted((bits(item) for item in value), key=repr)
    return type(value).__name__, repr(value)


class Comparison:
    def __init__(self) -> None:
        self.pending: list[tuple[Any, Any]] = []
        # The counterpart of each object in the other graph, by id: of left objects, and
        # of right ones. Both dicts keep the objects alive.
        self.rights: dict[int, Any] = {}
        self.lefts: dict[int, Any] = {}

    def demand(self, holds: bool, left: Any, right: Any) -> None:
        if not holds:
            raise GraphDifference(f"{left!r:.200} differs from {right!r:.200}")

    def record_counterparts(self, left: Any, right: Any) -> bool:
        """Records that the two are counterparts; true if they were. Raises
        GraphDifference if either has another counterpart."""
        known = id(left) in self.rights
        self.demand(known == (id(right) in self.lefts), left, right)
        if known:
            self.demand(self.rights[id(left)] is right, left, right)
            self.demand(self.lefts[id(right)] is left, left, right)
        self.rights[id(left)] = right
        self.lefts[id(right)] = left
        return known

    def run(self, left: Any, right: Any) -> None:
        self.pending.append((left, right))
        while self.pending:
            self.compare(*self.pending.pop())

    def compare(self, left: Any, right: Any) -> None:
        kind = type(left)
        self.demand(kind is type(right), left, right)
        if kind in (float, complex) or kind in LEAVES:
            return self.demand(bits(left) == bits(right), left, right)
        if kind is CodeType:
            return self.compare_code(left, right)
        # There is one empty tuple, and one empty frozenset.
        if kind in (tuple, frozenset) and len(left) == 0:
            return self.demand(left == right, left, right)
        if self.record_counterparts(left, right):
            return None
        if kind in (list, tuple):
            self.demand(len(left) == len(right), left, right)
            self.pending.extend(zip(left, right, strict=True))
        elif kind is dict:
            self.demand(len(left) == len(right), left, right)
            self.pending.extend(zip(left, right, strict=True))
            self.pending.extend(zip(left.values(), right.values(), strict=True))
        elif kind in (set, frozenset):
            same = bits(frozenset(left)) == bits(frozenset(right))
            self.demand(same, left, right)
        elif kind in (bytearray, range):
            self.demand(repr(left) == repr(right), left, right)
        elif kind is slice:
            for part in ("start", "stop", "step"):
                self.pending.append((getattr(left, part), getattr(right, part)))
        elif kind is CellType:
            self.compare_cells(left, right)
        elif kind is FunctionType:
            self.compare_functions(left, right)
        else:
            raise GraphDifference(f"no comparison for {kind}; add one here")
        return None

    def compare_cells(self, left: CellType, right: CellType) -> None:
        contents = []
        for cell in left, right:
            try:
                contents.append([cell.cell_contents])
            except ValueError:
                contents.append([])
        self.demand(len(contents[0]) == len(contents[1]), left, right)
        self.pending.extend(zip(*contents, strict=True))

    def compare_functions(self, left: FunctionType, right: FunctionType) -> None:
        for part in FUNCTION_PARTS:
            mine, other = getattr(left, part), getattr(right, part)
            if part in ("__closure__", "__dict__", "__annotations__", "__kwdefaults__"):
                # Only the contents count: one side may share the object.
                self.compare_parts(mine, other)
            else:
                self.pending.append((mine, other))
        for name in names_in(left.__code__):
            held = [
                side.__globals__.get(name, GraphDifference) for side in (left, right)
            ]
            self.demand(
                (held[0] is GraphDifference) == (held[1] is GraphDifference),
                left,
                right,
            )
            if held[0] is not GraphDifference:
                self.pending.append((held[0], held[1]))
        self.record_counterparts(left.__globals__, right.__globals__)

    def compare_parts(self, left: Any, right: Any) -> None:
        self.demand(type(left) is type(right), left, right)
        if type(left) is dict:
            self.demand(list(left) == list(right), left, right)
            left, right = left.values(), right.values()
        self.demand(left is None or len(left) == len(right), left, right)
        self.pending.extend(zip(left or (), right or (), strict=True))

    def compare_code(self, left: CodeType, right: CodeType) -> None:
        for part in CODE_PARTS:
            mine, other = getattr(left, part), getattr(right, part)
            self.demand(mine == other, (part, mine), (part, other))
        self.demand(len(left.co_consts) == len(right.co_consts), left, right)
        for mine, other in zip(left.co_consts, right.co_consts, strict=True):
            if type(mine) is CodeType:
                self.compare_code(mine, other)
            else:
                self.demand(bits(mine) == bits(other), mine, other)


def names_in(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if type(constant) is CodeType:
            names |= names_in(constant)
    return names


def demand_same(left: Any, right: Any) -> None:
    """Raises GraphDifference, with the first two objects that differ."""
    Comparison().run(left, right)
