"""docs/examples/host against calls and clients that mean harm, or are just unlucky."""

import os
import resource
import signal
import socket
import stat
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
sanitized = pytest.mark.skipif(
    "WAYBILL_SANITIZED" in os.environ, reason="has a malloc of its own"
)

Client = running.module("host/client.py").Client

add = define("def f(*args): return sum(args)").f
big = define("def f(size): return bytes(size)").f


@pytest.fixture
def serves(tmp_path):
    """A host with one worker and a time limit of a second: a Server and a path."""
    with running.host(tmp_path, "--workers", 1, "--time-limit", 1000) as (server, path):
        yield server, path


def sent(path, data):
    """A socket on which this was sent."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    connection.sendall(data)
    return connection


def test_call_that_leaves_its_process_group_is_ended(serves):
    _, path = serves
    flee = define(
        """
def f():
    os.setpgid(0, os.getpgid(os.getppid()))
    while True: pass
""",
        os=os,
    ).f

    with Client(path) as client, pytest.raises(waybill.calls.CallError) as caught:
        client.call(flee)

    assert caught.value.code == "timed_out"
    assert running.still_works(path)


def test_writing_to_who_has_gone_raises_in_a_call(serves):
    server, path = serves
    feed = define(
        """
def f():
    reader, writer = os.pipe()
    os.close(reader)
    try:
        os.write(writer, b"x")
    finally:
        os.close(writer)
""",
        os=os,
    ).f

    with Client(path) as client, pytest.raises(BrokenPipeError):
        client.call(feed)

    assert "workers started 1" in server.end()


def test_host_lives_on_when_nobody_reads_what_it_says(tmp_path):
    path = str(tmp_path / "socket")
    words = [running.HOST, path, "--workers", "1", "--python", sys.executable]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as host:
        try:
            assert host.stderr.readline() == "host: ready\n"
            host.stderr.close()
            with sent(path, b"nonsense") as client:
                assert client.recv(1)
            assert running.still_works(path)
        finally:
            host.kill()


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGHUP])
def test_what_calls_have_started_ends_with_the_host(serves, ending):
    server, path = serves
    start = define(
        """
def f():
    child = os.fork()
    if child == 0:
        time.sleep(1000)
        os._exit(0)
    return child, subprocess.Popen(["sleep", "1000"]).pid
""",
        os=os,
        subprocess=subprocess,
        time=time,
    ).f
    with Client(path) as client:
        processes = client.call(start)
    assert all(map(running.is_running, processes))

    server.process.send_signal(ending)

    assert all(map(running.ends_soon, processes))


def test_worker_that_died_while_its_child_lives_costs_no_call(serves):
    _, path = serves
    leave = define(
        """
def f():
    if os.fork() == 0:
        time.sleep(1000)
        os._exit(0)
    threading.Timer(0.1, os._exit, (3,)).start()
""",
        os=os,
        threading=threading,
        time=time,
    ).f
    with Client(path) as client:
        client.call(leave)
        time.sleep(0.3)

        assert client.call(add, 1, 2) == 3


def test_names_in_payloads_write_no_lines_of_their_own(tmp_path):
    rules = tmp_path / "rules"
    rules.write_text("deny import *\n")
    options = "--workers", 1, "--policy", rules
    with running.host(tmp_path, *options) as (server, path), Client(path) as client:
        for name in ("no\nhost: ready\x1b[2J\u202e", "x" * 1_000_000):
            client.send(running.call_of(name))
            with pytest.raises(waybill.calls.CallError) as caught:
                client.receive()
            assert caught.value.code == "refused"

    written = server.log
    assert "no?host: ready?[2J" in written
    assert written.count("\nhost: ready") == 0
    assert len(written) < 2000


def test_socket_is_for_its_user_alone(tmp_path):
    before = os.umask(0)
    try:
        with running.host(tmp_path, "--workers", 1) as (_, path):
            assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    finally:
        os.umask(before)


def test_client_that_sends_no_more_still_gets_its_outcome(serves):
    _, path = serves
    with sent(path, waybill.calls.dumps_call(add, [1, 2])) as client:
        client.shutdown(socket.SHUT_WR)
        with client.makefile("rb") as stream:
            assert waybill.calls.result_of(waybill.load(stream)) == 3


def test_clients_that_have_left_make_room_for_others(tmp_path):
    mark = tmp_path / "mark"
    stay = define("def f(path):\n    open(path, 'w').close()\n    while True: pass").f
    options = "--workers", 1, "--clients", 2, "--time-limit", 60_000
    with running.host(tmp_path, *options) as (server, path):
        with sent(path, waybill.calls.dumps_call(stay, [str(mark)])):
            while not mark.exists():
                time.sleep(0.01)
            sent(path, waybill.calls.dumps_call(add, [1])).close()

            server.wait_for("host: gone")


def test_outcome_that_the_host_has_no_room_for_is_told(serves):
    server, path = serves
    if "WAYBILL_SANITIZED" in os.environ:
        pytest.skip("needs more memory from the start")
    with open(f"/proc/{server.process.pid}/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    with Client(path) as client:
        limits = resource.prlimit(server.process.pid, resource.RLIMIT_AS)
        tight = size + (24 << 20), limits[1]
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, tight)
        with pytest.raises(waybill.calls.CallError) as caught:
            client.call(big, 60 << 20)
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, limits)

    assert caught.value.code == "no_memory"
    assert running.still_works(path)


@pytest.mark.long
@sanitized
def test_large_outcomes_of_many_clients_arrive_and_leave_nothing(tmp_path):
    with running.host(tmp_path, "--workers", 2) as (server, path):

        def work(_):
            with Client(path) as client:
                assert len(client.call(big, 24 << 20)) == 24 << 20

        assert run_in_threads(work, 16) == []
        for _ in range(200):  # Its threads may be about to let go of theirs.
            kept = running.own_memory(server.process.pid)
            if kept < 32 << 20:
                break
            time.sleep(0.05)
        assert kept < 32 << 20
        assert "host: made 16\n" in server.end()
