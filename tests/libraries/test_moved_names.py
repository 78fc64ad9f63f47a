"""The table of known moves, against the libraries that are here."""

import importlib
import warnings

import pytest
from waybill._environment.known_moves import MOVES

LIBRARIES = "numpy", "pandas", "sklearn", "scipy"


def find(name):
    """What a rule names; None if it is not here."""
    module, _, path = name.removesuffix(".*").partition(":")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = importlib.import_module(module)
            for part in filter(None, path.split(".")):
                found = getattr(found, part)
        except (ImportError, AttributeError):
            return None
    return found


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_is_gone_is_where_the_table_says(library):
    pytest.importorskip(library)
    rules = {old: new for old, new in MOVES.items() if old.startswith(library)}
    assert rules

    nowhere = [
        f"{old}: {new}"
        for old, new in rules.items()
        if find(old) is None and find(new) is None
    ]

    assert nowhere == []
