"""Makes a ``multiprocessing.Pool`` report tasks and results that cannot be loaded.

A pool and its workers exchange plain tuples, with the job and the index of a task. If
one cannot be loaded, a worker or the thread that takes results ends; if a worker ends,
its task is lost; and the caller waits for ever. Here the caller gets the error. Tested
by tests/engines/test_failures.py.
"""

from __future__ import annotations

import os
import shutil
import struct
import tempfile
import weakref
from collections.abc import Callable
from contextlib import nullcontext, suppress
from multiprocessing import pool, queues
from pickle import loads
from typing import Any, NamedTuple

from waybill.calls import CallError
from waybill.integrations._failures import (
    Fallback,
    Raising,
    error_fallback,
    error_of,
    unwrapped,
)
from waybill.integrations._patches import Patches
from waybill.integrations.multiprocessing import ChildrenPickler, ForkingPickler
from waybill.integrations.pickle import FirstCall

Task = tuple[Any, ...]
#: (folder, job, index) of a task.
Record = tuple[str, int, int]


def tuple_fallback(message: Any) -> Fallback | None:
    """The fallback of a task or a result; None for the message that ends a worker."""
    if type(message) is not tuple:
        return None
    if len(message) == 5:
        return _failing_task, *message[:2]
    job, index, (is_success, value) = message
    described = None if is_success else error_fallback(unwrapped(value))
    return _failed_result, job, index, described


def _failing_task(error: BaseException, job: Any, index: Any) -> Task:
    return job, index, Raising(error), (), {}


def _failed_result(
    failure: BaseException, job: Any, index: Any, described: Fallback | None
) -> Task:
    return job, index, (False, error_of(failure, described))


class RecordedTask(NamedTuple):
    """A task, and the folder in which the worker that gets it records that."""

    folder: str
    task: Task


class TuplePickler(ChildrenPickler):
    """Pickles messages of a pool and its workers."""

    _record: Record | None = None

    def dump(self, obj: object) -> None:
        if type(obj) is RecordedTask:
            self._record = obj.folder, *obj.task[:2]
            obj = obj.task
        super().dump(obj)

    def fallback_of(self, obj: Any) -> Fallback | None:
        return tuple_fallback(obj)

    def first_call(self) -> FirstCall | None:
        return None if self._record is None else (write_record, self._record)


class ForkingTuplePickler(TuplePickler, ForkingPickler):
    """A TuplePickler with the reducers of multiprocessing."""


class ResultQueue(queues.SimpleQueue[Any]):
    """The queue from the workers to the pool."""

    _wlock: Any
    _writer: Any

    def put(self, obj: Any) -> None:
        data = ForkingTuplePickler.dumps(obj)
        with self._wlock or nullcontext():
            self._writer.send_bytes(data)


class Results:
    """A queue of results that also reads the records of workers."""

    def __init__(self, queue: Any, folder: str) -> None:
        self._queue, self._folder = queue, folder
        self._reader = queue._reader

    def __reduce__(self) -> tuple[Any, ...]:
        return Results, (self._queue, self._folder)

    def put(self, obj: Any) -> None:
        self._queue.put(obj)
        clear_record(self._folder)

    def report_lost(self, worker: Any) -> None:
        """Sends an error for the task of a worker that has ended."""
        task = pop_record(self._folder, worker.pid)
        if task is not None:
            detail = (
                f"process {worker.pid} of the pool ended, with exit code "
                f"{worker.exitcode}, while it loaded or ran this task"
            )
            self._queue.put((*task, (False, CallError("worker_died", detail))))


class Tasks:
    """A queue that loads outside of its lock, which a process that dies would keep."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue
        self._reader, self._writer = queue._reader, queue._writer
        self._rlock = queue._rlock

    def __reduce__(self) -> tuple[Any, ...]:
        return Tasks, (self._queue,)

    def put(self, obj: Any) -> None:
        self._queue.put(obj)

    def get(self) -> Any:
        with self._rlock:
            data = self._reader.recv_bytes()
        return loads(data)


def set_up_queues(workers: Any) -> None:
    """Replaces ``Pool._setup_queues``."""
    workers._inqueue = workers._ctx.SimpleQueue()
    workers._outqueue = ResultQueue(ctx=workers._ctx)
    send = workers._inqueue._writer.send_bytes
    record_tasks(workers, lambda task: send(ForkingTuplePickler.dumps(task)))


def record_tasks(workers: Any, send: Callable[[object], object]) -> None:
    """Makes workers record their task before they load it."""
    folder = tempfile.mkdtemp(prefix="waybill-pool-")
    weakref.finalize(workers, _remove, folder, os.getpid())
    workers._outqueue = Results(workers._outqueue, folder)
    workers._quick_put = lambda task: send(
        task if task is None else RecordedTask(folder, task)
    )
    workers._quick_get = workers._outqueue._reader.recv


def report_lost_tasks(patches: Patches) -> None:
    """Makes all pools report the tasks of their workers that have ended."""
    kind: Any = pool.Pool
    maintain = kind._maintain_pool

    def maintain_pool(*given: Any) -> Any:
        workers = next(part for part in given if type(part) is list)
        before = list(workers)
        result = maintain(*given)
        for results in given:
            if type(results) is Results:
                # A worker may end at any time: count those that maintain() removed.
                for worker in before:
                    if worker not in workers:
                        results.report_lost(worker)
        return result

    patches.set(kind, "_maintain_pool", staticmethod(maintain_pool))


# ---- Records: a file for each worker, named by its process id. It outlives a process
# ---- that is killed, and writing it needs no lock.

_RECORD = struct.Struct("<?qq")
#: The file of this process in each folder; forked children have files of their own.
_files: dict[tuple[int, str], int] = {}


def write_record(record: Record) -> None:
    """Records a task. A worker calls it before it loads the task."""
    folder, job, index = record
    key = os.getpid(), folder
    with suppress(OSError):  # The pool was closed.
        if key not in _files:
            path = os.path.join(folder, str(key[0]))
            _files[key] = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        _write(_files[key], _RECORD.pack(True, job, index))


def clear_record(folder: str) -> None:
    """Clears the record. A worker calls it once its result is sent."""
    file = _files.get((os.getpid(), folder))
    if file is not None:
        _write(file, _RECORD.pack(False, 0, 0))


def pop_record(folder: str, pid: int) -> tuple[int, int] | None:
    """Takes the record of a process: job and index of its task; None without one."""
    path = os.path.join(folder, str(pid))
    try:
        with open(path, "rb") as file:
            has_task, job, index = _RECORD.unpack(file.read())
        os.unlink(path)
    except (OSError, struct.error):
        return None
    return (job, index) if has_task else None


def _write(file: int, record: bytes) -> None:
    os.lseek(file, 0, os.SEEK_SET)
    os.write(file, record)


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
