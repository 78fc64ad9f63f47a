"""Celery with the serializer `waybill`: real workers, clients in other processes.

Worker and client share a broker and a result backend that are folders.
"""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
import tomllib
from pathlib import Path

import pytest
from celery_project import PROJECT

pytest.importorskip("celery")

ROOT = Path(__file__).resolve().parents[2]

START = """
import sys, time, traceback
import waybill
from project import add, app, call

def get(result):
    return result.get(timeout=20, interval=0.02)

def raised_by(result):
    try:
        get(result)
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")
"""


def environment(folder, **others):
    paths = filter(None, [str(folder), os.environ.get("PYTHONPATH")])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **others}


@contextlib.contextmanager
def working(folder, **variables):
    """A worker whose log is in the folder; with the module `project`."""
    (folder / "project.py").write_text(PROJECT)
    command = f"{sys.executable} -m celery -A project worker --concurrency 1"
    command += " --loglevel INFO --without-mingle --without-gossip --without-heartbeat"
    log = folder / "log"
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command.split(),
            cwd=folder,
            env=environment(folder, **variables),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_for(log, " ready.", process)
        yield log
    finally:
        # With the processes of its pool; an orderly end takes it five seconds.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(log, text, process=None, seconds=30):
    end = time.monotonic() + seconds
    while text not in log.read_text():
        alive = process is None or process.poll() is None
        assert alive and time.monotonic() < end, log.read_text()
        time.sleep(0.02)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where a worker is at work."""
    folder = tmp_path_factory.mktemp("celery")
    with working(folder):
        yield folder


def run(folder, program, start=START, name="client.py", **variables):
    """Runs a program as its user would; what it has printed."""
    path = folder / name
    path.write_text(start + textwrap.dedent(program))
    done = subprocess.run(
        [sys.executable, path],
        capture_output=True,
        text=True,
        timeout=100,
        env=environment(folder, **variables),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_function_with_closure_is_an_argument(folder):
    program = """
    def adder(n):
        def plus(x):
            return n + x
        return plus

    print(get(call.delay(adder(3), 4)))
    """

    assert run(folder, program) == "7\n"


def test_submodule_chain_is_imported_in_the_worker(folder):
    program = """
    import xml.etree.ElementTree

    def tag(text):
        return xml.etree.ElementTree.fromstring(text).tag

    print(get(call.delay(tag, "<parcel/>")))
    """

    assert run(folder, program) == "parcel\n"


def test_instances_come_back_as_instances_of_the_clients_class(folder):
    program = """
    class Point:
        def __init__(self, x):
            self.x = x

    def moved(point):
        return Point(point.x + 1)

    point = get(call.delay(moved, Point(1)))
    assert type(point) is Point and point.x == 2
    assert type(get(call.delay(Point, x=5))) is Point
    """

    run(folder, program)


def test_functions_come_back(folder):
    program = """
    def adder(n):
        return lambda x: n + x

    print(get(call.delay(adder, 3))(4))
    """

    assert run(folder, program) == "7\n"


def test_functions_travel_along_chains_of_tasks(folder):
    program = """
    both = call.s(lambda: 20) | add.s(1) | add.s(21)
    print(get(both.delay()))
    made = call.s(lambda: (lambda: 5)) | call.s()
    print(get(made.delay()))
    """

    assert run(folder, program) == "42\n5\n"


def test_arrays_arrive_as_they_were(folder):
    pytest.importorskip("numpy")
    program = """
    import numpy

    array = numpy.arange(100_000.0)
    doubled = get(call.delay(lambda a: a * 2, array))
    assert (doubled == array * 2).all()
    """

    run(folder, program)


def test_exception_of_the_clients_class_comes_back_with_its_place(folder):
    program = """
    class Broken(Exception):
        def __init__(self, part, *, count):
            super().__init__(f"{count} of {part}")
            self.part, self.count = part, count

    def breaks(part):
        raise Broken(part, count=3)  # here

    error = raised_by(call.delay(breaks, "wheel"))
    assert type(error) is Broken, type(error)
    assert (error.part, error.count, str(error)) == ("wheel", 3, "3 of wheel")
    shown = "".join(traceback.format_exception(error))
    assert "in breaks" in shown and "client.py" in shown, shown
    assert "raise Broken(part, count=3)  # here" in shown, shown
    """

    run(folder, program)


def test_causes_of_exceptions_come_back(folder):
    program = """
    def fails():
        try:
            1 / 0
        except ZeroDivisionError as error:
            raise LookupError("no result") from error

    error = raised_by(call.delay(fails))
    assert type(error) is LookupError, type(error)
    assert type(error.__cause__) is ZeroDivisionError
    """

    run(folder, program)


def test_result_that_cannot_travel_is_named_with_its_path(folder):
    program = """
    import threading

    print(raised_by(call.delay(lambda: [1, threading.Lock()])))
    """

    assert "obj['result'][1] (_thread.lock)" in run(folder, program)


def test_client_learns_of_a_module_that_the_worker_lacks(folder, tmp_path):
    (tmp_path / "only_here.py").write_text("def f(): pass")
    program = f"""
    sys.path.append({str(tmp_path)!r})
    import only_here

    error = raised_by(call.delay(only_here.f))
    assert type(error) is waybill.MissingModuleError, type(error)
    print(error.name)
    print(get(add.delay(1, 2)))
    """

    assert run(folder, program) == "only_here\n3\n"
    assert "only_here" in (folder / "log").read_text()


def test_code_of_another_python_is_refused_by_name(folder):
    other = next(v for v in ("3.12", "3.13") if v != "%d.%d" % sys.version_info[:2])
    payload = (ROOT / f"tests/golden/v1/class-{other}.waybill").read_bytes()
    program = f"""
    from kombu.serialization import register

    payload = {payload!r}
    register("foreign", lambda obj: payload, None, "application/x-waybill", "binary")
    error = raised_by(call.apply_async((1,), serializer="foreign"))
    assert type(error) is waybill.PythonMismatchError, type(error)
    print(error)
    """

    assert other in run(folder, program)


def test_json_is_still_accepted(folder):
    program = "print(get(add.apply_async((1, 2), serializer='json')))"

    assert run(folder, program) == "3\n"


def test_client_that_lets_in_data_only_learns_what_was_raised(folder):
    program = """
    waybill.restrict(policy=waybill.DATA_ONLY)

    assert get(add.delay([1], [2])) == [1, 2]
    error = raised_by(call.delay(lambda: {}["key"]))
    assert type(error) is KeyError and error.args == ("key",)
    assert "refused" in error.__notes__[0], error.__notes__
    """

    run(folder, program)


def test_signatures_are_made_and_demanded(tmp_path):
    import waybill

    key, public = tmp_path / "key", tmp_path / "public"
    made = waybill.security.SigningKey.generate()
    made.save(key)
    public.write_text(made.public_text)
    keys = {"SIGNING_KEY": str(key), "PUBLIC_KEY": str(public)}
    program = "print(get(call.delay(lambda x: x + 1, 1)))"
    unsigned = "call.delay(print, 'unsigned')"

    with working(tmp_path, **keys) as log:
        assert run(tmp_path, program, **keys) == "2\n"
        run(tmp_path, unsigned)
        wait_for(log, "demands a signature")


# ---- In one process, with a broker in memory


MEMORY = """
import celery, kombu, waybill
import waybill.integrations.celery as integration

