"""Runs `waybill diff` for tests."""

import json
import textwrap

import command
import pytest
import waybill


def run(folder, one, other, *options):
    for name, data in ("a", one), ("b", other):
        (folder / name).write_bytes(data)
    return command.run("diff", folder / "a", folder / "b", *options, text=True)


@pytest.fixture
def diff(tmp_path):
    """The model of the diff of two objects, and of what their payloads are."""

    def compare(one, other, *options):
        datas = [d if isinstance(d, bytes) else waybill.dumps(d) for d in (one, other)]
        ended = run(tmp_path, *datas, "--json", *options)
        assert ended.returncode in (0, 6), ended.stderr
        found = json.loads(ended.stdout)
        assert found["equal"] == (ended.returncode == 0) == (datas[0] == datas[1])
        return found

    return compare


def define(source, file="task.py", line=0, **names):
    """The function `f` of a source, as if __main__ had it."""
    scope = {"__name__": "__main__", **names}
    text = "\n" * line + textwrap.dedent(source)
    exec(compile(text, file, "exec"), scope)
    return scope["f"]


def summary(found):
    return found["summary"].removeprefix("differ in: ")


def changes(found):
    return [
        (row["change"], row["path"], row.get("old"), row.get("new"))
        for row in found["payload"]["items"]
    ]
