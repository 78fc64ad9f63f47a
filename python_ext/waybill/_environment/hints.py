"""What the text of an error says of a name that is not here: when it was removed, or
what the payload was made with.

Loaded when a load has failed, or by ``waybill.environment.missing``. Tested by
tests/python/imports/test_environment_in_file.py and test_known_moves.py.
"""

from __future__ import annotations

import sys

from waybill._api import lazy
from waybill._environment.known_moves import ADDED, REMOVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    #: Python, its implementation, the platform, and rows of distributions: name,
    #: version and top-level modules.
    Environment = tuple[str, str, str, Sequence[tuple[str, str, Sequence[str]]]]

_USUAL = "install it, or send from where it is not needed"


def advice(module: str, environment: Environment | None) -> str:
    """What to do about a module that cannot be imported. The extension calls it."""
    told = of_python(module)
    if told:
        return told
    made = of_distribution(module, environment)
    return f"{_USUAL}; {made}" if made else _USUAL


def explain(
    error: AttributeError, module: str, path: str, environment: Environment | None
) -> None:
    """Adds to the text of an error why a module has no such name here. The extension
    calls it."""
    told = of_python(f"{module}:{path}") or of_distribution(module, environment)
    if told and len(error.args) == 1 and isinstance(error.args[0], str):
        error.args = (f"{error.args[0]}; {told}",)


def of_module(module: str, environment: Environment | None) -> str:
    """What is known of a module that is missing; "" if nothing is."""
    return of_python(module) or of_distribution(module, environment)


def of_python(name: str) -> str:
    """Whether the standard library had, or will have, a module or ``module:name``."""
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    for known in _and_around(name):
        if known in REMOVED:
            version, instead = REMOVED[known]
            return f"{known} was removed in Python {version}: {instead}"
        if known in ADDED:
            return f"{known} is new in Python {ADDED[known]}, and this is {here}"
    return ""


def _and_around(name: str) -> list[str]:
    """A name and those of the modules around it, from the inside out."""
    module, colon, _ = name.partition(":")
    names = [name] if colon else []
    while module and not colon:
        names.append(module)
        module = module.rpartition(".")[0]
    return names


def of_distribution(module: str, environment: Environment | None) -> str:
    """What the payload was made with, and what is here, where these differ."""
    top = module.partition(".")[0]
    told = []
    for name, version, modules in environment[3] if environment else ():
        if top in modules:
            here = lazy.load("_environment.distributions").version_of(name)
            if here is None:
                told.append(f"made with {name} {version}, which is not installed here")
            elif here != version:
                told.append(f"made with {name} {version}, here is {here}")
    return "; ".join(told)
