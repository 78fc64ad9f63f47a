"""Code of any size is explained, or refused by name: what no compiler writes, too."""

import fresh_process
import pytest

CHAIN = """
import dis, sys, threading, types, waybill
class Link: pass
root = last = Link()
COUNT = 5_000
for _ in range(COUNT):
    last.a = Link()
    last = last.a
last.a = threading.Lock()
def f(): return root.a
def span_of(name):
    # Where an instruction begins, and ends with its caches.
    at = {i.offset: i.opname for i in dis.get_instructions(f)}
    ends = [*at, len(f.__code__.co_code)][1:]
    return next((o, e) for o, e in zip(at, ends) if at[o] == name)
start, end = span_of("LOAD_ATTR")
code = f.__code__.co_code
code = code[:start] + code[start:end] * (COUNT + 1) + code[end:]
made = types.FunctionType(f.__code__.replace(co_code=code), {"root": root})
"""
# CPython recurses where it frees such a chain.
FREE = """
while type(root) is Link: root = root.__dict__.pop("a")
"""


@pytest.mark.once
def test_a_lock_behind_any_number_of_attributes_is_named():
    # Each used to take C++ stack, of which there is little here.
    program = """
def ask():
    try: waybill.dumps(made)
    except waybill.EncodeError as error:
        text = str(error)
        print(text.startswith("f.__globals__['root'].a.a."), "(_thread.lock)" in text)
    print(len(str(waybill.explain(made)).splitlines()) < 100)
threading.stack_size(256 << 10)
thread = threading.Thread(target=ask)
thread.start()
thread.join()
"""

    output = fresh_process.run_script(CHAIN + program + FREE)

    assert output == "True True\nTrue\n"
