"""The exceptions that the extension raises.

Loaded by ``_api/lazy.py`` when one is raised, since importing their base classes is
slow.
"""

from __future__ import annotations

# From the C module, which loads faster than `pickle`.
from _pickle import PicklingError, UnpicklingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from waybill._explain.explanation import Explanation


class Error(Exception):
    """The base of all errors of waybill."""


class EncodeError(Error, PicklingError):
    """An object cannot be sent.

    ``path`` leads to it from the object that was given to ``dumps``:
    ``f.__globals__['client'].session._lock``. ``explain()`` describes all objects that
    cannot be sent, if there are more. An exception that the object itself raised is the
    ``__cause__``; then ``except`` for its type catches the EncodeError too.
    """

    #: ``short`` is the path from the last variable on: ``client.session._lock``.
    path = short = ""
    #: Whether Python evaluates the path to the object; see docs/paths.md.
    evaluates = True
    #: The name of its type; why it cannot be sent; what to do, as code to paste.
    type = reason = remedy = ""
    #: The code that uses the object: ``client.session`` in ``f``; empty if unknown.
    expression = function = file = ""
    line = 0
    _explanation: _LocalExplanation | None = None

    def explain(self) -> Explanation | None:
        """The explanation of the object given to ``dumps``, made when that failed. None
        in another process, and if hooks of a Pickler would have been called again."""
        handle = self._explanation and self._explanation.handle
        if handle is None:
            return None
        from waybill._explain.explanation import Explanation

        return Explanation(handle)

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class _LocalExplanation:
    """Holds the explanation of an error; pickling leaves the explanation out.

    The class and ``_explanation`` keep their names, since pickled errors have them.
    """

    def __init__(self, handle: object = None) -> None:
        self.handle = handle

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return _LocalExplanation, ()


class DecodeError(Error, UnpicklingError):
    """The data is not a payload, or cannot be loaded by this process.

    ``code`` is a kind of error of ``docs/wire_format.md``, ``offset`` the byte at which
    it was found.
    """

    code = ""
    offset = 0


class PythonMismatchError(DecodeError):
    """The payload contains code for another Python; the message names both."""


class PolicyError(DecodeError):
    """A policy denies a request of the payload; the message names the rule."""


class SignatureError(DecodeError):
    """A required signature is missing or wrong, or a key is invalid."""


class MissingModuleError(Error, ModuleNotFoundError):
    """A module that the payload needs cannot be imported here.

    The message names the module, and the code that needs it with its place. The
    ``__cause__`` is the error of the import, and ``name`` is the missing module
    according to that: the module itself, its package, or another that it imports.
    ``code`` is ``"missing_module"``.
    """

    code = "missing_module"


def refusal(
    code: str,
    detail: str,
    offset: int | None = None,
    kind: type[DecodeError] = DecodeError,
) -> DecodeError:
    """Makes a DecodeError like those of the extension; ``offset``: None if unknown."""
    place = code if offset is None else f"{code} at byte {offset}"
    error = kind(f"{place}: {detail}")
    error.code, error.offset = code, offset or 0
    return error


def complete(error: EncodeError, explanation: object) -> None:
    """Attaches an explanation to an error, and the number of further objects that
    cannot be sent to its message. The extension calls it."""
    from waybill import _core

    error._explanation = _LocalExplanation(explanation)
    more = len(_core.explanation_blockers(explanation)) - 1
    if more > 0 and error.args:
        message = f"{error.args[0]}; and {more} more: waybill.explain(obj)"
        error.args = (message, *error.args[1:])


def make_encode_error(message: str, cause: BaseException | None) -> EncodeError:
    """An EncodeError that is also of the type of its cause, with its attributes.

    Programs written for pickle catch errors of ``__reduce__`` and the like by type.
    """
    kind = type(cause)
    if cause is None or issubclass(EncodeError, kind):
        return EncodeError(message)
    if isinstance(cause, RecursionError):
        message = f"{message} (excessively deep recursion)"
    try:
        both = _combined_with(kind)
        error: Any = both.__new__(both, message)
        error.args = (message,)
        vars(error).update(vars(cause))
    except Exception:  # Some types cannot be combined or created in this way.
        return EncodeError(message)
    made: EncodeError = error
    return made


#: Combined classes, by type of the cause. Only for builtin exceptions, which live as
#: long as the process. A new class for each error would be a cycle for the collector.
_combined: dict[type, type] = {}


def _combined_with(kind: type) -> type:
    """A class of EncodeErrors that are also of another type."""
    if kind in _combined:
        return _combined[kind]
    both = type("EncodeError", (EncodeError, kind), {"__module__": "waybill"})
    if kind.__module__ == "builtins":
        _combined[kind] = both
    return both
