"""A NamedTuple that does not import ``typing``.

``typing`` and ``collections``, with their imports, took most of the time of ``import
waybill``. This class is equivalent for field names that are not keywords and do not
begin with an underscore. Type checkers see ``typing.NamedTuple``. Tested by
tests/python/api/test_import_time.py.
"""

from __future__ import annotations

from _collections import _tuplegetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class _NamedTupleMeta(type):
    """The metaclass of NamedTuple alone; its subclasses are plain classes."""

    def __new__(mcs, name: str, bases: tuple[type, ...], scope: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(mcs, name, bases, scope)
        fields = tuple(scope.get("__annotations__", ()))
        defaults = {field: scope.pop(field) for field in fields if field in scope}
        getters = {
            field: _tuplegetter(index, f"Alias for field number {index}")
            for index, field in enumerate(fields)
        }
        given = {
            "__new__": _make_constructor(name, fields, defaults, scope),
            "__slots__": (),
            "__match_args__": fields,
            "_fields": fields,
            "_field_defaults": defaults,
        }
        return type(name, (tuple,), _METHODS | getters | given | scope)


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class NamedTuple(metaclass=_NamedTupleMeta):
        """The base of a class statement whose annotations are the fields."""


def _make_constructor(
    name: str, fields: tuple[str, ...], defaults: dict[str, Any], scope: dict[str, Any]
) -> Any:
    # Compiled, so that Python binds arguments and reports errors as for any function.
    listed = "".join(f"{field}, " for field in fields)
    new = eval(
        f"lambda _cls, {listed}: _new(_cls, ({listed}))",
        {"_new": tuple.__new__, "__builtins__": {}, "__name__": scope["__module__"]},
    )
    new.__name__, new.__qualname__ = "__new__", f"{name}.__new__"
    new.__doc__ = f"Create new instance of {name}({listed.rstrip(', ')})"
    new.__defaults__ = tuple(defaults.values())
    new.__annotations__ = dict(scope.get("__annotations__", ()))
    return new


def _make(cls: Any, iterable: Iterable[Any]) -> Any:
    """An instance with the values of an iterable."""
    made = tuple.__new__(cls, iterable)
    if len(made) != len(cls._fields):
        raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
    return made


def _replace(self: Any, /, **changes: Any) -> Any:
    """A copy with other values in some fields."""
    made = self._make(map(changes.pop, self._fields, self))
    if changes:
        raise TypeError(f"Got unexpected field names: {list(changes)!r}")
    return made


def _as_dict(self: Any) -> dict[str, Any]:
    """A dict of the fields."""
    return dict(zip(self._fields, self, strict=True))


def _new_arguments(self: Any) -> tuple[Any, ...]:
    """The arguments of ``__new__`` for copies and pickles."""
    return tuple(self)


def _format(self: Any) -> str:
    fields = ", ".join(f"{name}={value!r}" for name, value in _as_dict(self).items())
    return f"{type(self).__name__}({fields})"


_METHODS = {
    "_make": classmethod(_make),
    "_replace": _replace,
    "__replace__": _replace,
    "_asdict": _as_dict,
    "__repr__": _format,
    "__getnewargs__": _new_arguments,
}
