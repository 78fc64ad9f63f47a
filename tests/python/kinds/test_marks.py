"""Objects of a script that say they are found by name: marks, compared by `is`."""

import sys

import fresh_process
import pytest
import waybill

START = "import copyreg, enum, sys, waybill\n"
CLASS = """
class Mark:
    def __init__(self, name): self.name = name
    def __reduce__(self): return self.name
"""
MARKS = {
    "its class says so": CLASS + "MARK = Mark('MARK')",
    "it has a module of its own": CLASS
    + "MARK = Mark('MARK')\nMARK.__module__ = __name__",
    "copyreg says so": """
class Mark:
    def __init__(self, name): self.name = name
copyreg.pickle(Mark, lambda mark: mark.name)
MARK = Mark('MARK')
""",
    "as an attribute of a class": CLASS
    + "class Marks: MARK = Mark('Marks.MARK')\nMARK = Marks.MARK",
    "it has slots": """
class Mark:
    __slots__ = "name", "__weakref__"
    def __init__(self, name): self.name = name
    def __reduce__(self): return self.name
MARK = Mark('MARK')
""",
    "it is a str": """
class Mark(str):
    def __reduce__(self): return "MARK"
MARK = Mark("mark")
""",
    "its class has one": """
class Mark:
    def __new__(cls): return MARK
    def __reduce__(self): return "MARK"
MARK = object.__new__(Mark)
""",
    "its class is one of typing_extensions": """
import typing_extensions
MARK = typing_extensions.Sentinel("MARK")
""",
    "it is a sentinel of Python 3.15": 'MARK = sentinel("MARK", repr="<mark>")',
    "its metaclass says so": """
class Meta(type):
    def __reduce__(cls): return cls.__name__
class MARK(metaclass=Meta): pass
""",
    "its metaclass says so to copyreg": """
class Meta(type): pass
copyreg.pickle(Meta, lambda cls: cls.__name__)
class MARK(metaclass=Meta): pass
""",
}
TASK = """
def get(found=MARK): return found is MARK
def task(given): return given is MARK, get(), get(given), MARK
sent = task, MARK
sys.stdout.write(waybill.dumps(sent).hex() + " " + waybill.dumps(MARK).hex())
"""
RECEIVE = """
import sys, waybill
payloads = [bytes.fromhex(word) for word in sys.argv[1:]]
found = set()
for _ in range(3):
    task, given = waybill.loads(payloads[0])
    *answers, mark = task(given)
    assert answers == [True, True, True], answers
    assert waybill.loads(payloads[1]) is mark
    found.add(id(mark))
    held = mark
assert len(found) == 1
"""


def script_of(name):
    """The start of a script, which ends with two payloads; skips what cannot be had."""
    if "typing_extensions" in name:
        extensions = pytest.importorskip("typing_extensions")
        if not hasattr(extensions, "Sentinel"):
            pytest.skip("no Sentinel in this typing_extensions")
    if "3.15" in name and sys.version_info < (3, 15):
        pytest.skip("no sentinel in this Python")
    return START + MARKS[name] + TASK


@pytest.mark.parametrize("name", MARKS)
def test_a_mark_of_a_script_stays_one_over_payloads(name):
    sent = fresh_process.run_script(script_of(name))

    fresh_process.run_script(RECEIVE, *sent.split())


@pytest.mark.parametrize("name", MARKS)
def test_a_mark_comes_home_as_itself(name):
    home = """
assert waybill.loads(waybill.dumps(MARK)) is MARK
assert waybill.loads(waybill.dumps(sent))[0](MARK)[:3] == (True,) * 3
"""

    fresh_process.run_script(script_of(name) + home)


# A worker has what the class says, and no registration of home's with copyreg.
@pytest.mark.parametrize("name", [name for name in MARKS if name != "copyreg says so"])
def test_a_worker_sends_a_mark_home_as_itself(name):
    worker = """
import sys, waybill
task, mark = waybill.loads(bytes.fromhex(sys.argv[1]))
sys.stdout.write(waybill.dumps([mark, task]).hex())
"""
    home = f"""
import subprocess
worker = [sys.executable, "-c", {worker!r}, waybill.dumps(sent).hex()]
answer = subprocess.run(worker, stdout=subprocess.PIPE, check=True).stdout
mark, arrived = waybill.loads(bytes.fromhex(answer.decode()))
assert mark is MARK
assert arrived(MARK)[:3] == (True,) * 3
"""

    fresh_process.run_script(script_of(name) + home)


def test_a_mark_stays_one_while_its_state_changes():
    script = (
        CLASS
        + """
MARK = Mark('MARK')
def task(): return MARK
before = waybill.dumps((task, MARK))
MARK.color = "red"
sys.stdout.write(before.hex() + " " + waybill.dumps((task, MARK)).hex())
"""
    )
    receive = """
import sys, waybill
task, mark = waybill.loads(bytes.fromhex(sys.argv[1]))
again, same = waybill.loads(bytes.fromhex(sys.argv[2]))
assert task() is again() is mark is same
"""
    fresh_process.run_script(receive, *fresh_process.run_script(START + script).split())


def test_a_mark_keeps_what_the_worker_did_to_it():
    script = CLASS + "MARK = Mark('MARK')\ndef task():\n"
    script += "    MARK.calls = getattr(MARK, 'calls', 0) + 1\n    return MARK.calls\n"
    script += "sys.stdout.write(waybill.dumps((task, MARK)).hex())"
    data = fresh_process.run_script(START + script)

    receive = (
        "import sys, waybill\nloads = lambda: waybill.loads(bytes.fromhex(sys.argv[1]))"
    )
    receive += "\ntask, held = loads()\nprint(task(), loads()[0](), loads()[0]())"
    assert fresh_process.run_script(receive, data).split() == ["1", "2", "3"]


def test_a_mark_goes_when_nothing_refers_to_it():
    script = CLASS + "MARK = Mark('MARK')\nsys.stdout.write(waybill.dumps(MARK).hex())"
    data = fresh_process.run_script(START + script)

    receive = """
import gc, sys, waybill, weakref
mark = waybill.loads(bytes.fromhex(sys.argv[1]))
gone = weakref.ref(mark)
del mark
gc.collect()
assert gone() is None
assert waybill.loads(bytes.fromhex(sys.argv[1])).name == "MARK"
"""
    fresh_process.run_script(receive, data)


def test_a_mark_that_cannot_be_known_again_is_refused_by_name():
    script = """
class Mark(int):
    def __reduce__(self): return "MARK"
MARK = Mark(7)
try: waybill.dumps({"key": MARK})
except waybill.EncodeError as error: print(error)
"""
    message = fresh_process.run_script(START + script)

    assert message.startswith(
        "obj['key'] (__main__.Mark): it cannot be weakly referenced"
    )


def test_a_name_that_is_not_there_is_an_error():
    with pytest.raises(waybill.EncodeError, match="returns a name that its module"):
        waybill.dumps(Lost())


class Lost:
    def __reduce__(self):
        return "nothing_has_this_name"
