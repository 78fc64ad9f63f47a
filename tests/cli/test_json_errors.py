"""With `--json`, each command tells what went wrong on stdout, in one shape; on stderr
it is one line, as ever."""

import os
import sys

import command
import pytest
import waybill
from command import needs_binary

pytestmark = needs_binary

ON_FILES = ["inspect", "verify", "cat", "ls", "explain", "run", "diff"]
on_files = pytest.mark.parametrize("name", ON_FILES)


def failed(name, *arguments):
    """How it ended, and what it told."""
    others = [arguments[0]] if name == "diff" else []
    env = {"WAYBILL_PYTHON": sys.executable}
    ended = command.run(name, *arguments, *others, "--json", env=env, text=True)
    return ended, command.error_of(ended)


@on_files
def test_file_that_cannot_be_read_is_told(name, tmp_path):
    path = tmp_path / 'a "name"\n\xe9'

    ended, error = failed(name, path)

    assert ended.returncode == 2
    assert error["code"] == "unreadable"
    assert error["detail"].endswith("No such file or directory")
    assert 'a "name"' in error["detail"]
    assert "\n" not in error["detail"]
    assert ended.stderr == f"waybill: {error['detail']}\n"


def test_name_that_is_no_text_is_told(tmp_path):
    _, error = failed("inspect", os.fsencode(tmp_path) + b"/\xff")

    assert error["code"] == "unreadable"


#: What is done to an envelope, and the code and words that tell it.
SPOILED = {
    "empty": (lambda data: b"", "truncated", ""),
    "cut": (lambda data: data[:-1], "truncated", ""),
    "more": (lambda data: data + b"\0", "trailing_bytes", ""),
    "pickle": (lambda data: b"\x80\x04N.", "not_an_envelope", ""),
    "text": (lambda data: b"x", "not_an_envelope", ""),
    "altered": (
        lambda data: data.replace(b"answer", b"Answer"),
        "digest_mismatch",
        "the bytes before the digest are not those",
    ),
}


@on_files
@pytest.mark.parametrize(("spoil", "code", "words"), SPOILED.values(), ids=SPOILED)
def test_what_is_no_envelope_has_code_byte_and_words_apart(
    name, spoil, code, words, tmp_path
):
    path = tmp_path / "spoiled"
    path.write_bytes(spoil(waybill.dumps({"answer": 42})))

    ended, error = failed(name, path)

    assert ended.returncode == 2
    assert error.keys() == {"code", "offset", "detail"}
    assert error["code"] == code and error["detail"].startswith(words)
    told = f"waybill: {code} at byte {error['offset']}: {error['detail']}\n"
    assert ended.stderr == told


def test_file_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "data").write_bytes(waybill.dumps(1))
    (tmp_path / "sender.key").write_text(
        "waybill-mac:" + "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE\n"
    )
    (tmp_path / "sender.key").chmod(0o600)

    ended, error = failed(
        *("sign", tmp_path / "data", "--key", tmp_path / "sender.key"),
        *("-o", tmp_path / "absent" / "signed"),
    )

    assert ended.returncode == 2
    assert error["code"] == "unreadable"
    assert "absent" in error["detail"]


def test_module_that_is_not_there_is_told():
    ended, error = failed("discover", "no_such_module:f")

    assert ended.returncode == 5
    assert error == {
        "code": "raised",
        "detail": "ModuleNotFoundError: No module named 'no_such_module'",
    }
    assert ended.stderr == f"waybill: {error['detail']}\n"


def test_result_that_json_has_no_word_for_is_told(tmp_path):
    (tmp_path / "task").write_bytes(waybill.dumps({1, 2}))

    ended, error = failed("run", tmp_path / "task")

    assert ended.returncode == 5
    assert error["code"] == "not_json"
    assert "set" in error["detail"]


@pytest.mark.parametrize(
    "arguments",
    [("run", "-", "[1,"), ("discover", ""), ("discover", "json", "--package", "json")],
)
def test_command_line_that_python_does_not_understand_is_told(arguments):
    ended, error = failed(*arguments)

    assert (ended.returncode, error["code"]) == (1, "usage")
    assert ended.stderr == f"waybill: {error['detail']}\n"


@pytest.mark.parametrize("name", ["run", "discover"])
@pytest.mark.parametrize("python", ["/no/such/python", "/bin/false-python"])
def test_python_that_cannot_be_started_is_told(name, python):
    ended, error = failed(name, "x", "--python", python)

    assert (ended.returncode, error["code"]) == (5, "no_python")
    assert python in error["detail"]
