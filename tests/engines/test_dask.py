"""waybill.integrations.dask, with clusters of separate processes."""

import pickle
import re
import shlex
import subprocess
import sys
import time

import pytest
from pages import ROOT, blocks
from programs import lines, run

pytest.importorskip("distributed")

START = """
import sys
import distributed
import waybill.integrations.dask

def connect():
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    client = distributed.Client(cluster)
    waybill.integrations.dask.install(client)
    return cluster, client

def packer():
    import distributed.protocol.pickle
    return distributed.protocol.pickle.dumps.__module__
"""


def test_main_job(tmp_path):
    pytest.importorskip("numpy")
    source = f"""{START}
import traceback
import xml.etree.ElementTree
import numpy

class Point:
    def __init__(self, x):
        self.x = x

def adder(n):
    return lambda x: Point(x + n)

def refuse(x):
    raise ValueError(f"not {{x}}")  # This is the line.

if __name__ == "__main__":
    cluster, client = connect()
    print("packers", {{*client.run(packer).values(), client.run_on_scheduler(packer)}})
    points = client.gather(client.map(adder(10), range(3)))
    print("points", [(type(point) is Point, point.x) for point in points])
    parse = lambda text: xml.etree.ElementTree.fromstring(text).tag
    print("chain", client.submit(parse, "<a/>").result())
    print("lambda", client.submit(lambda: lambda: 7).result()())
    array = numpy.arange(1e6)
    doubled = client.submit(lambda a: a * 2, client.scatter(array)).result()
    print("array", (doubled == array * 2).all(), doubled.flags.writeable)
    print("method", client.submit(Point(4).__getattribute__, "x").result())
    try:
        client.submit(refuse, 7).result()
    except ValueError:
        traceback.print_exc(file=sys.stdout)
    client.close(); cluster.close()
"""
    told = lines(tmp_path, source)

    assert told[:6] == [
        "packers {'waybill.integrations.dask'}",
        "points [(True, 10), (True, 11), (True, 12)]",
        "chain a",
        "lambda 7",
        "array True True",
        "method 4",
    ]
    raised = "\n".join(told[6:])
    assert "ValueError: not 7" in raised
    assert "in refuse" in raised and "# This is the line." in raised


@pytest.mark.long
def test_ten_thousand_tasks_come_back(tmp_path):
    source = f"""{START}
if __name__ == "__main__":
    cluster, client = connect()
    offset = 1
    results = client.gather(client.map(lambda x: x + offset, range(10_000)))
    print(results == list(range(1, 10_001)))
    client.close(); cluster.close()
"""
    assert lines(tmp_path, source, timeout=300) == ["True"]


def test_clusters_that_are_started_after_install_follow_and_new_workers_too(tmp_path):
    source = f"""{START}
if __name__ == "__main__":
    waybill.integrations.dask.install()
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        print({{*client.run(packer).values(), client.run_on_scheduler(packer)}})
        cluster.scale(2)
        client.wait_for_workers(2)
        print(set(client.run(packer).values()))
"""
    assert lines(tmp_path, source) == ["{'waybill.integrations.dask'}"] * 2


def test_uninstall_puts_everything_back_on_all_sides(tmp_path):
    source = f"""{START}
import dask.config
import distributed.client
import distributed.protocol.pickle
from distributed.protocol.serialize import families

def state():
    modules = [module for name, module in sys.modules.items() if "distributed" in name]
    return (
        [getattr(module, "dumps", None) for module in modules],
        sorted(families),
        dask.config.get("distributed.worker.preload"),
        dask.config.get("distributed.scheduler.preload"),
    )

if __name__ == "__main__":
    before = state()
    cluster, client = connect()
    waybill.integrations.dask.install(client)
    assert state() != before
    waybill.integrations.dask.uninstall(client)
    waybill.integrations.dask.uninstall(client)
    waybill.integrations.dask.uninstall()
    print({{*client.run(packer).values(), client.run_on_scheduler(packer)}})
    print(client.submit(lambda x: x + 1, 1).result())
    client.close(); cluster.close()
    print([dumps for dumps in state()[0] if dumps is waybill.integrations.dask.dumps])
    print(state()[1:] == before[1:])
"""
    expected = ["{'distributed.protocol.pickle'}", "2", "[]", "True"]
    assert lines(tmp_path, source) == expected


