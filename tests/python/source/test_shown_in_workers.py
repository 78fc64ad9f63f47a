"""A worker of the sender's own Python shows the source that came along."""

import fresh_process
import pytest

TEXT = """
import sys, waybill

def scale(factor):
    def apply(x):
        # Why.
        return x / factor
    return apply

class Job:
    def run(self, x):
        return scale(0)(x)

    inverse = staticmethod(lambda x: 1 / x)
"""
SEND = """
with open(sys.argv[1], "wb") as file:
    waybill.dump([scale, Job], file, source="auto")
"""
WORKER = """
import inspect, linecache, sys, traceback, waybill
scale, Job = waybill.load(open(sys.argv[1], "rb"))
for work in lambda: Job().run(1), lambda: Job.inverse(0):
    try: work()
    except ZeroDivisionError: print(traceback.format_exc())
print(inspect.getsource(scale))
print(inspect.getsource(scale(1)))
print(inspect.getsource(Job.run))
print(linecache.getlines(scale.__code__.co_filename)[-1])
"""
SHOWN = [
    "return scale(0)(x)",
    "return x / factor",
    "lambda x: 1 / x",
    "def scale(factor):\n    def apply(x):\n        # Why.\n        return x / factor\n"
    "    return apply\n",
    "    def apply(x):\n        # Why.\n        return x / factor\n",
    "    def run(self, x):\n        return scale(0)(x)\n",
]


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "job.py"
    path.write_text(TEXT + SEND)
    fresh_process.run_script(
        "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__')",
        path,
        tmp_path / "payload",
    )
    return path


def shown(script):
    return fresh_process.run_script(WORKER, script.parent / "payload")


def test_lines_are_shown_where_the_file_is_not(script):
    script.unlink()

    output = shown(script)

    assert [text for text in SHOWN if text not in output] == []


def test_what_came_is_shown_where_the_file_has_other_lines(script):
    script.write_text("# Another version.\n" + TEXT.replace("Why", "Because") + SEND)

    output = shown(script)

    assert [text for text in SHOWN if text not in output] == []
    assert "Because" not in output


def test_the_file_is_shown_where_it_is_the_same(script):
    output = shown(script)

    assert [text for text in SHOWN if text not in output] == []
    assert "inverse = staticmethod(lambda x: 1 / x)" in output
    assert "waybill.dump([scale, Job]" in output
