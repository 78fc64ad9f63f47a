"""Parts of files leave nothing behind, and survive where there is no memory."""

import datetime
import sys

import fresh_process
import growth
import pytest
import waybill
from part_files import LARGE, opened

numpy = pytest.importorskip("numpy")


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="see test_failing_allocations.py"
)
def test_whichever_allocation_fails_the_answer_is_memory_error(tmp_path):
    pytest.importorskip("_testcapi")
    script = """
import sys, waybill, _testcapi

path = sys.argv[1]

def use(file):
    for part in file.walk():
        repr(part), part.nbytes
    file.keys()
    assert file[1.5].load() == "x" and file["n"]["a"].load() == [1, (2,)]
    assert file["array"][:2].tolist() == [0, 1]
    file["array"].load()

def everything(mmap):
    with waybill.open(path, mmap=mmap) as file:
        use(file)

others = set()
for mmap in (True, "copy"):
    everything(mmap)
    quiet = 0
    for number in range(0, 20_000, 3):
        _testcapi.set_nomemory(number, number + 1)
        try:
            try: everything(mmap)
            finally: _testcapi.remove_mem_hooks()
        except MemoryError:
            quiet = 0
        except BaseException as error:
            quiet = 0
            others.add(repr(error))
        else:
            quiet += 1
        if quiet > 30: break
    else:
        others.add("it never ended")
    everything(mmap)
print(others or "none")
"""
    value = {"n": {"a": [1, (2,)]}, 1.5: "x", "array": LARGE[0]}
    waybill.save({**value, "array": numpy.arange(9000.0)}, tmp_path / "file")
    flags = "-X", "faulthandler"
    told = fresh_process.run_script(script, tmp_path / "file", flags=flags)
    assert told == "none\n"


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
