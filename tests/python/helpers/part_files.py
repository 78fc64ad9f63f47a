"""Files of which tests open parts."""

import pytest
import waybill

numpy = pytest.importorskip("numpy")

#: An array that is stored behind the payload.
LARGE = numpy.arange(40_000.0).reshape(200, 200)


def opened(obj, folder, **options):
    path = folder / "file"
    waybill.save(obj, path)
    return waybill.open(path, **options)
