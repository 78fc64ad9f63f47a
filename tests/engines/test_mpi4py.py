"""waybill.integrations.mpi4py, with ranks that an mpiexec has started."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from programs import lines as lines_of_one

pytest.importorskip("mpi4py")

# The one of the environment first: its library is the one that mpi4py finds.
BESIDE = Path(sys.executable).parent / "mpiexec"
MPIEXEC = str(BESIDE) if BESIDE.exists() else shutil.which("mpiexec")
pytestmark = pytest.mark.skipif(not MPIEXEC, reason="no mpiexec")

# Open MPI wants to be told that it may run as root, and more ranks than cores.
ALLOWED = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}

START = """
import sys, traceback
from mpi4py import MPI
import waybill
import waybill.integrations.mpi4py

comm = MPI.COMM_WORLD
rank = comm.rank
"""

INSTALLED = START + "waybill.integrations.mpi4py.install()\n"


def lines(folder, source, *options, start=INSTALLED, ranks=2):
    """What all ranks of a program wrote, in order."""
    program = folder / "program.py"
    program.write_text(start + textwrap.dedent(source))
    ended = subprocess.run(
        [MPIEXEC, "-n", str(ranks), sys.executable, *options, str(program)],
        cwd=folder,
        # Unbuffered, lines of two ranks are written into each other.
        env={**os.environ, **ALLOWED, "PYTHONUNBUFFERED": ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return sorted(ended.stdout.splitlines())


def test_closures_and_lambdas_are_sent_and_come_back(tmp_path):
    source = """
    def adder(n):
        return lambda x: n + x

    if rank == 0:
        comm.send(adder(3), 1)
        print(comm.recv()(1))
    else:
        plus = comm.recv()
        comm.send(lambda x: plus(x) * 10, 0)
    """

    assert lines(tmp_path, source) == ["40"]


def test_collective_operations_take_functions(tmp_path):
    source = """
    function = comm.bcast((lambda x: x + rank) if rank == 0 else None)
    mine = comm.scatter([lambda: "a", lambda: "b"] if rank == 0 else None)
    found = comm.gather(lambda: rank * 10)
    print(rank, function(1), mine(), [f() for f in found or ()])
    print(comm.allreduce([rank], lambda x, y: x + y))
    """

    # Functions see the globals that came with them: rank is that of the sender.
    expected = ["0 1 a [0, 10]", "1 1 b []", "[0, 1]", "[0, 1]"]
    assert lines(tmp_path, source) == expected


def test_submodule_chain_is_imported_where_it_arrives(tmp_path):
    source = """
    if rank == 0:
        import xml.etree.ElementTree

        def tags():
            def tag(text):
                return xml.etree.ElementTree.fromstring(text).tag
            return tag

        comm.send(tags(), 1)
    else:
        assert "xml.etree.ElementTree" not in sys.modules
        print(comm.recv()("<parcel/>"))
    """

    assert lines(tmp_path, source) == ["parcel"]


def test_what_main_has_is_the_receivers_own_as_with_pickle(tmp_path):
    source = """
    class Point:
        def __init__(self, x):
            self.x = x

    def own():
        return rank

    if rank == 0:
        comm.send((Point(3), own), 1)
        assert type(comm.recv()) is Point
    else:
        point, function = comm.recv()
        assert type(point) is Point and function is own
        comm.send(Point(4), 0)
        print(point.x, function())
    """

    assert lines(tmp_path, source) == ["3 1"]


def test_what_main_of_the_receiver_lacks_is_named(tmp_path):
    source = """
    if rank == 0:
        def only_here():
            return "came by value"

        comm.send(only_here, 1)
        comm.send(waybill.pickled(only_here), 1)
    else:
        try:
            comm.recv()
        except AttributeError as error:
            print(error)
        print(comm.recv()())
    """

    told, value = sorted(lines(tmp_path, source), key=len, reverse=True)

    assert "no 'only_here'" in told and "waybill.pickled(only_here)" in told
    assert value == "came by value"


def test_exceptions_arrive_with_their_tracebacks(tmp_path):
    source = """
    def failing():
        class Broken(Exception):
            pass

        def breaks():
            raise Broken("wheel")  # here

        try:
            breaks()
        except Broken as error:
            return error

    if rank == 0:
        comm.send(failing(), 1)
    else:
        print("".join(traceback.format_exception(comm.recv())))
    """

    shown = "\n".join(lines(tmp_path, source))

    assert "in breaks" in shown and 'raise Broken("wheel")  # here' in shown


def test_ranks_without_waybill_read_and_are_read(tmp_path):
    source = """
    if rank == 0:
        waybill.integrations.mpi4py.install()
        comm.send((lambda x: x + 1, [1, {"a": (2,)}]), 1)
        print(comm.recv())
    else:
        function, data = comm.recv()
        comm.send((function(1), data), 0)
    """

    assert lines(tmp_path, source, start=START) == ["(2, [1, {'a': (2,)}])"]


def test_arrays_go_out_of_band_through_pkl5(tmp_path):
    pytest.importorskip("numpy")
    source = """
    import numpy
    from mpi4py.util import pkl5

    if rank == 0:
        data, buffers = pkl5.pickle.dumps_oob([numpy.arange(1e6), numpy.arange(3)])
        print(len(data) < 1000, [len(buffer) for buffer in buffers])
    both = pkl5.Intracomm(comm)
    if rank == 0:
        both.send((lambda a: a.sum(), numpy.arange(1e6)), 1)
    else:
        function, array = both.recv()
        array[0] = 1  # As with pickle, what arrives may be written to.
        print(function(array))
    """

    assert lines(tmp_path, source) == ["499999500001.0", "True [8000000]"]


def test_objects_of_mpi_go_as_mpi4py_sends_them(tmp_path):
    source = """
    if rank == 0:
        comm.send({"comm": MPI.COMM_WORLD, "op": MPI.SUM, "type": MPI.DOUBLE}, 1)
    else:
        found = comm.recv()
        print(found["comm"] == comm, found["op"] == MPI.SUM, found["type"].name)
    """

    assert lines(tmp_path, source) == ["True True MPI_DOUBLE"]


def test_ten_thousand_messages(tmp_path):
    source = """
    if rank == 0:
        for n in range(10_000):
            comm.send(lambda x: x + n, 1)
    else:
        print(sum(comm.recv()(1) for _ in range(10_000)))
    """

    assert lines(tmp_path, source) == [str(sum(range(1, 10_001)))]


def test_load_options_of_the_process_hold(tmp_path):
    source = """
    if rank == 0:
        comm.send(lambda: 1, 1)
        comm.send([1], 1)
    else:
        waybill.restrict(policy=waybill.DATA_ONLY)
        try:
            comm.recv()
        except waybill.PolicyError:
            print("refused", comm.recv())
    """

    assert lines(tmp_path, source) == ["refused [1]"]


# ---- mpi4py.futures

FUTURES = """
from mpi4py.futures import MPIPoolExecutor

