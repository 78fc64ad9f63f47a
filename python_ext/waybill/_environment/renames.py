"""Names that are others where a payload arrives than where it was made.

Rules are looked up, never searched: by the whole name, and by each package around it.
Tested by tests/python/imports/test_renames.py and test_known_moves.py.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: How many names that were renamed are told.
MAX_APPLIED = 10_000


class Renames:
    """Rules for ``loads(data, renames=...)`` that are checked once, and what they did.

    ``rules`` is a dict from old names to new ones, of three kinds:

    - ``"old.module": "new.module"``: a module, without what is below it;
    - ``"old.package.*": "new.package.*"``: a package and all that is below it;
    - ``"old.module:Name": "new.module:Other"``: what a module has under a name, with
      what is inside of that.

    A name goes before a module, a module before a package, an inner package before an
    outer one; one rule is applied. They hold even where the old name exists. With
    ``known``, moves of libraries that waybill knows are tried besides, for what is not
    here. Raises ValueError or TypeError for what is no rule.
    """

    def __init__(
        self, rules: Mapping[str, str] | None = None, *, known: bool = True
    ) -> None:
        self._rules: Mapping[str, str] = dict(rules or {})
        self._known = known
        #: What was renamed so far, by old name: the first 10 000.
        self.applied: dict[str, str] = {}
        for old, new in self._rules.items():
            _check(old, new)

    def __repr__(self) -> str:
        return f"Renames({dict(self._rules)!r}, known={self._known})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (dict(self._rules), self._known)

    # The rest is for the extension.

    def _module(self, name: str) -> str | None:
        """The module that the caller means by a name; None if there is no rule."""
        return _module_by(self._rules, name)

    def _name(self, module: str, path: str) -> tuple[str, str] | None:
        """The same for what a module has, by a rule about that name."""
        return _name_by(self._rules, module, path)

    def _has_names_of(self, module: str) -> bool:
        """Whether a rule is about what a module has."""
        start = f"{module}:"
        # The cell of a generator is what CPython 3.11 loses where memory is short.
        for old in self._rules:  # noqa: SIM110
            if old.startswith(start):
                return True
        return False

    def _known_module(self, name: str, error: object) -> str | None:
        """Where a module went that cannot be imported, which is what ``error`` says."""
        lacking = getattr(error, "name", None)
        # That one, or a package around it; not what it needs itself.
        if not self._known or not isinstance(lacking, str) or not lacking:
            return None
        return moved_module(name) if f"{name}.".startswith(f"{lacking}.") else None

    def _known_name(self, module: str, path: str) -> tuple[str, str] | None:
        """Where a name went that a module does not have."""
        if not self._known:
            return None
        from waybill._environment.known_moves import MOVES

        return _name_by(MOVES, module, path)

    def _note(self, old: str, new: str) -> None:
        if len(self.applied) < MAX_APPLIED:
            self.applied[old] = new


def _remade(rules: Mapping[str, str], known: bool) -> Renames:
    return Renames(rules, known=known)


def renames_of(given: object) -> Renames:
    """What ``loads`` takes, ready to be asked. A dict is used as it is: its rules are
    checked when they apply."""
    if isinstance(given, Renames):
        return given
    if not hasattr(given, "keys") or not hasattr(given, "get"):
        raise TypeError(f"renames should be a dict or Renames, got {given!r}")
    made = Renames()
    made._rules = given  # type: ignore[assignment]
    return made


def moved_module(name: str) -> str | None:
    """Where a library moved a module of this name to, or from; None if nobody knows."""
    from waybill._environment.known_moves import MOVES

    return _module_by(MOVES, name)


def _module_by(rules: Mapping[str, str], name: str) -> str | None:
    new = rules.get(name)
    if new is not None:
        _check(name, new)
        return new
    end = len(name)
    while end > 0:
        pattern = name[:end] + ".*"
        new = rules.get(pattern)
        if new is not None:
            _check(pattern, new)
            return new[:-2] + name[end:]
        end = name.rfind(".", 0, end)
    return None


def _name_by(
    rules: Mapping[str, str], module: str, path: str
) -> tuple[str, str] | None:
    end = len(path)
    while end > 0:
        old = f"{module}:{path[:end]}"
        new = rules.get(old)
        if new is not None:
            _check(old, new)
            new_module, _, new_path = new.partition(":")
            return new_module, new_path + path[end:]
        end = path.rfind(".", 0, end)
    return None


def _check(old: object, new: object) -> None:
    if not isinstance(old, str) or not isinstance(new, str):
        raise TypeError(f"names should be str, got {old!r}: {new!r}")
    if ":" in old:
        is_rule = _is_name_in_module(old) and _is_name_in_module(new)
    elif old.endswith(".*"):
        is_rule = new.endswith(".*") and _is_name(old[:-2]) and _is_name(new[:-2])
    else:
        is_rule = _is_name(old) and _is_name(new)
    if not is_rule:
        raise ValueError(
            'a rule is "module": "module", "package.*": "package.*" or '
            f'"module:name": "module:name", got {old!r}: {new!r}'
        )


def _is_name_in_module(text: str) -> bool:
    module, _, path = text.partition(":")
    return _is_name(module) and _is_name(path)


def _is_name(text: str) -> bool:
    has_marks = "*" in text or ":" in text or " " in text
    return not has_marks and all(text.split("."))


#: For who is given no rules.
KNOWN = Renames()
Renames.__module__ = "waybill.environment"
