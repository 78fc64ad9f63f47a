"""Names that differ between the sender and the receiver of a payload.

Rules are found by lookup, not by search: for the whole name, and for each package.
Tested by tests/python/imports/test_renames.py and test_known_moves.py.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: The maximal number of entries of `Renames.applied`.
MAX_APPLIED = 10_000


class Renames:
    """Rules for ``loads(data, renames=...)``, checked once, and a record of their use.

    ``rules`` is a dict from old names to new ones, of three kinds:

    - ``"old.module": "new.module"``: a module, without its submodules;
    - ``"old.package.*": "new.package.*"``: a package with all its submodules;
    - ``"old.module:Name": "new.module:Other"``: a global of a module, with its
      attributes.

    The most specific rule applies: that for a global before that for its module, then
    the innermost package. Rules apply even if the old name exists. With ``known``,
    moves of libraries that waybill knows are tried too, for names that do not exist
    here. Raises ValueError or TypeError for a malformed rule.
    """

    def __init__(
        self, rules: Mapping[str, str] | None = None, *, known: bool = True
    ) -> None:
        self._rules: Mapping[str, str] = dict(rules or {})
        self._known = known
        #: New names by old name, of those used so far: at most 10 000.
        self.applied: dict[str, str] = {}
        for old, new in self._rules.items():
            _check(old, new)

    def __repr__(self) -> str:
        return f"Renames({dict(self._rules)!r}, known={self._known})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (dict(self._rules), self._known)

    # The extension calls the methods below.

    def _module(self, name: str) -> str | None:
        """The new name of a module by the rules of the caller; None without a rule."""
        return _module_by(self._rules, name)

    def _name(self, module: str, path: str) -> tuple[str, str] | None:
        """The new (module, path) of a global by the rules; None without a rule."""
        return _name_by(self._rules, module, path)

    def _has_names_of(self, module: str) -> bool:
        """Whether there is a rule for a global of a module."""
        start = f"{module}:"
        # A generator expression would lose its cell in CPython 3.11 if memory runs out.
        for old in self._rules:  # noqa: SIM110
            if old.startswith(start):
                return True
        return False

    def _known_module(self, name: str, error: object) -> str | None:
        """The known new name of a module whose import raised ``error``, or None."""
        missing_name = getattr(error, "name", None)
        # The module or a package of it must be missing, not one that it imports.
        if not self._known or not isinstance(missing_name, str) or not missing_name:
            return None
        return moved_module(name) if f"{name}.".startswith(f"{missing_name}.") else None

    def _known_name(self, module: str, path: str) -> tuple[str, str] | None:
        """The known new (module, path) of a global that a module lacks, or None."""
        if not self._known:
            return None
        from waybill._environment.known_moves import MOVES

        return _name_by(MOVES, module, path)

    def _record(self, old: str, new: str) -> None:
        if len(self.applied) < MAX_APPLIED:
            self.applied[old] = new


def _remade(rules: Mapping[str, str], known: bool) -> Renames:
    return Renames(rules, known=known)


def renames_of(given: object) -> Renames:
    """The argument of ``loads`` as Renames. A dict is used without a copy; its rules
    are checked when they apply."""
    if isinstance(given, Renames):
        return given
    if not hasattr(given, "keys") or not hasattr(given, "get"):
        raise TypeError(f"renames should be a dict or Renames, got {given!r}")
    made = Renames()
    made._rules = given  # type: ignore[assignment]
    return made


def moved_module(name: str) -> str | None:
    """The known new or old name of a module; None if no move of it is known."""
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


#: For loads without rules: only known moves.
KNOWN = Renames()
Renames.__module__ = "waybill.environment"