class Point:
    def __init__(self, x):
        self.x = x

def breaks(x):
    raise LookupError(x)  # here

if __name__ == "__main__":
    with MPIPoolExecutor({arguments}) as pool:
        print(list(pool.map(lambda x: x + 1, range(5))))
        print(pool.submit(lambda n: lambda x: n + x, 3).result()(4))
        print(type(pool.submit(Point, 5).result()) is Point)
        error = pool.submit(breaks, 7).exception()
        shown = "".join(traceback.format_exception(error))
        assert "in breaks" in shown and "raise LookupError(x)  # here" in shown, shown
"""

TOLD = ["7", "True", "[1, 2, 3, 4, 5]"]


def test_pool_of_ranks(tmp_path):
    source = FUTURES.format(arguments="")

    assert lines(tmp_path, source, "-m", "mpi4py.futures") == TOLD


def test_pool_of_spawned_processes(tmp_path):
    source = FUTURES.format(arguments="1")

    assert lines(tmp_path, source, ranks=1) == TOLD


def test_initializer_installs_in_workers(tmp_path):
    started = "initializer=waybill.integrations.mpi4py.install"
    source = FUTURES.format(arguments=started)
    source = source.replace(
        "    with MPI", "    waybill.integrations.mpi4py.install()\n    with MPI"
    )

    assert lines(tmp_path, source, "-m", "mpi4py.futures", start=START) == TOLD


# ---- In one process


def test_waybill_writes_what_is_sent_until_it_is_uninstalled(tmp_path):
    source = """
    from mpi4py.util import pkl5

    both = MPI.pickle, pkl5.pickle
    for pickle in both:
        pickle.THRESHOLD = 1000
    integration = waybill.integrations.mpi4py
    before = [(p.dumps([1]), p.PROTOCOL, p.THRESHOLD) for p in both]
    integration.install()
    integration.install()
    for pickle in both:
        sent = pickle.dumps([1])
        assert b"waybill" in sent and pickle.loads(sent) == [1]
        assert pickle.loads(before[0][0]) == [1]
    integration.uninstall()
    integration.uninstall()
    assert [(p.dumps([1]), p.PROTOCOL, p.THRESHOLD) for p in both] == before
    print(b"waybill" in before[0][0])
    """

    assert lines_of_one(tmp_path, START + textwrap.dedent(source)) == ["False"]
