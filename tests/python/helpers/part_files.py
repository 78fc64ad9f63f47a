"""Files for tests that open parts of them."""

import pytest
import waybill

numpy = pytest.importorskip("numpy")

#: An array that is stored after the payload.
LARGE = numpy.arange(40_000.0).reshape(200, 200)


def opened(obj, folder, **options):
    path = folder / "file"
    waybill.save(obj, path)
    return waybill.open(path, **options)
