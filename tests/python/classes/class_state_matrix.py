"""What becomes of one attribute of a class, whoever changes it, over three arrivals.

A row tells how the attribute is defined, how the sender and the worker change it, how
the sender takes its change back, and what is read at the worker after each arrival.
`check` plays it with a worker that has never seen the class, with one that was forked
when the class was there, and with one that was forked when it had been sent; with
caches off, each payload loaded once, and with caches on, each loaded three times.
"""

from dataclasses import dataclass

import pytest
import repeats
from class_state_worker import fresh

#: By who has changed the attribute before the second arrival; what happens before the
#: second, and before the third.
WHO = {
    "nobody": ((), ("worker",)),
    "sender": (("sender",), ("worker",)),
    "worker": (("worker",), ("sender",)),
    "both, the same": (("sender", "sender's at the worker"), ("undo",)),
    "both, differently": (("sender", "worker"), ("undo",)),
}

WORKERS = ["fresh", "forked", "forked after it was sent"]
if repeats.SHARE < 1:  # What a fork knows is the same for every Python.
    WORKERS = ["fresh"]

every_who = pytest.mark.parametrize("who", WHO)
every_worker = pytest.mark.parametrize("worker", WORKERS)

IMPORTS = """
import abc, array, collections, dataclasses, datetime, decimal, enum, fractions
import functools, threading, types, typing
from collections import Counter, OrderedDict, defaultdict, deque
nan = float("nan")
"""


@dataclass
class Row:
    define: str  # Statements that make K.
    sender: str
    worker: str
    undo: str
    read: str
    #: What is read after the first arrival, and by who has changed it after the
    #: second and the third.
    expected: dict
    #: What is sent, by name; all of it gets these names at the worker.
    sends: tuple = ("K",)
    options: dict = None


def setting(statement, sender=2, worker=3, first=1):
    """Statements of a row that give an attribute one value or another."""
    return {
        "sender": statement.format(sender),
        "worker": statement.format(worker),
        "undo": statement.format(first),
    }


def by_who(first, nobody, sender, worker, same, different):
    return {
        "nobody": [first, *nobody],
        "sender": [first, *sender],
        "worker": [first, *worker],
        "both, the same": [first, *same],
        "both, differently": [first, *different],
    }


def whole(first, senders, workers):
    """What is read of an attribute that is replaced as a whole: what the sender said
    last, unless the worker has changed it since.
    """
    return by_who(
        first,
        nobody=(first, workers),
        sender=(senders, workers),
        worker=(workers, senders),
        same=(senders, first),
        different=(senders, first),
    )


def keyed(a, b, c, w):
    """What is read of a container that is patched by key: [(key, value)].

    It begins as {a: 1, b: 2}. The sender sets a to 10, adds c: 3, deletes b; the worker
    sets a to 100 and adds w: 0. The worker's own stand after the sender's.
    """
    return by_who(
        [(a, 1), (b, 2)],
        nobody=([(a, 1), (b, 2)], [(a, 100), (b, 2), (w, 0)]),
        sender=([(a, 10), (c, 3)], [(a, 100), (c, 3), (w, 0)]),
        worker=([(a, 100), (b, 2), (w, 0)], [(a, 10), (c, 3), (w, 0)]),
        same=([(a, 10), (c, 3)], [(a, 1), (b, 2)]),
        different=([(a, 10), (c, 3), (w, 0)], [(a, 1), (b, 2), (w, 0)]),
    )


def members(a, b, c, w):
    """What is read of a set that is patched by element, sorted by the row.

    It begins as {a, b}. The sender adds c and removes b; the worker adds w and
    removes a, which stays removed as long as the sender says nothing new of it.
    """
    return by_who(
        sorted([a, b]),
        nobody=(sorted([a, b]), sorted([b, w])),
        sender=(sorted([a, c]), sorted([c, w])),
        worker=(sorted([b, w]), sorted([c, w])),
        same=(sorted([a, c]), sorted([a, b])),
        different=(sorted([c, w]), sorted([b, w])),
    )


#: So many plays meet the same two processes; of more, a fork would copy too much.
PLAYS = 40


class Stage:
    """A home and a fresh worker for many plays, and a new namespace for each."""

    def __init__(self):
        self._plays = 0
        self._begin()

    def _begin(self):
        self._home, self._worker = fresh(), fresh()

    def _begin_again(self):
        self.close()
        self._begin()

    def close(self):
        self._home.close()
        self._worker.close()

    def play(self, row, who, worker_is, *, caches):
        """What is read at the worker after each of three arrivals."""
        self._plays += 1
        if self._plays % PLAYS == 0:
            self._begin_again()
        name = f"play {self._plays}"
        home = self._home.other(name)
        home.do(f"{IMPORTS}\nwaybill.configure(caches={caches})\n")
        home.do(row.define)
        # Plays do not meet in the worker: each has a class of its own content.
        home.do(f"type.__setattr__(K, 'name_of_the_play', {name!r})")
        what = "{%s}" % ", ".join(f"'{name}': {name}" for name in row.sends)
        options = row.options or {}
        if worker_is == "forked after it was sent":
            home.dumps(what, **options)
        if worker_is == "fresh":
            worker = self._worker.other(name)
            worker.do(IMPORTS)
        else:
            worker = home.fork()
        try:
            worker.do(f"waybill.configure(caches={caches})")
            return self._arrivals(home, worker, row, who, caches, what, options)
        except AssertionError:
            # One of them has died: the next play needs others.
            self._begin_again()
            raise
        finally:
            if worker_is != "fresh":
                worker.close()

    def _arrivals(self, home, worker, row, who, caches, what, options):
        answers = []
        for steps in ((), *WHO[who]):
            for step in steps:
                if step == "sender's at the worker":
                    worker.do(row.sender)
                elif step == "worker":
                    worker.do(row.worker)
                else:
                    home.do(getattr(row, step))
            for _ in range(3 if caches else 1):
                worker.load(home.dumps(what, **options))
            answers.append(worker.get(row.read))
        return answers


def check(stage, row, who, worker_is):
    off = stage.play(row, who, worker_is, caches=False)
    on = stage.play(row, who, worker_is, caches=True)

    assert (off, on) == (row.expected[who], row.expected[who])
