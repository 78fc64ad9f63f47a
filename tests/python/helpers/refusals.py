"""What is refused, by the name of an error or by the path to the culprit."""

import contextlib

import pytest
import waybill
from culprits import culprit_of


@contextlib.contextmanager
def refused_as(code, match=None):
    """Its block must raise a DecodeError with this code. Yields the ExceptionInfo."""
    with pytest.raises(waybill.DecodeError, match=match) as caught:
        yield caught
    assert caught.value.code == code


def path_of_refused(value, match=None, **options):
    """Path and type of what dumps cannot send: ``obj['lock'] (_thread.lock)``."""
    with pytest.raises(waybill.EncodeError, match=match) as caught:
        waybill.dumps(value, **options)
    told = culprit_of(caught.value)
    assert told in str(caught.value)
    return told
