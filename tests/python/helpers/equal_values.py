"""Compares received values with those that were sent."""

import pytest

numpy = pytest.importorskip("numpy")


def assert_equal(loaded, made):
    """Compares dicts whose values are arrays or bytes."""
    assert loaded.keys() == made.keys()
    for key, value in made.items():
        assert type(loaded[key]) is type(value)
        if isinstance(value, numpy.ndarray):
            assert loaded[key].flags.f_contiguous == value.flags.f_contiguous
            assert loaded[key].flags.writeable
            assert loaded[key].dtype == value.dtype
            assert (loaded[key] == value).all()
        else:
            assert loaded[key] == value
