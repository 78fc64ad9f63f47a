"""With `--json`, each command tells what went wrong on stdout, in one shape; on stderr
it is one line, as ever."""

import json
import os
import subprocess
import sys

import pytest
import waybill
from command import BINARY, needs_binary

pytestmark = needs_binary

ON_FILES = ["inspect", "verify", "cat", "run", "diff"]


def run(command, *arguments):
    others = [arguments[0]] if command == "diff" else []
    ended = subprocess.run(
        [BINARY, command, *arguments, *others, "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "WAYBILL_PYTHON": sys.executable},
    )
    return ended, json.loads(ended.stdout) if ended.stdout else None


def error_of(*arguments):
    ended, told = run(*arguments)
    assert told.keys() == {"ok", "error"}
    assert told["ok"] is False
    return ended, told["error"]


@pytest.mark.parametrize("command", ON_FILES)
def test_file_that_cannot_be_read_is_told(command, tmp_path):
    path = tmp_path / 'a "name"\n\xe9'

    ended, error = error_of(command, path)

    assert ended.returncode == 2
    assert error["code"] == "unreadable"
    assert error["detail"].endswith("No such file or directory")
    assert 'a "name"' in error["detail"]
    assert "\n" not in error["detail"]
    assert ended.stderr == f"waybill: {error['detail']}\n"


def test_name_that_is_no_text_is_told(tmp_path):
    _, error = error_of("inspect", os.fsencode(tmp_path) + b"/\xff")

    assert error["code"] == "unreadable"


@pytest.mark.parametrize("command", ON_FILES)
def test_what_is_no_envelope_has_code_byte_and_words_apart(command, tmp_path):
    path = tmp_path / "altered"
    altered = bytearray(waybill.dumps({"answer": 42}))
    altered[-4] ^= 1  # Of the digest.
    path.write_bytes(altered)

    ended, error = error_of(command, path)

    assert ended.returncode == 2
    assert error == {
        "code": "digest_mismatch",
        "offset": error["offset"],
        "detail": error["detail"],
    }
    assert error["detail"].startswith("the bytes before the digest are not those")
    assert ended.stderr == (
        f"waybill: digest_mismatch at byte {error['offset']}: {error['detail']}\n"
    )


def test_file_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "data").write_bytes(waybill.dumps(1))
    (tmp_path / "sender.key").write_text(
        "waybill-mac:" + "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE\n"
    )
    (tmp_path / "sender.key").chmod(0o600)

    ended, error = error_of(
        *("sign", tmp_path / "data", "--key", tmp_path / "sender.key"),
        *("-o", tmp_path / "absent" / "signed"),
    )

    assert ended.returncode == 2
    assert error["code"] == "unreadable"
    assert "absent" in error["detail"]


def test_module_that_is_not_there_is_told():
    ended, error = error_of("discover", "no_such_module:f")

    assert ended.returncode == 5
    assert error == {
        "code": "raised",
        "detail": "ModuleNotFoundError: No module named 'no_such_module'",
    }
    assert ended.stderr == f"waybill: {error['detail']}\n"


def test_result_that_json_has_no_word_for_is_told(tmp_path):
    (tmp_path / "task").write_bytes(waybill.dumps({1, 2}))

    ended, error = error_of("run", tmp_path / "task")

    assert ended.returncode == 5
    assert error["code"] == "not_json"
    assert "set" in error["detail"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "-", "[1,"),
        ("discover", ""),
        ("discover", "json", "--package", "json"),
    ],
)
def test_command_line_that_python_does_not_understand_is_told(arguments):
    ended, error = error_of(*arguments)

    assert (ended.returncode, error["code"]) == (1, "usage")
    assert ended.stderr == f"waybill: {error['detail']}\n"


@pytest.mark.parametrize("command", ["run", "discover"])
@pytest.mark.parametrize("python", ["/no/such/python", "/bin/false-python"])
def test_python_that_cannot_be_started_is_told(command, python):
    ended, error = error_of(command, "x", "--python", python)

    assert (ended.returncode, error["code"]) == (5, "no_python")
    assert python in error["detail"]
