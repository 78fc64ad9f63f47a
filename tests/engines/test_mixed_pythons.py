"""Engines whose workers run another minor version of Python than their clients, each
way: functions and classes of the script go there as source, and come back."""

import re

import pytest
from celery_project import PROJECT
from mixed import folder_of, pairs_with, running, told_by, wait_for

pytestmark = pytest.mark.cross
each_way = pytest.mark.parametrize("way", [0, 1], ids=["there", "back"])


def from_to(client, worker):
    """What a job says at last."""
    return f"from {client.version} to {worker.version}"


@each_way
def test_dask_sends_tasks_of_a_script_to_workers_of_another_python(way):
    client, worker = pairs_with("distributed")[way]
    options = ["-m", "dask"]

    with folder_of(client, worker) as folder:
        log = folder / "scheduler"
        scheduler = "scheduler --host 127.0.0.1 --port 0 --no-dashboard".split()
        with running(worker, log, *options, *scheduler, cwd=folder) as process:
            find = re.compile(r"Scheduler at: +(tcp://\S+)").search
            (address,) = wait_for(log, find, process).groups()
            work = [
                "worker",
                address,
                "--nthreads",
                "2",
                "--no-nanny",
                "--no-dashboard",
            ]
            with running(worker, folder / "worker", *options, *work, cwd=folder):
                told = told_by(client, "mixed_dask_job.py", folder, address)

    assert told == from_to(client, worker)


@each_way
def test_celery_sends_functions_of_a_script_to_a_worker_of_another_python(way):
    client, worker = pairs_with("celery")[way]

    with folder_of(client, worker) as folder:
        (folder / "project.py").write_text(PROJECT)
        log = folder / "log"
        work = "-m celery -A project worker --pool solo --loglevel INFO"
        work += " --without-mingle --without-gossip --without-heartbeat"
        path = worker.seen(folder)
        with running(worker, log, *work.split(), cwd=folder, path=path) as process:
            wait_for(log, lambda text: " ready." in text, process)
            path = client.seen(folder)
            told = told_by(client, "mixed_celery_job.py", folder, path=path)

    assert told == from_to(client, worker)


LISTENER = """
import sys
from multiprocessing.connection import Listener
import waybill
import waybill.integrations.multiprocessing

waybill.integrations.multiprocessing.install()
with Listener(("127.0.0.1", 0), authkey=b"key") as listener:
    print(f"port {listener.address[1]}", flush=True)
    with listener.accept() as connection:
        connection.send(sys.version_info[:2])
        while (call := connection.recv()) is not None:
            if callable(call):
                answer = call
            else:
                try:
                    answer = call[0](*call[1:])
                except Exception as error:
                    answer = error
            connection.send(answer)
"""


@each_way
def test_a_connection_takes_functions_of_a_script_to_another_python(way):
    client, listener = pairs_with()[way]

    with folder_of(client, listener) as folder:
        log = folder / "log"
        with running(listener, log, "-c", LISTENER) as process:
            (port,) = wait_for(
                log, re.compile(r"port (\d+)\n").search, process
            ).groups()
            told = told_by(client, "mixed_connection_job.py", folder, port)

    assert told == from_to(client, listener)
