"""What is said of a command line that is not understood, and `waybill help`."""

import functools
import json
import os
import resource
import subprocess
import sys
import threading

import command
import pytest
import waybill
from command import BINARY, error_of, needs_binary
from terminals import open_terminal, read_until_closed

pytestmark = needs_binary


run = functools.partial(command.run, text=True)


MISTAKES = [
    ((), "a command is missing; see waybill --help"),
    (("insp", "a"), "there is no command 'insp'; did you mean inspect?"),
    (("vreify",), "there is no command 'vreify'; did you mean verify?"),
    (("zzzz",), "there is no command 'zzzz'; see waybill --help"),
    (("a\nb",), "there is no command 'a\\x0ab'; see waybill --help"),
    (("help", "insp"), "there is no command 'insp'; did you mean inspect?"),
    (("-x",), "unknown option -x; see waybill --help"),
    (("inspect",), "FILE is required; see waybill inspect --help"),
    (("inspect", "-dash"), "unknown option -dash; see waybill inspect --help"),
    (("inspect", "a", "b"), "unexpected argument b; see waybill inspect --help"),
    (("diff", "-", "-"), "only one of A and B can be stdin"),
    (("diff", "a", "b", "--what"), "unknown option --what; see waybill diff --help"),
    (("completion",), "SHELL is required; see waybill completion --help"),
    (("completion", "tcsh"), "SHELL: tcsh is not one of bash, zsh or fish"),
    (("sign", "-"), "Exactly 1 option from [--key,--key-env] is required"),
    (("sign", "--key=a", "--key-env=b", "-"), "Exactly 1 option from [--key,"),
    (("keygen",), "--out is required"),
]


@pytest.mark.parametrize("arguments, message", MISTAKES)
def test_mistake_is_told_in_one_line(arguments, message):
    ended = run(*arguments)

    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"waybill: {message}")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments, message", MISTAKES)
def test_mistake_is_told_as_json_too(arguments, message):
    ended = run(*arguments, "--json")

    error = error_of(ended)
    assert error["code"] == "usage"
    assert ended.stderr == f"waybill: {error['detail']}\n"


@pytest.mark.parametrize("value", ["-1", "65", "x", "0x10", "1.5", " 1", "9" * 30])
def test_number_is_told_with_its_bounds(value):
    ended = run("inspect", f"--depth={value}", "a")

    assert ended.returncode == 1
    assert f"--depth: {value} is not a number from 0 to 64;" in ended.stderr


@pytest.mark.parametrize("value", ["0", "64"])
def test_bounds_are_numbers_too(value, tmp_path):
    (tmp_path / "a").write_bytes(waybill.dumps([1]))

    ended = run("inspect", "--depth", value, tmp_path / "a")

    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("words", [("help",), ("help", "inspect"), ("help", "help")])
def test_help_is_what_the_option_prints(words):
    asked = run(*words)

    assert asked.returncode == 0
    assert asked.stdout.strip() == run(*words[1:], "--help").stdout.strip()


@pytest.mark.parametrize(
    "words",
    [("inspect", "a"), ("verify", "a"), ("cat", "a"), ("diff", "a", "a"), ("--help",)],
)
def test_output_that_cannot_be_written_ends_with_2(words, tmp_path):
    (tmp_path / "a").write_bytes(waybill.dumps(1))
    with open("/dev/full", "wb") as full:
        ended = run(*words, cwd=tmp_path, stdout=full)

    assert ended.returncode == 2
    assert ended.stderr.startswith("waybill: stdout: ")


@pytest.mark.parametrize("name", ["inspect", "verify", "cat", "run"])
def test_stream_without_an_end_is_no_envelope(name):
    python = {"WAYBILL_PYTHON": sys.executable}
    ended = run(name, "/dev/zero", "--json", env=python, timeout=60)

    assert ended.returncode == 2
    assert error_of(ended)["code"] == "not_an_envelope"


def test_rules_without_an_end_are_no_policy(tmp_path):
    (tmp_path / "a").write_bytes(waybill.dumps([1]))

    ended = run(
        *("run", tmp_path / "a", "--policy", "/dev/zero", "--json"),
        *("--python", sys.executable),
        timeout=60,
    )

    assert ended.returncode == 1
    assert "more than" in error_of(ended)["detail"]


def test_envelope_before_a_stream_without_an_end_has_trailing_bytes(tmp_path):
    (tmp_path / "a").write_bytes(waybill.dumps([1]))

    stream = subprocess.Popen(
        ["cat", tmp_path / "a", "/dev/zero"], stdout=subprocess.PIPE
    )
    ended = run("verify", "-", "--json", stdin=stream.stdout, timeout=60)
    stream.stdout.close()
    stream.wait(timeout=60)

    assert error_of(ended)["code"] == "trailing_bytes"


def through_a_pipe(path, data):
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[data])
    writer.start()
    ended = run("verify", path, "--json")
    writer.join()
    return json.loads(ended.stdout)


@pytest.mark.parametrize("size", [0, 65536, 1 << 22])
def test_envelope_of_any_size_is_read_from_a_pipe(size, tmp_path):
    data = waybill.dumps(bytes(size))

    told = through_a_pipe(tmp_path / "pipe", data)

    assert told == {"ok": True, "size": len(data), "imports": 0, "code": 0}


def test_byte_after_an_envelope_that_ends_with_a_block_is_seen(tmp_path):
    block = 1 << 16
    frame = len(waybill.dumps(bytes(block - 100))) - (block - 100)
    data = waybill.dumps(bytes(block - frame))

    told = through_a_pipe(tmp_path / "pipe", data + b"\0")

    assert len(data) == block
    assert told["error"]["code"] == "trailing_bytes"


@pytest.mark.skipif(
    "WAYBILL_SANITIZED" in os.environ, reason="sanitizers reserve terabytes"
)
def test_memory_that_is_not_there_is_told(tmp_path):
    (tmp_path / "a").write_bytes(waybill.dumps(bytes(1 << 27)))

    ended = run(
        *("verify", tmp_path / "a", "--json"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 27, 1 << 27)),
    )

    assert ended.returncode == 2
    assert error_of(ended)["code"] == "unreadable"


@pytest.mark.parametrize("variable", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_terminal_that_wants_no_colours_gets_none(variable, tmp_path):
    (tmp_path / "a").write_bytes(waybill.dumps([1]))
    ours, theirs = open_terminal()

    environment = {**os.environ, "TERM": "xterm", **variable}
    environment.setdefault("NO_COLOR", "")
    subprocess.run(
        [BINARY, "cat", tmp_path / "a"], stdout=theirs, env=environment, check=True
    )

    os.close(theirs)
    shown = read_until_closed(ours)
    os.close(ours)
    assert b"1" in shown
    assert b"\x1b" not in shown
