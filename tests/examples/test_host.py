"""docs/examples/host survives its clients and their calls, and says what happened."""

import os
import socket
import subprocess
import sys
import threading
import time

import pytest
import running
import waybill
from sources import define
from threads import run_in_threads

pytestmark = pytest.mark.skipif(
    not running.HOST.exists(), reason="no Python to embed: the example is not built"
)

Client = running.module("host/client.py").Client

add = define("def f(*args): return sum(args)").f
loop = define("def f():\n    while True: pass").f
leave = define("def f(status): os._exit(status)", os=os).f
crash = define("def f(): os.kill(os.getpid(), 6)", os=os).f
sleep = define("def f(seconds): time.sleep(seconds)", time=time).f
fail = define("def f(x): return 1 / x").f


@pytest.fixture
def serves(tmp_path):
    """A host with one worker and a time limit of a second: a Server and a path."""
    options = ("--workers", 1, "--time-limit", 1000, "--max-bytes", 100_000)
    with running.host(tmp_path, *options) as (server, path):
        yield server, path


def refused_by(path, data):
    """The code of the error that bytes are answered with, after which nothing comes."""
    with Client(path) as client:
        client.send(data)
        with pytest.raises(waybill.calls.CallError) as caught:
            client.receive()
        with pytest.raises(EOFError):
            client.receive()
    return caught.value.code


def test_calls_return_and_raise_in_another_process(serves):
    _, path = serves
    with Client(path) as client:
        assert client.call(add, 1, 2) == 3
        assert client.call(os.getpid) != os.getpid()
        with pytest.raises(ZeroDivisionError):
            client.call(fail, 0)
        assert client.call(dict, a=1) == {"a": 1}


def call_many(path, clients, calls):
    """All clients at once; what was wrong."""

    def work(number):
        with Client(path) as client:
            for i in range(calls):
                assert client.call(add, number, i) == number + i

    return run_in_threads(work, clients)


def test_no_call_of_many_clients_is_lost(tmp_path):
    with running.host(tmp_path, "--workers", 2) as (server, path):
        assert call_many(path, 8, 100) == []
        assert "host: made 800\nhost: workers started 2\n" in server.end()


@pytest.mark.long
@pytest.mark.skipif("WAYBILL_SANITIZED" in os.environ, reason="has a malloc of its own")
def test_hundred_thousand_calls_leave_nothing_behind(tmp_path):
    with running.host(tmp_path, "--workers", 2) as (server, path):
        processes = [server.process.pid, *running.children_of(server.process.pid)]
        assert call_many(path, 8, 1000) == []
        before = [running.own_memory(process) for process in processes]

        assert call_many(path, 8, 12_500) == []

        after = [running.own_memory(process) for process in processes]
        growth = [b - a for a, b in zip(before, after, strict=True)]
        print("growth in bytes:", growth)
        assert max(growth) < 1 << 20
        assert "host: made 108000\nhost: workers started 2\n" in server.end()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "not_an_envelope"),
        (b"\x80\x05K\x01.", "not_an_envelope"),
        (waybill.dumps(b"x" * 100_000), "limit_exceeded"),
    ],
    ids=["another protocol", "a pickle", "an oversized payload"],
)
def test_client_that_sends_something_else_is_told_and_left(serves, data, code):
    server, path = serves

    assert refused_by(path, data) == code
    assert f"host: {code}: " in server.log
    assert running.still_works(path)