app = celery.Celery("memory", broker="memory://", backend="cache+memory://")

@app.task
def add(x, y):
    return x + y

def registered():
    registry = kombu.serialization.registry
    return {
        name: value.copy() if hasattr(value, "copy") else value
        for name, value in vars(registry).items()
    }
"""


def test_messages_are_payloads(tmp_path):
    program = """
    integration.install(app)
    add.delay(1, 2)
    with app.connection() as connection:
        message = connection.default_channel.basic_get("celery")
    assert message.content_type == "application/x-waybill", message.content_type
    args, kwargs, embed = waybill.loads(message.body)
    print(args, kwargs)
    """

    assert run(tmp_path, program, MEMORY) == "(1, 2) {}\n"


def test_content_is_refused_where_it_was_not_accepted(tmp_path):
    program = """
    integration.install()
    content = kombu.serialization.dumps([1], "waybill")[2]
    for accept in (None, {"application/json"}):
        try:
            kombu.serialization.loads(
                content, "application/x-waybill", "binary", accept=accept
            )
        except kombu.exceptions.ContentDisallowed as error:
            print(error)
    """

    refused = run(tmp_path, program, MEMORY)

    assert refused.count("Refusing to deserialize") == 2


def test_worker_refuses_what_it_does_not_accept(folder, tmp_path):
    program = """
    app.conf.task_serializer = "pickle"
    call.apply_async((print, "pickled"), serializer="pickle")
    """

    run(folder, program)

    wait_for(folder / "log", "Refusing to deserialize untrusted content of type pickle")


def test_install_keeps_what_was_accepted_and_uninstall_all_that_was(tmp_path):
    program = """
    from billiard.reduction import ForkingPickler
    from celery import signals
    from celery.app import trace
    from celery.backends.base import Backend
    from celery.worker.consumer import Consumer
    from celery.worker.request import Request

    def seen():
        settings = {name: app.conf[name] for name in names}
        owners = (Backend, Consumer, Request, trace)
        vars_of = [dict(vars(owner)) for owner in owners]
        return settings, vars_of, registered(), dict(ForkingPickler._extra_reducers)

    names = ("task_serializer", "result_serializer", "accept_content")
    app.conf.accept_content = ["yaml"]
    before = seen()
    integration.install(app)
    integration.install(app)
    assert app.conf.accept_content == ["yaml", "waybill"]
    assert app.conf.task_serializer == app.conf.result_serializer == "waybill"
    signals.worker_init.send(sender=None)
    signals.worker_process_init.send(sender=None)
    assert seen() != before
    integration.uninstall(app)
    assert seen() == before
    signals.worker_init.send(sender=None)
    assert seen() == before
    """

    run(tmp_path, program, MEMORY)


def test_entry_point_registers_but_lets_nothing_in(tmp_path):
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    info = tmp_path / "waybill-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: waybill\nVersion: 0\n")
    lines = ["[kombu.serializers]"]
    for item in metadata["entry-points"]["kombu.serializers"].items():
        lines.append(" = ".join(item))
    (info / "entry_points.txt").write_text("\n".join(lines))
    program = """
    import kombu
    from kombu.serialization import dumps, loads

    type, encoding, content = dumps([1, (2, 3)], "waybill")
    try:
        loads(content, type, encoding)
    except kombu.exceptions.ContentDisallowed:
        print(type, encoding, loads(content, type, encoding, accept={type}))
    """

    told = run(tmp_path, program, "")

    assert told == "application/x-waybill binary [1, (2, 3)]\n"


@pytest.mark.long
def test_ten_thousand_tasks(tmp_path):
    program = """
    from celery.contrib.testing.worker import start_worker

    @app.task
    def call(function, *args):
        return function(*args)

    app.conf.broker_transport_options = {"polling_interval": 0.0001}
    app.conf.worker_prefetch_multiplier = 0
    integration.install(app)
    with start_worker(app, pool="solo", perform_ping_check=False, loglevel="ERROR"):
        # The backend keeps some thousands of results.
        for start in range(0, 10_000, 1000):
            numbers = range(start, start + 1000)
            results = [call.delay(lambda x: 2 * x, n) for n in numbers]
            assert [r.get(interval=0.001) for r in results] == [2 * n for n in numbers]
    """

    run(tmp_path, program, MEMORY)
