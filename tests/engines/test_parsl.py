"""waybill.integrations.parsl, with a HighThroughputExecutor and workers on loopback."""

import json
import os
import sys
import textwrap
from pathlib import Path

import pytest
from programs import lines as lines_of_one

pytest.importorskip("parsl")

# Parsl starts programs that pip has installed beside the interpreter.
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

OURS = "waybill.integrations.parsl"

START = """
import logging, sys, time, traceback
import parsl
from parsl import bash_app, python_app
from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.providers import LocalProvider
from parsl.serialize import facade
import waybill
import waybill.integrations.parsl

@python_app
def call(function, *args):
    return function(*args)

def loaded():
    executor = HighThroughputExecutor(
        address="127.0.0.1",
        loopback_address="127.0.0.1",
        max_workers_per_node=1,
        cores_per_worker=0.1,
        poll_period=2,
        provider=LocalProvider(init_blocks=1, max_blocks=1),
    )
    return parsl.load(Config(executors=[executor], strategy="none"))

def raised_by(future):
    return future.exception(timeout=60)
"""

INSTALLED = START + "waybill.integrations.parsl.install()\n"


def lines(folder, source, start=INSTALLED):
    return lines_of_one(folder, start + textwrap.dedent(source), PATH=PATH)


# ---- With an executor, which takes seven seconds to start: one for all of these

MAIN = """
import json, threading
import xml.etree.ElementTree
from parsl.data_provider.files import File

told = {}
sys.path.append("folder")
import only_here

class Point:
    def __init__(self, x):
        self.x = x

class Broken(Exception):
    def __init__(self, part, *, count):
        super().__init__(f"{count} of {part}")
        self.count = count

factor = 10

@python_app
def moved(point, by=1):
    return Point(point.x + by * factor)

def adder(n):
    return lambda x: n + x

def depth(text):
    return len(list(xml.etree.ElementTree.fromstring(text).iter()))

def first_bytes():
    return [facade.serialize(x).partition(b"\\n")[0].decode() for x in ([1], len)]

@python_app
def breaks(part):
    raise Broken(part, count=3)  # here

@bash_app
def write(text, outputs=()):
    return f"echo {text} > {outputs[0]}"

@python_app
def read(inputs=()):
    with open(inputs[0]) as file:
        return file.read()

class Warnings(logging.Handler):
    def emit(self, record):
        told.setdefault("warnings", []).append(record.getMessage())

logging.getLogger("waybill.integrations.parsl").addHandler(Warnings())
with loaded():
    point = moved(moved(Point(1)), by=2).result()
    told["instance"] = [type(point) is Point, point.x]
    told["closures"] = [call(adder(3), 4).result(), call(adder, 3).result()(5)]
    told["submodule"] = call(depth, "<a><b/></a>").result()
    told["written"] = [first_bytes(), call(first_bytes).result()]

    error = raised_by(breaks("wheel"))
    told["own class"] = [type(error) is Broken, getattr(error, "count", None)]
    told["traceback"] = "".join(traceback.format_exception(error))
    error = raised_by(call(only_here.f))
    told["missing"] = [type(error).__name__, getattr(error, "name", None)]

    told["cannot return"] = str(raised_by(call(lambda: {"b": (n for n in "x")})))
    error = raised_by(call(adder, (n for n in "x")))
    told["cannot send"] = str(error.__context__)
    lock = call(lambda lock: lock, threading.Lock()).result()
    told["dill"] = type(lock).__name__

    written = write("parcel", outputs=[File("written.txt")])
    told["files"] = read(inputs=[written.outputs[0]]).result().strip()
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What a program learned of its executor."""
    folder = tmp_path_factory.mktemp("parsl")
    (folder / "folder").mkdir()
    (folder / "folder" / "only_here.py").write_text("def f(): pass")
    return json.loads(lines(folder, MAIN)[-1])


@pytest.mark.slow
def test_instances_of_main_come_back_as_such(told):
    assert told["instance"] == [True, 31]


@pytest.mark.slow
def test_closures_go_and_come_back(told):
    assert told["closures"] == [7, 8]


@pytest.mark.slow
def test_submodule_chain_is_imported_in_the_worker(told):
    assert told["submodule"] == 2


@pytest.mark.slow
def test_waybill_writes_both_ways(told):
    assert told["written"] == [[f"{OURS} WaybillSerializer"] * 2] * 2


@pytest.mark.slow
def test_exceptions_come_back_with_their_places(told):
    assert told["own class"] == [True, 3]
    assert "in breaks" in told["traceback"]
    assert "raise Broken(part, count=3)  # here" in told["traceback"]


@pytest.mark.slow
def test_module_that_the_worker_lacks_is_named(told):
    assert told["missing"] == ["MissingModuleError", "only_here"]


@pytest.mark.slow
def test_what_no_method_can_send_is_named_with_its_path(told):
    message = (
        "(generator): cannot pickle 'generator' object; "
        'replace={types.GeneratorType: "drop"}, or pass what it yields as a list'
    )
    assert told["cannot return"] == f"obj['b'] {message}"
    assert told["cannot send"] == f"obj[1] {message}"


@pytest.mark.slow
def test_what_only_dill_can_send_still_goes_and_is_logged(told):
    assert told["dill"] == "lock"
    assert any("obj[1] (_thread.lock)" in text for text in told["warnings"])


@pytest.mark.slow
def test_bash_apps_and_files_work_as_before(told):
    assert told["files"] == "parcel"


@pytest.mark.long
def test_ten_thousand_tasks(tmp_path):
    source = """
    with loaded():
        futures = [call(lambda x: 2 * x, n) for n in range(10_000)]
        print(sum(future.result() for future in futures))
    """

    assert lines(tmp_path, source) == [str(sum(range(0, 20_000, 2)))]


# ---- In one process


def test_uninstall_puts_back_what_was_there(tmp_path):
    source = """
    def seen():
        return [
            list(methods.items())
            for methods in (facade.methods_for_code, facade.methods_for_data)
        ]

    integration = waybill.integrations.parsl
    before = seen()
    integration.install()
    once = [[name for name, _ in methods] for methods in seen()]
    integration.install()
    assert once == [[name for name, _ in methods] for methods in seen()]
    content = facade.serialize([1])
    integration.uninstall()
    assert seen() == before
    assert facade.deserialize(content) == [1]
    assert seen() == before
    print(once[1])
    """

    assert lines(tmp_path, source, START) == [
        f"[b'{OURS} WaybillSerializer', b'02', b'{OURS} LastWord']"
    ]


def test_arrays_arrive_as_they_were(tmp_path):
    pytest.importorskip("numpy")
    source = """
    import numpy

    array = numpy.arange(100_000.0)
    found = facade.deserialize(facade.serialize(array))
    print((found == array).all())
    """

    assert lines(tmp_path, source) == ["True"]
