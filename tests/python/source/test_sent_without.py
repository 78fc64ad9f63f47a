"""What hinders that source is found hinders no payload, and is not remembered."""

import dataclasses
import linecache
import subprocess
import sys

import pytest
import waybill

LAMBDA = "added = lambda x: x + 1\n"


def made(text, file):
    scope = {"__name__": "__main__"}
    exec(compile(text, file, "exec", 0, True), scope)
    return scope


def told(value):
    """What a receiver has, and why there is no source."""
    with pytest.raises(waybill.EncodeError) as caught:
        waybill.dumps(value, source=True)
    return waybill.loads(waybill.dumps(value, source="auto")), str(caught.value)


@pytest.mark.parametrize(
    "entry", [5, (1, None, None, ""), (1, None, [1], ""), (1, None, [b"x"], "")]
)
def test_odd_entries_of_linecache_are_no_source(monkeypatch, entry):
    monkeypatch.setitem(linecache.cache, "<odd>", entry)

    loaded, reason = told(made(LAMBDA, "<odd>")["added"])

    assert loaded(1) == 2
    assert "its source cannot be found: TypeError: " in reason


@pytest.mark.parametrize("name", ["argv", "orig_argv"])
def test_an_embedded_python_without_a_command_line_has_no_source_of_it(
    monkeypatch, name
):
    monkeypatch.delattr(sys, name)

    loaded, reason = told(made(LAMBDA, "<string>")["added"])

    assert loaded(1) == 2
    assert "made by exec or eval" in reason


@pytest.mark.parametrize("name", ["__dataclass_fields__", "__dataclass_params__"])
def test_a_class_that_only_looks_like_a_dataclass_has_no_source_as_one(name):
    @dataclasses.dataclass
    class Point:
        x: int = 1

    setattr(Point, name, {"x": 5})

    loaded, reason = told(Point)

    assert loaded().x == 1
    assert reason.startswith("Point.__init__ (function): has no source")
    assert "its source cannot be found: AttributeError: " in reason


def at_depth(frames, call):
    return call() if frames == 0 else at_depth(frames - 1, call)


#: So deep that a compiler can do it on an empty stack alone.
DEEP = f"def total(x):\n    return {' + '.join(['x'] * 1500)}\n"


@pytest.mark.parametrize("is_read", [False, True])
def test_source_that_a_deep_stack_had_no_room_for_is_found_later(tmp_path, is_read):
    path = tmp_path / "deep.py"
    path.write_text(DEEP + "def other(): pass\n")
    scope = made(path.read_text(), str(path))
    total, other = scope["total"], scope["other"]
    waybill.dumps(made("def warm(): pass\n", __file__)["warm"], source="auto")
    if is_read:
        waybill.dumps(other, source=True)

    for frames in range(750, 450, -60):
        at_depth(frames, lambda: waybill.dumps(total, source="auto"))

    waybill.dumps(total, source=True)
    waybill.dumps(other, source=True)


FIRST = """
import sys, waybill

class Sent:
    def m(self): return 1
def at(frames, call): return call() if frames == 0 else at(frames - 1, call)
def send(): return waybill.dumps([Sent, at], source="auto")

at(sys.getrecursionlimit() - int(sys.argv[1]), send)
"""


@pytest.mark.parametrize("left", [15, 40, 50, 60])
def test_the_first_source_that_a_deep_stack_has_no_room_for_hinders_nothing(
    tmp_path, left
):
    script = tmp_path / "first.py"
    script.write_text(FIRST)
    command = [sys.executable, script, str(left)]

    done = subprocess.run(command, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
