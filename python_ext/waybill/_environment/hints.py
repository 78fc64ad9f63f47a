"""Hints in the text of an error about a missing name: which Python removed or added it,
or with which version of a distribution the payload was made.

Loaded after a load has failed, or by ``waybill.environment.missing``. Tested by
tests/python/imports/test_environment_in_file.py and test_known_moves.py.
"""

from __future__ import annotations

import sys

from waybill._api import lazy
from waybill._environment.known_moves import ADDED, REMOVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    #: Version of Python, its implementation, the platform, and distributions: name,
    #: version and top-level modules of each.
    Environment = tuple[str, str, str, Sequence[tuple[str, str, Sequence[str]]]]

_DEFAULT_ADVICE = "install it, or send from where it is not needed"


def advice(module: str, environment: Environment | None) -> str:
    """What to do about a module that cannot be imported. The extension calls it."""
    hint = of_python(module)
    if hint:
        return hint
    hint = of_distribution(module, environment)
    return f"{_DEFAULT_ADVICE}; {hint}" if hint else _DEFAULT_ADVICE


def explain(
    error: AttributeError, module: str, path: str, environment: Environment | None
) -> None:
    """Adds a hint about ``module:path`` to an error. The extension calls it."""
    hint = of_python(f"{module}:{path}") or of_distribution(module, environment)
    if hint and len(error.args) == 1 and isinstance(error.args[0], str):
        error.args = (f"{error.args[0]}; {hint}",)


def of_module(module: str, environment: Environment | None) -> str:
    """A hint about a missing module; "" without one."""
    return of_python(module) or of_distribution(module, environment)


def of_python(name: str) -> str:
    """The Python that removed or added a module or ``module:name``; "" if none did."""
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    parts = name.split(".")
    # A module and the packages around it, innermost first; ``module:name`` alone.
    least = len(parts) if ":" in name else 1
    for count in range(len(parts), least - 1, -1):
        candidate = ".".join(parts[:count])
        if candidate in REMOVED:
            version, instead = REMOVED[candidate]
            return f"{candidate} was removed in Python {version}: {instead}"
        if candidate in ADDED:
            return (
                f"{candidate} is new in Python {ADDED[candidate]}, and this is {here}"
            )
    return ""


def of_distribution(module: str, environment: Environment | None) -> str:
    """The distributions of a module whose version differs between sender and here."""
    top = module.partition(".")[0]
    hints = []
    for name, version, modules in environment[3] if environment else ():
        if top in modules:
            here = lazy.load("_environment.distributions").version_of(name)
            if here is None:
                hints.append(f"made with {name} {version}, which is not installed here")
            elif here != version:
                hints.append(f"made with {name} {version}, here is {here}")
    return "; ".join(hints)
