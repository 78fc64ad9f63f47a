"""Of 42 programs, each in a process of its own: all that cannot travel is found in one
pass, with the line that brought it; sizes are those of the payload; remedies work."""

import json
import re
import subprocess
import sys
import textwrap

import pytest
from explained_programs import LOCKS, SIZES

END = """

def outcome():
    import json, re, sys
    import waybill
    options = globals().get("OPTIONS", {})
    told = waybill.explain(task, **options)
    parts = list(told.parts.walk())
    result = {
        "total": told.total,
        "root": told.parts.bytes,
        "sums": all(
            part.bytes == part.own + sum(child.bytes for child in part.children)
            for part in parts
        ),
        "blockers": [blocker._asdict() for blocker in told.blockers],
        "parts": [
            [part.short, part.bytes, part.line, part.shared] for part in parts
        ],
        "evaluated": [],
    }
    is_named = isinstance(task, (type, type(outcome)))
    space = {task.__name__ if is_named else "obj": task}
    for blocker in told.blockers:
        if blocker.evaluates:
            found = eval(blocker.path, space)
            kind = type(found)
            result["evaluated"].append([blocker.path, kind.__name__])
    try:
        result["size"] = len(waybill.dumps(task, **options))
    except waybill.EncodeError as error:
        first = told.blockers[0]
        result["error"] = [
            error.path, error.short, error.line, error.type, error.reason, error.remedy
        ]
        result["message"] = str(error)
        replace = {}
        for blocker in told.blockers:
            text = re.match(r"replace=({.*?})", blocker.remedy).group(1)
            for name in re.findall(r"[{]([\\w.]+):", text):
                module = name.rpartition(".")[0].partition(".")[0]
                if module:
                    globals()[module] = __import__(module)
            replace.update(eval(text, globals()))
        result["size"] = len(waybill.dumps(task, replace=replace, **options))
    print(json.dumps(result))

outcome()
"""


def run(tmp_path, source):
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(source).strip("\n") + END)
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def expected_blockers(source):
    found = []
    lines = textwrap.dedent(source).strip("\n").splitlines()
    for number, line in enumerate(lines, 1):
        for path, more in re.findall(r"#: (.+?)(?: (@0|\d+))?(?=\s*$|\s+#)", line):
            count = int(more) if more.isdigit() else 1
            found.append((path, 0 if more == "@0" else number, count))
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_every_blocker_is_found_with_the_line_that_brought_it(name, tmp_path):
    told = run(tmp_path, LOCKS[name])

    found = [
        (blocker["short"], blocker["line"], blocker["path_count"])
        for blocker in told["blockers"]
    ]
    assert sorted(found) == sorted(expected_blockers(LOCKS[name]))


@pytest.mark.parametrize("name", LOCKS)
def test_remedies_let_the_payload_travel_in_the_size_that_was_told(name, tmp_path):
    told = run(tmp_path, LOCKS[name])

    assert told["sums"]
    assert told["root"] < told["total"]
    # What stands for what cannot travel has some bytes itself.
    room = 200 * sum(blocker["path_count"] for blocker in told["blockers"])
    assert abs(told["size"] - told["total"]) <= room


@pytest.mark.parametrize("name", LOCKS)
def test_the_error_of_dumps_names_the_first_blocker(name, tmp_path):
    told = run(tmp_path, LOCKS[name])

    first, *others = told["blockers"]
    assert told["error"] == [
        first[field] for field in ("path", "short", "line", "type", "reason", "remedy")
    ]
    assert first["path"] in told["message"]
    assert first["remedy"] in told["message"]
    more = f"and {len(others)} more: waybill.explain(obj)"
    assert (more in told["message"]) == bool(others)


@pytest.mark.parametrize("name", LOCKS)
def test_a_path_that_evaluates_leads_to_the_object(name, tmp_path):
    told = run(tmp_path, LOCKS[name])

    for blocker, (path, kind) in zip(
        [entry for entry in told["blockers"] if entry["evaluates"]],
        told["evaluated"],
        strict=True,
    ):
        assert blocker["path"] == path
        assert blocker["type"].rpartition(".")[2] == kind
        assert "<" not in path


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_those_of_the_payload(name, tmp_path):
    told = run(tmp_path, SIZES[name])

    assert told["blockers"] == []
    assert told["sums"]
    assert told["total"] == told["size"]
    lines = textwrap.dedent(SIZES[name]).strip("\n").splitlines()
    for number, line in enumerate(lines, 1):
        for path, megabytes in re.findall(r"#= (\S+) ([\d.]+)", line):
            size, place = next(
                (bytes_, line_)
                for short, bytes_, line_, *_ in told["parts"]
                if short == path
            )
            assert size == pytest.approx(float(megabytes) * 1e6, rel=0.01)
            assert place == number


def test_what_is_shared_counts_once_and_is_marked(tmp_path):
    told = run(tmp_path, SIZES["shared bytes"])

    large = [part for part in told["parts"] if part[0] in ("first[0]", "second[0]")]
    assert [(part[0], part[3]) for part in large] == [("first[0]", True)]
