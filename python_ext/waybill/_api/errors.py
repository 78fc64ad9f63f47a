"""The exceptions that the extension raises.

Loaded by ``_api/lazy.py`` when one is raised: their base classes take long to import.
"""

from __future__ import annotations

# From the extension, which is there without the weight of the module `pickle`.
from _pickle import PicklingError, UnpicklingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from waybill._explain.explanation import Explanation


class Error(Exception):
    """Whatever goes wrong in waybill; the base of all errors below."""


class EncodeError(Error, PicklingError):
    """An object cannot travel.

    ``path`` tells where it hangs, from the object that was given to ``dumps``:
    ``f.__globals__['client'].session._lock``. ``explain()`` tells of all that cannot
    travel, if there is more. What the object itself raised, if it did, is the
    ``__cause__``; then ``except`` for its type catches the EncodeError too.
    """

    #: The same from the last variable on: ``client.session._lock``.
    path = short = ""
    #: Whether Python evaluates the path to the object; see docs/paths.md.
    evaluates = True
    #: The name of its type; why it cannot travel; what to do, as it can be pasted.
    type = reason = remedy = ""
    #: The code that brought it: ``client.session`` in the function ``f``. Empty, and 0,
    #: if none is known.
    expression = function = file = ""
    line = 0
    _kept: _Kept | None = None

    def explain(self) -> Explanation | None:
        """The explanation of what was given to ``dumps``, made when that failed. None
        if it was not, since callbacks of a Pickler would have been called once more, or
        elsewhere."""
        told = self._kept and self._kept.told
        if told is None:
            return None
        from waybill._explain.explanation import Explanation

        return Explanation(told)

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class _Kept:
    """The explanation that an error has. It stays where it was made."""

    def __init__(self, told: object = None) -> None:
        self.told = told

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return _Kept, ()


class DecodeError(Error, UnpicklingError):
    """Bytes that are no payload, or not one that can be loaded here.

    ``code`` names the kind of error, as ``docs/wire_format.md`` lists them; ``offset``
    is the byte that showed it.
    """

    code = ""
    offset = 0


class PythonMismatchError(DecodeError):
    """The payload holds code for another Python; the message names both."""


class PolicyError(DecodeError):
    """A policy does not allow what the payload asks for; the message names the rule."""


class SignatureError(DecodeError):
    """A payload without the signature that is demanded, or a key that is none."""


class MissingModuleError(Error, ModuleNotFoundError):
    """A module that the payload needs cannot be imported here.

    The message says which, what needs it and where that stands. The ``__cause__`` is
    the error of the import, and ``name`` what is missing by its word: that module, a
    package around it, or another that it imports. ``code`` is ``"missing_module"``.
    """

    code = "missing_module"


def refusal(
    code: str,
    detail: str,
    offset: int | None = None,
    kind: type[DecodeError] = DecodeError,
) -> DecodeError:
    """An error as the extension makes it: its code, the byte if there is one, what is
    wrong."""
    place = code if offset is None else f"{code} at byte {offset}"
    error = kind(f"{place}: {detail}")
    error.code, error.offset = code, offset or 0
    return error


def complete(error: EncodeError, told: object) -> None:
    """Gives an error the explanation of what was to be sent. Its message tells how many
    more there are."""
    from waybill import _core

    error._kept = _Kept(told)
    more = len(_core.explanation_blockers(told)) - 1
    if more > 0 and error.args:
        message = f"{error.args[0]}; and {more} more: waybill.explain(obj)"
        error.args = (message, *error.args[1:])


def make_encode_error(message: str, cause: BaseException | None) -> EncodeError:
    """An EncodeError that is also what its cause is, with what the cause carries.

    So code that was written for pickle, where errors of ``__reduce__`` and the like
    come through as they are, keeps working.
    """
    kind = type(cause)
    if cause is None or issubclass(EncodeError, kind):
        return EncodeError(message)
    if isinstance(cause, RecursionError):
        message = f"{message} (excessively deep recursion)"
    try:
        both = _mixed_with(kind)
        error: Any = both.__new__(both, message)
        error.args = (message,)
        vars(error).update(vars(cause))
    except Exception:  # Some types cannot be mixed, or not be made this way.
        return EncodeError(message)
    made: EncodeError = error
    return made


#: Made once for exceptions that are built in. A class for each error would be garbage
#: that only the collector finds; to keep those of others would keep these alive.
_mixed: dict[type, type] = {}


def _mixed_with(kind: type) -> type:
    """The class of EncodeErrors that are of another kind, too."""
    if kind in _mixed:
        return _mixed[kind]
    both = type("EncodeError", (EncodeError, kind), {"__module__": "waybill"})
    if kind.__module__ == "builtins":
        _mixed[kind] = both
    return both
