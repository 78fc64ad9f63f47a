"""The extension works in sub-interpreters: its state hangs on the module."""

import sys

import fresh_process
import pytest
from subinterpreters import run


@pytest.mark.parametrize("legacy", [False, True])
def test_waybill_works_in_a_sub_interpreter(legacy):
    run(f"run(USE, legacy={legacy})")


def test_waybill_works_in_main_and_sub_interpreters_in_turn():
    run("exec(USE)\nrun(USE)\nexec(USE)\nrun(USE, legacy=True)\nexec(USE)")


def test_waybill_works_in_twenty_sub_interpreters_one_after_the_other():
    run("for _ in range(20): run(USE)")


def test_main_interpreter_works_after_a_sub_interpreter_that_was_first():
    run("run(USE)\nexec(USE)")


def test_payload_of_a_sub_interpreter_loads_in_the_main_one(tmp_path):
    file = tmp_path / "payload"
    script = f"""
run('''
import waybill
def f(x): return x + 1
open({str(file)!r}, "wb").write(waybill.dumps(f))
''')
import waybill
print(waybill.loads(open({str(file)!r}, "rb").read())(1))
"""

    assert run(script).strip() == "2"


def test_function_shared_code_of_two_interpreters_is_not_mixed_up():
    # Code objects that waybill saw in one interpreter die with it.
    run("for _ in range(5):\n    exec(USE)\n    run(USE, legacy=True)")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="an own GIL is of 3.12")
def test_sub_interpreters_with_their_own_gil_work_at_the_same_time():
    run("""
import threading
errors = []
def work():
    try:
        for _ in range(5): run(USE)
    except BaseException as error:
        errors.append(error)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not errors, errors
""")


# Many payloads of all sorts in each, and errors; what two interpreters share by mistake
# shows here, and in the thread sanitizer (.ci/threads).
BUSY = """
import sys, waybill

class Own:
    def __init__(self, x): self.x = x
    def get(self): return self.x

def make(n):
    def step(): return n, sys.maxsize, Own
    return step

def thing(n):
    return [Own([n]), make(n), {"a": (n, 1.5, "text", b"bytes", 2**70)}, Own, {n, "s"}]

sent = [waybill.dumps(thing(n)) for n in range(30)]
for turn in range(60):
    n = turn % 30
    assert waybill.dumps(thing(n)) == sent[n]
    own, step, plain, cls, _ = waybill.loads(sent[n])
    assert type(own) is Own is cls and own.get() == [n] and step()[0] == n
    assert waybill.loads(waybill.dumps(step))() == step()
    waybill.imports(step), waybill.fingerprint(own), waybill.inspect(sent[n])
    code = compile(f"def f(x): return x + {turn}, [lambda: x]", "new", "exec")
    scope = {"__name__": "elsewhere"}
    exec(code, scope)
    assert waybill.loads(waybill.dumps(scope["f"]))(1)[0] == 1 + turn
    for bad in (sent[n][:-9], sent[n][:20] + b"zz" + sent[n][22:]):
        try: waybill.loads(bad)
        except waybill.DecodeError: pass
        else: raise AssertionError("loaded what was spoiled")
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="an own GIL is of 3.12")
def test_busy_sub_interpreters_with_their_own_gil_do_not_touch_each_other():
    run(f"""
import threading
BUSY = {BUSY!r}
errors = []
def work(code):
    try:
        for _ in range(2): run(code)
    except BaseException as error:
        errors.append(error)
def work_in_main():
    try: exec(BUSY, {{"__name__": "busy"}})
    except BaseException as error: errors.append(error)
threads = [threading.Thread(target=work, args=(BUSY,)) for _ in range(4)]
threads.append(threading.Thread(target=work_in_main))
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not errors, errors
""")


def test_module_can_be_imported_anew():
    script = """
import sys
for _ in range(50):
    import waybill
    assert waybill.loads(waybill.dumps([lambda: 1]))[0]() == 1
    for name in [n for n in sys.modules if n.partition(".")[0] == "waybill"]:
        del sys.modules[name]
    del waybill
"""

    fresh_process.run_script(script)
