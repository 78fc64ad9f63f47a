"""What waybill does where it keeps nothing, which is what counts."""

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
    """What a program answers in fresh processes, of what is in `sent` there."""
    head = "sent, caches = waybill.loads(data)\nwaybill.configure(caches=caches)\n"
    return [
        fresh_process.execute(head + program, waybill.dumps([sent, caches]))
        for caches in (True, False)
    ]