def test_workers_within_this_process_leave_it_installed_when_they_close(tmp_path):
    source = f"""{START}
import time

if __name__ == "__main__":
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        waybill.integrations.dask.install(client)
        cluster.scale(1)
        while len(client.scheduler_info()["workers"]) > 1:
            time.sleep(0.05)
        print(packer(), client.submit(lambda x: x + 1, 1).result())
    print(packer())
    waybill.integrations.dask.uninstall()
    print(packer())
"""
    assert lines(tmp_path, source) == [
        "waybill.integrations.dask 2",
        "waybill.integrations.dask",
        "distributed.protocol.pickle",
    ]


def test_modules_that_the_environment_preloads_stay_first(tmp_path):
    source = """
import dask.config
import waybill.integrations.dask as integration

def preloads():
    return dask.config.get("distributed.worker.preload")

integration.install()
print(preloads())
integration.uninstall()
print(preloads())
"""
    written = lines(tmp_path, source, DASK_DISTRIBUTED__WORKER__PRELOAD="somewhere")

    assert written == ["['somewhere', 'waybill.integrations.dask']", "['somewhere']"]


class Cluster:
    """A scheduler and a worker as people start them: by their commands."""

    def __init__(self, folder, scheduler="dask scheduler", worker="dask worker"):
        self.file = folder / "scheduler.json"
        self._folder = folder
        self._processes = []
        file = f"--no-dashboard --scheduler-file {shlex.quote(str(self.file))}"
        self._start(f"{scheduler} {file} --host 127.0.0.1 --port 0")
        self._wait_for(self.file)
        self._start(f"{worker} {file} --nthreads 1 --no-nanny")

    def _start(self, line):
        command = [sys.executable, "-m", *shlex.split(line)]
        with open(self._folder / f"log-{len(self._processes)}", "w") as log:
            self._processes.append(
                subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder)
            )

    def _wait_for(self, path):
        end = time.monotonic() + 60
        while not (path.exists() and path.read_text().strip()):
            assert time.monotonic() < end, (self._folder / "log-0").read_text()
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:  # How Dask ends is not what is tested.
                process.kill()
                process.wait()


def test_commands_preload_it(tmp_path):
    source = """
import sys
import distributed
import waybill.integrations.dask

def packer():
    import distributed.protocol.pickle
    return distributed.protocol.pickle.dumps.__module__

waybill.integrations.dask.install()
with distributed.Client(scheduler_file=sys.argv[1]) as client:
    client.wait_for_workers(1)
    print({*client.run(packer).values(), client.run_on_scheduler(packer)})
"""
    (block,) = blocks(ROOT / "docs/integrations/dask.md", "sh")
    commands = [re.sub(r" tcp://\S+", "", line) for line in block.lines]

    with Cluster(tmp_path, *commands) as cluster:
        assert lines(tmp_path, source, str(cluster.file)) == [
            "{'waybill.integrations.dask'}"
        ]


@pytest.mark.slow
def test_worker_that_lacks_a_module_says_which_before_the_task_runs(tmp_path):
    (tmp_path / "apart").mkdir()
    (tmp_path / "apart" / "only_here.py").write_text("value = 1\n")
    source = """
import sys
import distributed
import waybill.integrations.dask

sys.path.append("apart")
import only_here

def ran():
    open("ran", "w").close()
    return only_here.value

with distributed.Client(scheduler_file=sys.argv[1]) as client:
    waybill.integrations.dask.install(client)
    client.wait_for_workers(1)
    try:
        client.submit(ran).result()
    except Exception as error:
        while error is not None:
            print(type(error).__name__, error)
            error = error.__cause__ or error.__context__
"""
    with Cluster(tmp_path) as cluster:
        told = run(tmp_path, source, str(cluster.file)).stdout

    assert "MissingModuleError" in told
    assert "only_here, for only_here in ran" in told
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def installed():
    from waybill.integrations import dask

    dask.install()
    yield dask
    dask.uninstall()


