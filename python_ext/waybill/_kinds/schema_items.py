"""Reducers of SQLAlchemy tables, columns, constraints: without state of the process.

Each item has a number in the order in which the process made them, which sorts the
columns and the constraints of a table; it travels as its rank among these. Sets of
items travel in that order, since their reprs show addresses. Cached properties do not
travel. Tested by tests/libraries/test_derived_of_tables.py.
"""

from __future__ import annotations

import sys
from typing import Any

#: Attributes that are sets of schema items.
_SETS = ("constraints", "foreign_keys", "indexes")
#: Attributes that constructors set over a cached property of the class.
_ASSIGNED = frozenset(
    {"_proxies", "dialect_options", "foreign_keys", "primary_key", "type"}
)
_NUMBER = "_creation_order"


def reduce_schema_item(obj: Any) -> Any:
    made, arguments, state = obj.__reduce_ex__(2)[:3]
    slots: dict[str, Any] = {}
    if isinstance(state, tuple):  # A mapped_column() has slots.
        state, slots = state
    given = _without_computed(type(obj), dict(state or {}, **slots))
    options = given.get("dialect_options", {}).values()
    if not any(getattr(option, "_non_defaults", None) for option in options):
        # It has only defaults, which a dialect adds when it reads them.
        given.pop("dialect_options", None)
    if _NUMBER in given:
        del given[_NUMBER]
        rank = _rank_in_table(obj)
        if rank is not None:
            given[_NUMBER] = rank
    for name in _SETS:
        if isinstance(given.get(name), set):
            given[name] = sorted(given[name], key=_sort_key)
    return made, arguments, given, None, None, set_schema_item


def reduce_type(obj: Any) -> Any:
    """Reduces a type of columns. All tables of a process share some types."""
    made, arguments, state = obj.__reduce_ex__(2)[:3]
    return made, arguments, _without_computed(type(obj), state or {}) or None


def _without_computed(cls: Any, state: dict[str, Any]) -> dict[str, Any]:
    memoized = sys.modules["sqlalchemy.util"].memoized_property
    given = {}
    for name in state:
        is_computed = isinstance(getattr(cls, name, None), memoized)
        if name != "_memoized_keys" and (name in _ASSIGNED or not is_computed):
            given[name] = state[name]
    return given


def _rank_in_table(obj: Any) -> int | None:
    """The number of older items in its table; None for an item without a table."""
    table = getattr(obj, "__dict__", {}).get("table", getattr(obj, "parent", None))
    if not isinstance(table, sys.modules["sqlalchemy"].Table):
        return None
    others = [*table.columns, *table.constraints]
    older = [o for o in others if o._creation_order < obj._creation_order]
    return len(older)


def _sort_key(item: Any) -> tuple[int, str]:
    """The sort key of an item in a set: its number, or else that of its column."""
    parent = getattr(item, "parent", None)
    number: int = getattr(item, _NUMBER, getattr(parent, _NUMBER, 0))
    name = getattr(item, "name", None) or getattr(item, "_colspec", "")
    return number, str(name)


def set_schema_item(obj: Any, state: dict[str, Any]) -> None:
    """Sets the state of a new item; without a table it gets the next number here."""
    for name in state:
        value = state[name]
        if name in _SETS and type(value) is list:
            value = set(value)
        object.__setattr__(obj, name, value)
    if _NUMBER not in state and hasattr(type(obj), _NUMBER):
        sys.modules["sqlalchemy.util"].set_creation_order(obj)
