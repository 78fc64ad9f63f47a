"""Payloads that are refused by the name of an error."""

import contextlib

import pytest
import waybill


@contextlib.contextmanager
def refused_as(code, match=None):
    """What is done here raises a DecodeError of this code, which is the value."""
    with pytest.raises(waybill.DecodeError, match=match) as caught:
        yield caught
    assert caught.value.code == code