class TestWhatIsPacked:
    """Without a cluster: the functions that Dask calls."""

    def test_is_packed_once_even_if_it_holds_the_name_of_main(
        self, installed, monkeypatch
    ):
        from distributed.protocol import serialize
        from waybill.integrations import pickle as envelope

        calls = []
        original = envelope.dumps_with_fallback
        monkeypatch.setattr(
            envelope,
            "dumps_with_fallback",
            lambda *a, **k: calls.append(a) or original(*a, **k),
        )

        serialize({"name": "__main__", "f": lambda: 1}, serializers=["pickle"])

        assert len(calls) == 1

    def test_arrays_stay_out_of_band_and_writable(self, installed):
        numpy = pytest.importorskip("numpy")
        from distributed.protocol import deserialize, serialize

        for serializers in ["pickle"], ["waybill"]:
            fixed = numpy.arange(10.0)
            fixed.flags.writeable = False
            obj = {"a": numpy.arange(100_000.0), "fixed": fixed, "f": lambda: 3}
            header, frames = serialize(
                obj, serializers=serializers, iterate_collection=False
            )
            arrived = [bytes(frame) for frame in frames]

            loaded = deserialize(header, arrived)

            assert header["serializer"] == serializers[0]
            assert len(frames) == 3 and len(arrived[0]) < 1500
            assert (loaded["a"] == obj["a"]).all() and loaded["f"]() == 3
            assert loaded["a"].flags.writeable
            assert not loaded["fixed"].flags.writeable

    def test_configured_keys_sign_the_family_of_data_too(self, installed):
        import waybill
        from distributed.protocol import serialize

        key = waybill.security.SigningKey.generate()
        waybill.configure(key=key)
        try:
            _, frames = serialize({"a": 1}, serializers=["waybill"])
        finally:
            waybill.configure(key=None)

        waybill.security.verify(
            frames[0], waybill.security.KeyRing.from_text(key.public_text)
        )

    def test_what_only_dask_can_send_goes_by_what_it_registers(self, installed):
        import distributed.protocol.pickle
        from distributed.protocol import dask_deserialize, dask_serialize

        class Stubborn:
            def __reduce__(self):
                raise TypeError("not by pickle")

        dask_serialize.register(Stubborn)(lambda obj: ({}, [b"frame"]))
        dask_deserialize.register(Stubborn)(lambda header, frames: "dask's")

        packed = distributed.protocol.pickle.dumps([Stubborn(), lambda: 1])

        assert pickle.loads(packed)[0] == "dask's"

    def test_plain_values_are_plain_pickles(self, installed):
        import distributed.protocol.pickle

        for value in "text", b"bytes", 1, 2.5, None, True:
            packed = distributed.protocol.pickle.dumps(value)
            assert packed == pickle.dumps(value, 5)

    def test_error_names_the_culprit(self, installed):
        import threading

        import distributed.protocol.pickle
        import waybill

        with pytest.raises(waybill.EncodeError, match=re.escape("['lock']")):
            distributed.protocol.pickle.dumps({"lock": threading.Lock()})


def test_keys_of_tasks_leave_the_classes_of_the_script_as_they_are(tmp_path):
    source = """
import waybill.integrations.dask
from dask.tokenize import tokenize

class Point:
    def __init__(self, x):
        self.x = x

class Other(Point):
    def moved(self, by):
        return super().__init__(by)

def task(x):
    return Other(x)

waybill.integrations.dask.install()
before = [Point.__init__, Other.moved, Point.__init__.__code__]
keys = [tokenize(task, ensure_deterministic=True) for _ in range(3)]
print([Point.__init__, Other.moved, Point.__init__.__code__] == before, len(set(keys)))
print(tokenize(task) == tokenize(lambda x: x), keys[0])
"""
    first, second = lines(tmp_path, source), lines(tmp_path, source)

    assert first[0] == "True 1"
    assert first == second and first[1].startswith("False ")
