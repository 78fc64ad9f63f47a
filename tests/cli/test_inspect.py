"""`waybill inspect` and `waybill verify` on payloads that waybill.dumps made."""

import json
import os
import shutil
import subprocess
import sys

import pytest
import waybill
from command import BINARY, needs_binary, run

pytestmark = needs_binary


def sample():
    scale = 3

    def convert(x):
        import colorsys

        return os.path.join(str(x * scale), colorsys.__name__)

    return convert


OBJECTS = {
    "function": sample(),
    "lambda": lambda x: x + 1,
    "data": {"answer": 42, "list": [1.5, None, "x" * 300, b"\0\1", (1, 2)]},
    "shared": [[1]] * 2,
}


@pytest.fixture(params=OBJECTS)
def payload(request):
    return waybill.dumps(OBJECTS[request.param])


def test_json_equals_what_python_says(payload):
    result = run("inspect", "-", "--json", data=payload)

    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == waybill.inspect(payload)


def test_file_and_stdin_give_the_same(payload, tmp_path):
    file = tmp_path / "payload.waybill"
    file.write_bytes(payload)

    from_file = run("inspect", file)

    assert from_file.returncode == 0, from_file.stderr
    assert from_file.stdout == run("inspect", "-", data=payload).stdout


def test_text_names_each_import(payload):
    text = run("inspect", "-", data=payload).stdout.decode()

    assert all(r["module"] in text for r in waybill.inspect(payload)["imports"])
    assert "\033" not in text


def test_parts_of_nodes_have_names():
    payload = waybill.dumps([lambda x=slice(1, 2): x, range(3)])

    shown = run("inspect", "-", data=payload).stdout.decode()
    model = json.loads(run("inspect", "-", "--json", data=payload).stdout)
    [function, numbers] = model["payload"]["outline"]["items"]

    lines = [line.strip() for line in shown.splitlines()]
    assert {"is_package: bool false", ".start: int 1", ".stop: int 3"} <= {*lines}
    assert any(line.startswith(".__defaults__: tuple of 1") for line in lines)
    expected = ["code", "namespace", "closure", "fields"]
    assert [part["field"] for part in function["items"]] == expected
    assert [part["field"] for part in numbers["items"]] == ["start", "stop", "step"]


def test_objects_are_told_by_the_steps_of_paths():
    class Held:
        def __init__(self):
            self.sizes = {"a": 1, frozenset([2]): {3}}

    Held.__module__ = "__main__"
    payload = waybill.dumps([Held(), sample()])

    lines = [
        line.strip()
        for line in run("inspect", "-", data=payload).stdout.decode().splitlines()
    ]

    for step in (
        ".sizes: dict",
        "['a']: int",
        "→ [<frozenset>]: set",
        "<element 0>: int",
    ):
        assert any(line.startswith(step) for line in lines), step
    assert ".__closure__[0].cell_contents: int 3" in lines


@pytest.mark.parametrize(
    ("field", "told"),
    [
        (b"job 17", "application 'job 17'  6 bytes"),
        ("Größe".encode(), "application 'Größe'  7 bytes"),
        (b"\x1b[31m", "application 1b5b33316d  5 bytes"),
        (b"\xff", "application ff  1 byte"),
        (b"x" * 100, f"application '{'x' * 80}…'  100 bytes"),
        (b"\0" * 41, f"application {'00' * 40}…  41 bytes"),
    ],
)
def test_application_field_is_shown_as_text_where_it_is_text(field, told):
    payload = waybill.dumps(1, application=field)

    assert told in run("inspect", "-", data=payload).stdout.decode().splitlines()


def test_verify_accepts_what_dumps_makes(payload):
    plain = run("verify", "-", data=payload)
    as_json = run("verify", "-", "--json", data=payload)

    assert (plain.returncode, plain.stderr) == (0, b"")
    counts = json.loads(as_json.stdout)
    assert counts.pop("ok") is True
    assert counts.pop("size") == len(payload)
    assert f" {counts.pop('imports')} import" in plain.stdout.decode()
    assert f" {counts.pop('code')} code bod" in plain.stdout.decode()
    assert not counts


def test_binary_runs_where_there_is_no_python(payload):
    result = run("verify", "-", data=payload, env={"PATH": "/nonexistent"})

    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("ldd") is None, reason="asks ldd"
)
def test_binary_links_no_python():
    linked = subprocess.run(["ldd", BINARY], capture_output=True, text=True).stdout

    assert "libc" in linked
    assert "python" not in linked
