"""`run` and `discover` answer on stdout, whatever is done to it there."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import waybill
from command import BINARY, ROOT, needs_binary
from sources import define

pytestmark = needs_binary

#: As a user's shell has it: what Python buffers, it writes at the end.
PLAIN = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}

add = define("def f(*args): return sum(args)").f


def command(*words):
    return [str(word) for word in (BINARY, *words, "--python", sys.executable)]


def sent(folder, function):
    """A file with this function, to be run."""
    file = folder / "task"
    file.write_bytes(waybill.dumps(function))
    return file


def end(*words, **options):
    return subprocess.run(
        command(*words),
        env=PLAIN,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


WRITERS = {
    "a descriptor": define("def f(): os.write(1, b'noise')", os=os).f,
    "a program": define("def f(): os.system('echo noise')", os=os).f,
    "print": define("def f(): print('noise')").f,
    "the end": define(
        "def f(): atexit.register(print, 'noise')", atexit=__import__("atexit")
    ).f,
}


@pytest.mark.parametrize("writes", WRITERS)
def test_with_json_stdout_has_the_answer_alone(tmp_path, writes):
    ended = end("run", sent(tmp_path, WRITERS[writes]), "--json")

    assert json.loads(ended.stdout)["ok"] is True
    assert b"noise" in ended.stderr


def test_module_that_writes_to_stdout_spoils_no_json(tmp_path):
    (tmp_path / "noisy.py").write_text("import os\nos.system('echo noise')\n")

    ended = end("discover", "noisy", "--json", cwd=tmp_path)

    assert json.loads(ended.stdout)["modules"] == 1
    assert b"noise" in ended.stderr


def test_payload_that_closes_stdout_still_has_an_answer(tmp_path):
    close = define("def f():\n    sys.stdout.close()\n    return 7", sys=sys).f

    ended = end("run", sent(tmp_path, close))

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"7\n", b"")


def test_what_was_printed_comes_before_what_was_raised(tmp_path):
    fail = define("def f():\n    print('printed')\n    raise ValueError('raised')").f

    ended = end("run", sent(tmp_path, fail), stderr=subprocess.STDOUT)

    assert ended.returncode == 5
    assert ended.stdout.index(b"printed") < ended.stdout.index(b"raised")


def test_message_of_what_was_raised_is_whole_in_json(tmp_path):
    fail = define("def f(): raise ValueError('first\\n\\x1b[31msecond')").f

    ended = end("run", sent(tmp_path, fail), "--json")

    assert json.loads(ended.stdout)["error"]["message"] == "first\n\x1b[31msecond"


LONG = define("def f(): return 'x' * 1_000_000").f
TARGETS = {"run": "task", "discover": str(ROOT / "python_ext")}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("option", [(), ("--json",)], ids=["text", "json"])
class TestStdoutThatTakesNothing:
    def test_pipe_that_nobody_reads_ends_it_by_its_signal(self, tmp_path, name, option):
        sent(tmp_path, LONG)
        reader, writer = os.pipe()
        os.close(reader)

        ended = end(name, TARGETS[name], *option, cwd=tmp_path, stdout=writer)

        os.close(writer)
        assert (ended.returncode, ended.stderr) == (-signal.SIGPIPE, b"")

    def test_full_disk_is_told_in_one_line(self, tmp_path, name, option):
        sent(tmp_path, LONG)
        with open("/dev/full", "wb") as full:
            ended = end(name, TARGETS[name], *option, cwd=tmp_path, stdout=full)

        assert ended.returncode == 2
        assert ended.stderr == b"waybill: stdout: No space left on device\n"

    def test_closed_stdout_is_told_in_one_line(self, tmp_path, name, option):
        sent(tmp_path, LONG)
        words = ["sh", "-c", '"$@" >&-', "sh", *command(name, TARGETS[name], *option)]

        ended = subprocess.run(words, env=PLAIN, cwd=tmp_path, stderr=subprocess.PIPE)

        assert ended.returncode == 2
        assert ended.stderr == b"waybill: stdout: Bad file descriptor\n"


def test_closed_stderr_takes_no_answer_away(tmp_path):
    fail = define("def f(): raise ValueError('raised')").f
    words = command("run", sent(tmp_path, fail), "--json")

    ended = subprocess.run(
        ["sh", "-c", '"$@" 2>&-', "sh", *words], env=PLAIN, stdout=subprocess.PIPE
    )

    assert ended.returncode == 5
    assert json.loads(ended.stdout)["error"]["type"] == "ValueError"


SPOILERS = {
    "its descriptor closed": define("def f(): os.close(2); 1 / 0", os=os).f,
    "closed": define("def f(): sys.stderr.close(); 1 / 0", sys=sys).f,
    "none": define("def f(): sys.stderr = None; 1 / 0", sys=sys).f,
}


@pytest.mark.parametrize("spoiler", SPOILERS)
class TestPayloadThatSpoilsStderr:
    def test_has_raised_all_the_same(self, tmp_path, spoiler):
        ended = end("run", sent(tmp_path, SPOILERS[spoiler]))

        assert (ended.returncode, ended.stdout, ended.stderr) == (5, b"", b"")

    def test_takes_no_json_away(self, tmp_path, spoiler):
        ended = end("run", sent(tmp_path, SPOILERS[spoiler]), "--json")

        assert ended.returncode == 5
        assert json.loads(ended.stdout)["error"]["type"] == "ZeroDivisionError"


def test_full_disk_of_stderr_takes_no_answer_away(tmp_path):
    fail = define("def f(): raise ValueError('raised')").f
    with open("/dev/full", "wb") as full:
        ended = end("run", sent(tmp_path, fail), "--json", stderr=full)

    assert ended.returncode == 5
    assert json.loads(ended.stdout)["error"]["type"] == "ValueError"


def test_help_of_the_module_on_a_full_disk_is_told_in_one_line():
    words = [sys.executable, "-m", "waybill", "run", "--help"]
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(words, env=PLAIN, stdout=full, stderr=subprocess.PIPE)

    assert ended.returncode == 2
    assert ended.stderr == b"waybill: stdout: No space left on device\n"


@pytest.mark.parametrize("words", [("run", "x", "--js"), ("--vers",)])
def test_module_takes_no_part_of_an_option_for_it(words):
    ended = subprocess.run(
        [sys.executable, "-m", "waybill", *words], env=PLAIN, capture_output=True
    )

    assert (ended.returncode, ended.stdout) == (1, b"")
    assert ended.stderr.startswith(b"waybill: ")


def test_interrupt_shows_where_in_the_payload_that_was(tmp_path):
    wait = define(
        "def f():\n    print('waits', flush=True)\n    time.sleep(60)", time=time
    ).f
    words = command("run", sent(tmp_path, wait))
    with subprocess.Popen(
        words,
        env=PLAIN,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Whoever runs these tests in the background ignores it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        process.stdout.readline()

        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)

    assert process.returncode == -signal.SIGINT
    assert b"KeyboardInterrupt" in errors
    assert b"_commands" not in errors


def test_payload_sees_no_words_of_the_command(tmp_path):
    words = define("def f(): return sys.argv", sys=sys).f

    assert end("run", sent(tmp_path, words)).stdout == b"['']\n"


def test_coroutine_is_run_to_its_end(tmp_path):
    later = define("async def f(x): return x + 1").f

    assert end("run", sent(tmp_path, later), "[41]").stdout == b"42\n"


@pytest.mark.parametrize("version", ["2.7.18", "3.10.0"])
def test_python_that_is_too_old_is_told(tmp_path, version):
    """By a Python that says it is: none that old need be here."""
    python = tmp_path / "python"
    major, minor, _ = version.split(".")
    python.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        f"sys.version_info = ({major}, {minor}, 0)\n"
        "sys.argv = sys.argv[2:]\n"  # What follows `-c`.
        "exec(sys.argv[0])\n"
    )
    python.chmod(0o755)

    ended = subprocess.run(
        [str(BINARY), "run", "x", "--python", str(python)], capture_output=True
    )

    assert ended.returncode == 5
    assert (
        f"this is Python {major}.{minor}; waybill needs 3.11".encode() in ended.stderr
    )
