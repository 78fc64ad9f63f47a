"""Finalizers may change what is being sent. In CPython 3.11 the collector, and so they,
run whenever something is allocated; later ones only run between instructions."""

import os

import fresh_process
import pytest

# What `make` builds is sent while `change` runs at some allocation; freed memory is
# overwritten.
SCRIPT = """
import gc, sys, waybill
class Trash:
    def __init__(self, change):
        self.change, self.me = change, self
    def __del__(self):
        self.change()
        Trash.filler = [bytes(range(256))[:200 + i % 30] for i in range(200)]
{makers}
waybill.dumps(make()[0])
for number in range(1, 60):
    sent, change = make()
    gc.collect()
    Trash(change)
    gc.set_threshold(number, 1000, 1000)
    try:
        data = waybill.dumps(sent)
    except waybill.EncodeError as error:
        data = None
    finally:
        gc.set_threshold(100_000)
    if data is not None:
        waybill.loads(data)
print("done")
"""

# By what is sent.
MAKERS = {
    "a set in a list": """
def make():
    sent = [1, {str(i) for i in range(40)}, 2]
    return sent, sent.clear""",
    "a set that changes": """
def make():
    changing = {str(i) for i in range(40)}
    return [changing, 2], lambda: changing.add("new")""",
    "a set of functions": """
def function(x): return lambda: x
def make():
    sent = [1, {function(str(i)) for i in range(5)}, 2]
    return sent, sent.clear""",
    "a frozenset": """
def make():
    sent = {"key": frozenset(str(i) for i in range(40))}
    return sent, sent.clear""",
    "text with surrogates": """
def make():
    sent = ["a", "".join(["\\ud800", "b" * 200]), "c"]
    return sent, sent.clear""",
    "long lists": """
def make():
    sent = [object] + [str(i) * 3 for i in range(200)]
    return [1, sent, 2], sent.clear""",
    "a dict": """
def make():
    sent = {str(i) * 3: [str(i)] for i in range(200)}
    sent["x"] = object
    return [1, sent, 2], sent.clear""",
    "the defaults of a function": """
def make():
    free = ["free"]
    def f(a=["default"], *, b=["keyword"], c: int = 1): return a, b, free
    def change():
        f.__defaults__ = f.__kwdefaults__ = None
        f.__closure__[0].cell_contents = None
    return f, change""",
    "a keyword default with a strange name": """
def make():
    def f(*, b=["keyword"]): return b
    f.__kwdefaults__ = {"".join(["\\ud800", str(i)]): [str(i)] for i in range(9)}
    return f, f.__kwdefaults__.clear""",
    "the keyword defaults of a function": """
def make():
    free = ["free"]
    def f(*, b=["keyword"], c="other"): return b, c, free
    return f, f.__kwdefaults__.clear""",
}


@pytest.mark.parametrize("name", MAKERS)
def test_finalizers_may_take_away_what_is_being_written(name):
    script = SCRIPT.format(makers=MAKERS[name])

    answer = fresh_process.run_script(
        script, env=os.environ | {"PYTHONMALLOC": "debug"}
    )

    assert answer.strip() == "done"
