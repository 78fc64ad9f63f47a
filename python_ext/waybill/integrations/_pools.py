"""What goes between a ``multiprocessing.Pool`` and its workers: plain tuples, with two
numbers that say whom they are for. Where one cannot be loaded, a worker ends, or the
thread that takes results; if a worker ends, what it had is gone; and who waits for it
waits for ever. Here they get the error.

Tested by tests/engines/test_failures.py.
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
    Instead,
    Raising,
    of_raised,
    told_error,
    unwrapped,
)
from waybill.integrations._patches import Patches
from waybill.integrations.multiprocessing import ChildrenPickler, ForkingPickler
from waybill.integrations.pickle import FirstCall

Task = tuple[Any, ...]
#: A folder, the job and the index of a task.
Note = tuple[str, int, int]


def instead_of_tuple(message: Any) -> Instead | None:
    """What goes beside a task or a result of a pool; None beside what ends it."""
    if type(message) is not tuple:
        return None
    if len(message) == 5:
        return _failing_task, *message[:2]
    job, index, (is_success, value) = message
    told = None if is_success else of_raised(unwrapped(value))
    return _failed_result, job, index, told


def _failing_task(error: BaseException, job: Any, index: Any) -> Task:
    return job, index, Raising(error), (), {}


def _failed_result(
    failure: BaseException, job: Any, index: Any, told: Instead | None
) -> Task:
    return job, index, (False, told_error(failure, told))


class Noted(NamedTuple):
    """A task, and where the worker that gets it is to note that."""

    folder: str
    task: Task


class TuplePickler(ChildrenPickler):
    """For what a pool sends and gets."""

    _note: Note | None = None

    def dump(self, obj: object) -> None:
        if type(obj) is Noted:
            self._note = obj.folder, *obj.task[:2]
            obj = obj.task
        super().dump(obj)

    def instead_of(self, obj: Any) -> Instead | None:
        return instead_of_tuple(obj)

    def called_first(self) -> FirstCall | None:
        return None if self._note is None else (take, self._note)


class ForkingTuplePickler(TuplePickler, ForkingPickler):
    """The same with the reducers of multiprocessing."""


class ResultQueue(queues.SimpleQueue[Any]):
    """Takes results home."""

    _wlock: Any
    _writer: Any

    def put(self, obj: Any) -> None:
        data = ForkingTuplePickler.dumps(obj)
        with self._wlock or nullcontext():
            self._writer.send_bytes(data)


class Results:
    """Such a queue, which knows what workers have noted."""

    def __init__(self, queue: Any, folder: str) -> None:
        self._queue, self._folder = queue, folder
        self._reader = queue._reader

    def __reduce__(self) -> tuple[Any, ...]:
        return Results, (self._queue, self._folder)

    def put(self, obj: Any) -> None:
        self._queue.put(obj)
        done(self._folder)

    def lost(self, worker: Any) -> None:
        """Answers for a worker that has ended with a task."""
        task = take_note(self._folder, worker.pid)
        if task is not None:
            told = (
                f"process {worker.pid} of the pool ended, with exit code "
                f"{worker.exitcode}, while it loaded or ran this"
            )
            self._queue.put((*task, (False, CallError("worker_died", told))))


class Tasks:
    """A queue whose ``get`` loads without the lock: who dies then would keep it."""

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
    """In the place of ``Pool._setup_queues``."""
    workers._inqueue = workers._ctx.SimpleQueue()
    workers._outqueue = ResultQueue(ctx=workers._ctx)
    send = workers._inqueue._writer.send_bytes
    watch(workers, lambda task: send(ForkingTuplePickler.dumps(task)))


def watch(workers: Any, send: Callable[[object], object]) -> None:
    """Has workers note which task they have, before they load it."""
    folder = tempfile.mkdtemp(prefix="waybill-pool-")
    weakref.finalize(workers, _remove, folder, os.getpid())
    workers._outqueue = Results(workers._outqueue, folder)
    workers._quick_put = lambda task: send(
        task if task is None else Noted(folder, task)
    )
    workers._quick_get = workers._outqueue._reader.recv


def watch_workers(patches: Patches) -> None:
    """From now on, pools that are watched answer for workers that have ended."""
    kind: Any = pool.Pool
    maintain = kind._maintain_pool

    def maintain_pool(*given: Any) -> Any:
        workers = next(part for part in given if type(part) is list)
        before = list(workers)
        answer = maintain(*given)
        for results in given:
            if type(results) is Results:
                # One may end at any time: those count that were found to have ended.
                for worker in before:
                    if worker not in workers:
                        results.lost(worker)
        return answer

    patches.set(kind, "_maintain_pool", staticmethod(maintain_pool))


# ---- Notes: a file for each worker, by its process id. It outlives a process that is
# ---- killed, and who only writes to it waits for nobody.

_NOTE = struct.Struct("<?qq")
#: This process's own file in each folder; forked children have others.
_files: dict[tuple[int, str], int] = {}


def take(note: Note) -> None:
    """What a worker calls before it loads a task."""
    folder, job, index = note
    key = os.getpid(), folder
    with suppress(OSError):  # The pool is gone.
        if key not in _files:
            path = os.path.join(folder, str(key[0]))
            _files[key] = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        _write(_files[key], _NOTE.pack(True, job, index))


def done(folder: str) -> None:
    """What a worker calls when its result is on its way."""
    file = _files.get((os.getpid(), folder))
    if file is not None:
        _write(file, _NOTE.pack(False, 0, 0))


def take_note(folder: str, pid: int) -> tuple[int, int] | None:
    """Job and index of the task that a process had; None if it had none, or if this was
    asked before."""
    path = os.path.join(folder, str(pid))
    try:
        with open(path, "rb") as file:
            has_task, job, index = _NOTE.unpack(file.read())
        os.unlink(path)
    except (OSError, struct.error):
        return None
    return (job, index) if has_task else None


def _write(file: int, note: bytes) -> None:
    os.lseek(file, 0, os.SEEK_SET)
    os.write(file, note)


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
