"""Arrays that share memory leave nothing behind, and survive where there is none."""

import sys

import fresh_process
import growth
import pytest
import waybill

numpy = pytest.importorskip("numpy")


def test_sending_views_again_and_again_keeps_nothing():
    whole = numpy.arange(100.0)
    views = [whole[3:], whole, whole[::-2], whole[:50]]

    def use():
        waybill.loads(waybill.dumps(views))

    objects, references, blocks = growth.of(use, 100, whole)

    assert objects < 25
    assert references == 0
    assert blocks < 50


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="see test_failing_allocations.py"
)
def test_whichever_allocation_fails_the_answer_is_memory_error():
    pytest.importorskip("_testcapi")
    script = """
import numpy, waybill, _testcapi

whole = numpy.arange(100.0)
views = [whole[3:], whole, whole[::-2]]

others, quiet = set(), 0
waybill.dumps(views)
for number in range(20_000):
    _testcapi.set_nomemory(number, number + 1)
    try:
        try: waybill.dumps(views)
        finally: _testcapi.remove_mem_hooks()
    except MemoryError:
        quiet = 0
    except BaseException as error:
        quiet = 0
        # Which is what NumPy makes of it where it does not ask.
        if "with an exception set" not in str(error): others.add(repr(error))
    else:
        quiet += 1
    if quiet > 30: break
else:
    others.add("it never ended")
arrived = waybill.loads(waybill.dumps(views))
arrived[1][:] = 7
print(others or "none", arrived[2][0])
"""
    told = fresh_process.run_script(script, flags=("-X", "faulthandler"))
    assert told == "none 7.0\n"