def test_payload_that_was_altered_is_refused(serves):
    _, path = serves
    data = bytearray(waybill.calls.dumps_call(add, [1, 2]))
    data[len(data) // 2] ^= 1

    with Client(path) as client:
        client.send(bytes(data))
        with pytest.raises(waybill.calls.CallError) as caught:
            client.receive()

    assert caught.value.code in {"digest_mismatch", "malformed", "truncated"}
    assert running.still_works(path)


def test_payload_that_is_no_call_is_refused_and_the_next_is_made(serves):
    _, path = serves
    with Client(path) as client:
        client.send(waybill.dumps([1, 2]))
        with pytest.raises(waybill.calls.CallError, match="not a call") as caught:
            client.receive()
        assert caught.value.code == "malformed"
        assert client.call(add, 1) == 1


def test_client_that_goes_in_the_middle_of_a_message_is_forgotten(serves):
    server, path = serves
    data = waybill.calls.dumps_call(add, [1, 2])
    with socket.socket(socket.AF_UNIX) as half:
        half.connect(path)
        half.sendall(data[: len(data) // 2])

    server.wait_for("host: cut")
    assert running.still_works(path)


def test_client_that_stops_in_the_middle_of_a_message_holds_up_nobody(serves):
    server, path = serves
    data = waybill.calls.dumps_call(add, [1, 2])
    with socket.socket(socket.AF_UNIX) as half:
        half.connect(path)
        half.sendall(data[: len(data) // 2])

        assert running.still_works(path)
        server.wait_for("host: cut")
        assert half.recv(1) == b""


def test_client_that_does_not_wait_for_its_outcome_harms_nobody(serves):
    _, path = serves
    for _ in range(3):
        client = Client(path)
        client.send(waybill.calls.dumps_call(add, [1]))
        client.close()

    assert running.still_works(path)


def test_call_that_loops_for_ever_is_ended(serves):
    server, path = serves
    with Client(path) as client:
        with pytest.raises(
            waybill.calls.CallError, match="longer than 1000 ms"
        ) as caught:
            client.call(loop)
        assert caught.value.code == "timed_out"
        assert client.call(add, 1) == 1
    assert "workers started 2" in server.end()


@pytest.mark.parametrize(
    ("call", "words"),
    [((leave, 3), "status 3"), ((leave, 0), "status 0"), ((crash,), "Aborted")],
    ids=["_exit", "_exit with 0", "a crash"],
)
def test_call_that_ends_its_process_is_told(serves, call, words):
    server, path = serves
    with Client(path) as client:
        with pytest.raises(waybill.calls.CallError, match=words) as caught:
            client.call(*call)
        assert caught.value.code == "worker_died"
        assert client.call(add, 1) == 1
    assert words in server.log


@pytest.fixture
def keys(tmp_path):
    """Files with a key for clients, one for the host, and one that nobody knows."""
    for name in ("client", "host", "stranger"):
        key = waybill.security.SigningKey.generate()
        key.save(tmp_path / f"{name}.key")
        (tmp_path / f"{name}.pub").write_text(key.public_text)
    return {
        name: waybill.security.SigningKey.from_file(tmp_path / f"{name}.key")
        for name in ("client", "host", "stranger")
    }


def test_only_those_who_sign_are_let_in_and_outcomes_are_signed(tmp_path, keys):
    options = ("--key", tmp_path / "client.pub", "--sign", tmp_path / "host.key")
    known = waybill.security.KeyRing.from_file(tmp_path / "host.pub")
    with running.host(tmp_path, "--workers", 1, *options) as (_, path):
        for key in (None, keys["stranger"]):
            with Client(path, key=key, keys=known) as client:
                with pytest.raises(waybill.calls.CallError) as caught:
                    client.call(add, 1)
                assert caught.value.code == "bad_signature"
        with Client(path, key=keys["client"], keys=known) as client:
            assert client.call(add, 1, 2) == 3
        others = waybill.security.KeyRing.from_file(tmp_path / "stranger.pub")
        with Client(path, key=keys["client"], keys=others) as client:
            with pytest.raises(waybill.SignatureError):
                client.call(add, 1, 2)


def test_rules_are_held_to(tmp_path):
    rules = tmp_path / "rules"
    rules.write_text("allow code\nallow import math\nallow lookup math.*\n")
    root = define("def f(x): return math.sqrt(x)", math=__import__("math")).f
    with running.host(tmp_path, "--policy", rules) as (_, path):
        with Client(path) as client:
            assert client.call(root, 4) == 2
            with pytest.raises(waybill.calls.CallError, match="os") as caught:
                client.call(leave, 0)
            assert caught.value.code == "refused"


def test_host_ends_with_all_its_workers(serves):
    server, path = serves
    workers = running.children_of(server.process.pid)
    client = Client(path)
    client.send(waybill.calls.dumps_call(sleep, [60]))
    time.sleep(0.2)

    server.end()
    client.close()

    assert len(workers) == 1
    assert running.ends_soon(workers[0])


fork = define("def f(): return 'child' if os.fork() == 0 else 'parent'", os=os).f
die_later = define(
    """
def f(seconds):
    threading.Timer(seconds, os._exit, (3,)).start()
""",
    os=os,
    threading=threading,
).f
speak = define("def f(data): os.write(3, data)", os=os).f
big = define("def f(size): return bytes(size)").f
start_program = define(
    "def f(): return subprocess.Popen(['sleep', '300']).pid", subprocess=subprocess
).f


def test_call_that_forks_answers_once(serves):
    _, path = serves
    with Client(path) as first, Client(path) as second:
        assert first.call(fork) == "parent"
        for number in range(20):
            assert second.call(add, number, 1) == number + 1


def test_worker_that_dies_between_calls_costs_none(serves):
    server, path = serves
    with Client(path) as first, Client(path) as second:
        first.call(die_later, 0.1)
        time.sleep(0.3)
        assert second.call(add, 1) == 1
    assert "worker_died" not in server.end()


def test_what_a_call_sends_unasked_reaches_nobody(serves):
    _, path = serves
    stray = waybill.dumps({"result": "stray"})
    with Client(path) as first, Client(path) as second:
        first.send(waybill.calls.dumps_call(speak, [stray * 2]))
        first.receive()
        for number in range(5):
            assert second.call(add, number) == number


def test_outcome_beyond_the_limit_is_told_and_the_worker_lives(tmp_path):
    options = ("--workers", 1, "--max-outcome", 1_000_000)
    with running.host(tmp_path, *options) as (server, path):
        with Client(path) as client:
            assert len(client.call(big, 900_000)) == 900_000
            with pytest.raises(waybill.calls.CallError, match="1000000 are") as caught:
                client.call(big, 2_000_000)
            assert caught.value.code == "outcome_too_large"
            assert client.call(add, 1) == 1
        assert "workers started 1" in server.end()


def test_client_too_many_is_left_and_the_others_served(tmp_path):
    with running.host(tmp_path, "--clients", 2) as (server, path):
        with Client(path) as first, Client(path) as second:
            assert first.call(add, 1) == second.call(add, 1) == 1
            with Client(path) as third, pytest.raises((EOFError, OSError)):
                third.call(add, 1)
            assert "a client too many" in server.log
            assert first.call(add, 2) == 2


def test_calls_of_clients_that_have_gone_are_not_made(serves, tmp_path):
    server, path = serves
    mark = tmp_path / "mark"
    with Client(path) as busy:
        busy.send(waybill.calls.dumps_call(sleep, [0.5]))
        time.sleep(0.1)
        gone = Client(path)
        gone.send(
            waybill.calls.dumps_call(define("def f(p): open(p, 'w')").f, [str(mark)])
        )
        gone.close()
        busy.receive()
    assert running.still_works(path)
    server.wait_for("host: gone")
    assert not mark.exists()


@pytest.mark.parametrize("ending", ["terminate", "kill"])
def test_nothing_is_left_of_a_call_when_the_host_ends(serves, ending):
    server, path = serves
    (worker,) = running.children_of(server.process.pid)
    client = Client(path)
    client.send(waybill.calls.dumps_call(loop))
    time.sleep(0.2)

    getattr(server.process, ending)()
    client.close()

    assert running.ends_soon(worker)


def test_what_a_call_started_ends_with_its_worker(serves):
    _, path = serves
    with Client(path) as client:
        process = client.call(start_program)
        assert running.is_running(process)
        with pytest.raises(waybill.calls.CallError):
            client.call(loop)
    assert running.ends_soon(process)


def test_rules_are_those_of_the_start(tmp_path):
    rules = tmp_path / "rules"
    rules.write_text(
        "allow code\nallow import os\nallow lookup os.*\nallow call os.*\n"
    )
    with running.host(tmp_path, "--workers", 1, "--policy", rules) as (_, path):
        rules.unlink()
        with Client(path) as client:
            with pytest.raises(waybill.calls.CallError) as caught:
                client.call(leave, 3)
            assert caught.value.code == "worker_died"
            assert client.call(define("def f(): return 1").f) == 1


def test_worker_that_cannot_start_keeps_the_host_from_starting(tmp_path):
    done = subprocess.run(
        [running.HOST, tmp_path / "socket", "--python", "/no/such/bin/python"],
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 2
    assert "there is no program /no/such/bin/python" in done.stderr
    assert "a worker does not start" in done.stderr


def test_host_takes_the_place_of_nothing_but_a_socket_that_is_unused(tmp_path, serves):
    _, path = serves
    file = tmp_path / "file"
    file.write_text("mine")
    for place, words in ((str(file), "in use"), (path, "somebody listens")):
        done = subprocess.run(
            [running.HOST, place, "--python", sys.executable],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 1 and words in done.stderr
    assert file.read_text() == "mine" and running.still_works(path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "usage"),
        (["x", "--workers", "0"], "from 1 to"),
        (["x", "--key", "/no/such/file"], "/no/such/file"),
        (["x", "--policy", "/no/such/file"], "cannot be read"),
        (["x", "--policy", "/"], "cannot be read"),
        (["x", "--max-outcome", "100"], "from 1024 to"),
        (["x" * 200], "has 1 to 107 bytes"),
        ([""], "has 1 to 107 bytes"),
    ],
    ids=[
        "nothing",
        "no workers",
        "no key",
        "no rules",
        "a folder of rules",
        "no room for outcomes",
        "a long path",
        "an abstract socket",
    ],
)
def test_host_says_what_it_does_not_understand(arguments, words):
    done = subprocess.run([running.HOST, *arguments], capture_output=True, text=True)

    assert done.returncode in {1, 2}
    assert words in done.stderr


def test_client_shows_itself(serves):
    _, path = serves
    script = running.EXAMPLES / "host" / "client.py"
    done = subprocess.run(
        [sys.executable, script, path], capture_output=True, text=True, timeout=60
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("5.0 from process")
    assert "raised there: must be real number" in done.stdout
    assert "status 3" in done.stdout
