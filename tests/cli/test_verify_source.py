"""`waybill verify --source`: whether source gives the bytecode beside it."""

import json
import sys

import pytest
import waybill
from command import error_of, needs_binary, run
from other_python import altered, as_of_another_python

pytestmark = needs_binary

RATE = 0.5


def scaled(values, by=RATE):
    return [value * by for value in values]


def leave():
    raise SystemExit(RATE)


def sent(*functions, **options):
    for function in functions:
        function.__module__ = "__main__"
    return waybill.dumps(functions, **{"source": True, **options})


def verify(payload, *arguments, python=sys.executable):
    env = {"WAYBILL_PYTHON": str(python)}
    return run("verify", "--source", "-", *arguments, data=payload, env=env)


def changed():
    return altered(sent(scaled, leave), b"value * by", b"value + by")


def test_source_that_gives_the_bytecode_is_fine():
    payload = sent(scaled, leave)

    ended = verify(payload)

    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.decode() == (
        f"sound: {len(payload)} bytes, 0 imports, 3 code bodies\n"
        "source: 2 functions do what the text says\n"
    ) or sys.version_info >= (3, 12)


def test_source_that_was_altered_is_told_with_its_function():
    ended = verify(changed())

    line = scaled.__code__.co_firstlineno
    assert ended.returncode == 6
    assert "source: 1 of 2 functions not proven by the text\n" in ended.stdout.decode()
    assert (
        f"  scaled ({__file__}:{line}): its source compiles to other bytecode\n"
        in ended.stdout.decode()
    )


def test_json_has_one_object():
    fine = verify(sent(scaled), "--json")
    wrong = verify(changed(), "--json")

    assert json.loads(fine.stdout)["ok"] is True
    assert json.loads(fine.stdout)["source"] == {"functions": 1, "problems": []}
    told = json.loads(wrong.stdout)
    assert told["ok"] is False
    assert told["size"] == len(changed())
    assert [row["function"] for row in told["source"]["problems"]] == ["scaled"]


def test_function_without_source_is_not_proven():
    ended = verify(sent(scaled, source=False))

    assert ended.returncode == 6
    assert b"it has no source" in ended.stdout


def test_file_and_buffers_behind_its_head_are_checked(tmp_path):
    path = tmp_path / "job.waybill"
    scaled.__module__ = "__main__"
    payload = waybill.dumps((scaled, bytearray(1 << 17)), source=True)
    path.write_bytes(payload)
    words, env = ("verify", path, "--source"), {"WAYBILL_PYTHON": sys.executable}

    fine = run(*words, env=env)
    path.write_bytes(payload[:-100] + b"x" + payload[-99:])
    damaged = run(*words, env=env)

    assert fine.returncode == 0, fine.stderr
    assert damaged.returncode == 2
    assert b"digest_mismatch" in damaged.stderr


def test_signature_is_checked_first(tmp_path):
    key = waybill.security.SigningKey.generate()
    (tmp_path / "a.pub").write_text(key.public_text)

    signed = verify(sent(scaled, key=key), "--key", tmp_path / "a.pub")
    unsigned = verify(sent(scaled), "--key", tmp_path / "a.pub")

    assert signed.returncode == 0, signed.stderr
    assert b"signed by the ed25519 key" in signed.stdout
    assert (unsigned.returncode, unsigned.stdout) == (4, b"")


def test_another_python_than_the_senders_is_told_what_to_do():
    ended = verify(as_of_another_python(sent(scaled)), "--json")

    assert ended.returncode == 2
    assert error_of(ended)["code"] == "python_mismatch"
    assert b"--python python3.99" in ended.stderr


def test_python_is_for_source():
    ended = run("verify", "-", "--python", sys.executable, data=sent(scaled))

    assert ended.returncode == 1


@pytest.mark.parametrize("folder", ["absent"])
def test_python_that_cannot_be_started_is_told(folder, tmp_path):
    ended = verify(sent(scaled), python=tmp_path / folder)

    assert (ended.returncode, ended.stdout) == (5, b"")
