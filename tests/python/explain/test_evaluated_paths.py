"""Paths lead where they say: those of explanations, of errors and of files."""

import json
import subprocess
import threading

import pytest
import waybill
from command import BINARY, needs_binary
from path_programs import HIDDEN_IN_FILES, PROGRAMS
from sources import define

each_program = pytest.mark.parametrize(
    "source, short, evaluates", PROGRAMS.values(), ids=PROGRAMS
)


def found_at(path, root):
    return eval(path, {getattr(root, "__name__", "obj"): root})


def parts_of_file(payload):
    """Each part that ``waybill explain`` tells of a payload, with its path."""
    told = subprocess.run(
        [BINARY, "explain", "--json", "-"], input=payload, capture_output=True
    )
    assert told.returncode == 0, told.stderr
    parts = json.loads(told.stdout)["parts"]
    for part in parts:
        holder = part["parent"]
        before = "" if holder is None else parts[holder]["path"]
        part["path"] = before + part["step"]
        part["evaluates"] &= holder is None or parts[holder]["evaluates"]
    return parts


@each_program
def test_the_path_of_what_cannot_travel_leads_to_it(source, short, evaluates):
    lock = threading.Lock()
    task = define(source, MARK=lock).task

    (blocker,) = waybill.explain(task).blockers

    assert (blocker.short, blocker.evaluates) == (short, evaluates)
    if evaluates:
        assert found_at(blocker.path, task) is lock


@each_program
def test_the_line_of_what_cannot_travel_is_the_one_that_brings_it(
    source, short, evaluates
):
    task = define(source, MARK=threading.Lock()).task

    (blocker,) = waybill.explain(task).blockers

    lines = source.splitlines()
    assert "# here" in lines[blocker.line - 1]


@each_program
def test_the_path_of_a_part_leads_to_what_is_of_its_type(source, short, evaluates):
    task = define(source, MARK=threading.Lock()).task

    for part in waybill.explain(task).parts.walk():
        if part.evaluates and not part.path.endswith("_bases__"):
            found = found_at(part.path, task)
            assert type(found).__name__ == part.type.rpartition(".")[2]


@each_program
def test_an_error_tells_what_the_explanation_does(source, short, evaluates):
    task = define(source, MARK=threading.Lock()).task

    with pytest.raises(waybill.EncodeError) as raised:
        waybill.dumps(task)

    (blocker,) = waybill.explain(task).blockers
    for name in ("path", "short", "evaluates", "file", "line", "expression", "remedy"):
        assert getattr(raised.value, name) == getattr(blocker, name)


@needs_binary
@pytest.mark.parametrize("program", sorted(PROGRAMS.keys() - HIDDEN_IN_FILES))
def test_the_path_of_a_part_of_a_file_leads_to_it_or_says_that_it_does_not(program):
    mark = b"x" * 5000
    task = define(PROGRAMS[program][0], MARK=mark).task

    parts = parts_of_file(waybill.dumps(task))

    (part,) = [part for part in parts if part["bytes"] == 5003]
    assert part["type"] == "bytes"
    assert not part["evaluates"] or found_at(part["path"], task) is mark
