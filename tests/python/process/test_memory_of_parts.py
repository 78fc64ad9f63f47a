"""Parts of files, and arrays that share memory, leave nothing behind, and survive where
there is no memory.
"""

import datetime
import sys

import fresh_process
import growth
import pytest
import waybill
from part_files import LARGE, opened

numpy = pytest.importorskip("numpy")

FAIL_EACH = """
import numpy, sys, waybill, _testcapi

others = set()

def fail_each(work, step, excused):
    work()
    quiet = 0
    for number in range(0, 20_000, step):
        _testcapi.set_nomemory(number, number + 1)
        try:
            try: work()
            finally: _testcapi.remove_mem_hooks()
        except MemoryError:
            quiet = 0
        except BaseException as error:
            quiet = 0
            if not excused(error): others.add(repr(error))
        else:
            quiet += 1
        if quiet > 30: break
    else:
        others.add("it never ended")
    work()
"""
WORKS = {
    "parts": """
def use(file):
    for part in file.walk():
        repr(part), part.nbytes
    file.keys()
    assert file[1.5].load() == "x" and file["n"]["a"].load() == [1, (2,)]
    assert file["array"][:2].tolist() == [0, 1]
    file["array"].load()

def everything(mmap):
    with waybill.open(sys.argv[1], mmap=mmap) as file:
        use(file)

for mmap in (True, "copy"):
    fail_each(lambda: everything(mmap), 3, excused=lambda error: False)
""",
    "views": """
whole = numpy.arange(100.0)
views = [whole[3:], whole, whole[::-2]]
# Which is what NumPy makes of it where it does not ask.
fail_each(
    lambda: waybill.dumps(views), 1, lambda error: "with an exception set" in str(error)
)
arrived = waybill.loads(waybill.dumps(views))
arrived[1][:] = 7
if arrived[2][0] != 7: others.add("what arrived shares nothing")
""",
}


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="see test_failing_allocations.py"
)
@pytest.mark.parametrize("work", WORKS)
def test_whichever_allocation_fails_the_answer_is_memory_error(tmp_path, work):
    pytest.importorskip("_testcapi")
    value = {"n": {"a": [1, (2,)]}, 1.5: "x", "array": numpy.arange(9000.0)}
    waybill.save(value, tmp_path / "file")
    script = f"{FAIL_EACH}{WORKS[work]}\nprint(others or 'none')"

    output = fresh_process.run_script(
        script, tmp_path / "file", flags=("-X", "faulthandler")
    )

    assert output == "none\n"


def test_loading_parts_again_and_again_keeps_nothing(tmp_path):
    value = {"a": [1, {"x": (2, 3)}], "d": datetime.date(2026, 1, 2), "n": LARGE}
    with opened(value, tmp_path) as file:

        def use():
            for part in file.walk():
                part.load()
            file.find("['a'][1]").keys()
            try:  # pytest.raises() keeps something of each.
                file.find("['a'][1]['y']")
            except LookupError:
                return
            raise AssertionError("it was found")

        objects, references, blocks = growth.of(use, 100)

    assert objects < 25
    assert references < 50
    assert blocks < 50


def test_sending_views_again_and_again_keeps_nothing():
    whole = numpy.arange(100.0)
    views = [whole[3:], whole, whole[::-2], whole[:50]]

    def use():
        waybill.loads(waybill.dumps(views))

    objects, references, blocks = growth.of(use, 100, whole)

    assert objects < 25
    assert references == 0
    assert blocks < 50
