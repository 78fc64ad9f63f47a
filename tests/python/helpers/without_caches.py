"""Runs waybill without caches: other results are compared with these."""

import contextlib

import fresh_process
import waybill


@contextlib.contextmanager
def without_caches():
    waybill.configure(caches=False)
    try:
        yield
    finally:
        waybill.configure(caches=True)


def dumps_without_caches(obj):
    with without_caches():
        return waybill.dumps(obj)


def answers_with_and_without_caches(program, *sent):
    """The answers of a program in two fresh processes. `sent`: its variable `sent`."""
    head = "sent, caches = waybill.loads(data)\nwaybill.configure(caches=caches)\n"
    return [
        fresh_process.execute(head + program, waybill.dumps([sent, caches]))
        for caches in (True, False)
    ]
