"""What a process restricts stays restricted."""

import fresh_process
import pytest
import waybill

DATA, CODE = [1, {"a": (2, 3)}], (lambda: 1)


def test_restricted_process_loads_data_and_nothing_else():
    program = """
waybill.restrict(policy=waybill.DATA_ONLY)
try:
    answer = waybill.loads(data)
except waybill.PolicyError as error:
    answer = str(error)
"""

    assert fresh_process.execute(program, waybill.dumps(DATA)) == DATA
    assert "code by value" in fresh_process.execute(program, waybill.dumps(CODE))


@pytest.mark.parametrize(
    "attempt",
    [
        "waybill.loads(data, policy=waybill.security.Policy('allow code'))",
        """waybill.restrict(policy=waybill.security.Policy('allow code'))
    waybill.loads(data)""",
        "waybill.restrict(limits=waybill.security.Limits()); waybill.loads(data)",
        "import io; waybill.load(io.BytesIO(data))",
        "import io; waybill.Unpickler(io.BytesIO(data)).load()",
        "waybill._core.decode(data, {})",
        """for name in [n for n in sys.modules if n.startswith('waybill')]:
        del sys.modules[name]
    import waybill
    waybill.loads(data)""",
    ],
)
def test_nothing_that_runs_later_widens_it(attempt):
    program = f"""
waybill.loads(data)  # Was let in, and is known.
waybill.loads(data)
waybill.restrict(policy=waybill.DATA_ONLY)
answer = "loaded"
try:
    {attempt}
except Exception as error:  # The class may be of another copy.
    answer = type(error).__name__
"""

    assert fresh_process.execute(program, waybill.dumps(CODE)) == "PolicyError"


def test_later_call_narrows_further():
    program = """
waybill.restrict(policy=waybill.security.Policy("allow import json\\nallow code"))
answer = [waybill.loads(data)()]
waybill.restrict(policy=waybill.security.Policy("allow import json"))
try:
    waybill.loads(data)
except waybill.PolicyError as error:
    answer.append(str(error))
"""

    first, words = fresh_process.execute(program, waybill.dumps(CODE))

    assert first == 1
    assert "code by value" in words


def test_limits_of_the_process_hold_for_all():
    program = """
waybill.restrict(limits=waybill.security.Limits(max_items=2))
answer = [waybill.loads(data)]
for limits in None, waybill.security.Limits(), waybill.security.Limits(max_items=1):
    try:
        waybill.loads(waybill.dumps([1, 2, 3]), limits=limits)
    except waybill.DecodeError as error:
        answer.append(int(str(error).partition("max_items allows: ")[2][0]))
"""

    answer = fresh_process.execute(program, waybill.dumps([1, 2]))

    assert answer == [[1, 2], 2, 2, 1]


def test_limits_that_a_restriction_brings_cannot_be_lifted():
    program = """
waybill.restrict(policy=waybill.DATA_ONLY)
deep = []
for _ in range(600):
    deep = [deep]
try:
    waybill.loads(waybill.dumps(deep), limits=waybill.security.Limits())
except waybill.DecodeError as error:
    answer = str(error)
"""

    assert "max_depth allows: 512" in fresh_process.execute(program)


def test_sub_interpreter_is_restricted_too():
    script = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import waybill
waybill.restrict(policy=waybill.DATA_ONLY)
code = '''
import waybill
try:
    waybill.loads(waybill.dumps(lambda: 1))
except waybill.PolicyError:
    pass
else:
    raise SystemExit("loaded")
'''
if sys.version_info >= (3, 13):
    number = interpreters.create("legacy")
    failed = interpreters.exec(number, code)
    assert failed is None, failed
else:
    number = interpreters.create(isolated=False)
    interpreters.run_string(number, code)
print("refused")
"""

    assert fresh_process.run_script(script).strip() == "refused"


def test_child_that_was_forked_is_restricted_too():
    script = """
import os, waybill
waybill.restrict(policy=waybill.DATA_ONLY)
if child := os.fork():
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
else:
    try:
        waybill.loads(waybill.dumps(lambda: 1))
    except waybill.PolicyError:
        os._exit(7)
    os._exit(0)
"""

    assert fresh_process.run_script(script).strip() == "7"


def test_restricting_to_nothing_is_a_mistake():
    with pytest.raises(TypeError, match="needs a policy, keys or limits"):
        waybill.restrict()
