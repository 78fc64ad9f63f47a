"""Modules that functions and classes of these tests use."""

import pytest
from sources import imported


@pytest.fixture
def modules():
    """Two modules, of which one is a package, as if they had files."""
    with (
        imported("module_one", value=1) as one,
        imported("module_two", value=2) as two,
        imported("module_one.inner", thing=3) as inner,
        imported("module_one.other"),
    ):
        one.inner = inner
        yield one, two, inner
