"""Compilers' warnings are nobody's here, and filters stay what they were."""

import subprocess
import sys
import warnings

import fresh_process
import source_package
from threads import run_in_threads
from waybill._source import quiet

TEXT = "def f(): return '\\d' is 1\n"


def test_nothing_is_shown_where_all_warnings_are():
    program = f"""
import sys; sys.path.insert(0, {source_package.__file__[:-18]!r})
import source_package
from waybill._source import quiet
quiet.compile_quietly({TEXT!r}); quiet.parse_quietly({TEXT!r})
"""

    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", program], capture_output=True, text=True
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_filters_of_others_are_kept_when_threads_overlap():
    before = list(warnings.filters)

    def work(_):
        for _ in range(200):
            quiet.compile_quietly(TEXT)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")

    assert run_in_threads(work) == []

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        compile(TEXT, "<other>", "exec")
    assert seen
    warnings.filters[:] = before


MEANWHILE = """
import sys, warnings
from waybill._source import quiet

def meanwhile(event, arguments):  # As another thread might.
    if event == "compile" and arguments[1] == quiet.NAME and steps: steps.pop()()
def add(): warnings.filterwarnings("ignore", message="added")
def leave(): block.__exit__(None, None, None)
sys.addaudithook(meanwhile)

before, steps = list(warnings.filters), [add]
quiet.compile_quietly("1")
added = [entry for entry in warnings.filters if entry not in before]
block = warnings.catch_warnings()
block.__enter__()
warnings.simplefilter("error")
steps = [leave]
quiet.compile_quietly("1")
left = [entry for entry in warnings.filters if entry not in before + added]
answer = [entry[1].pattern for entry in added], len(left)
"""


def test_filters_that_change_during_a_compilation_stay_so():
    assert fresh_process.execute(MEANWHILE) == (["added"], 0)
