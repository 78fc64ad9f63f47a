"""What fresh_process.py promises of the processes that it forks."""

import os
import signal
import sys

import fresh_process
import pytest

MODULES = "sorted(name for name in sys.modules if name != '__main__')"


@pytest.mark.parametrize(
    "asked", [MODULES, "repr(waybill.cache_info())"], ids=["modules", "caches"]
)
def test_forked_process_has_what_a_new_one_has_with_waybill(asked):
    forked = fresh_process.execute(f"answer = {asked}")

    started = fresh_process.run_script(
        f"import marshal, sys, waybill; print(repr({asked}))", flags=["-I"]
    )

    assert forked == eval(started)


def test_each_question_has_a_process_of_its_own():
    fresh_process.execute("import json; sys.left = waybill.left = answer = 1")

    assert fresh_process.execute(
        "answer = not hasattr(sys, 'left') and not hasattr(waybill, 'left')"
        " and 'json' not in sys.modules"
    )


def test_process_that_dies_is_told_and_the_next_one_answers():
    with pytest.raises(AssertionError, match=f"exit status {-signal.SIGKILL}"):
        fresh_process.execute("import os; os.kill(os.getpid(), 9)")

    assert fresh_process.execute("answer = 1") == 1


def test_what_a_process_writes_is_told_with_its_status():
    with pytest.raises(AssertionError, match="a last word"):
        fresh_process.execute("import os; os.write(2, b'a last word'); os._exit(3)")


def test_interpreter_that_does_not_start_is_told_with_its_status():
    with pytest.raises(AssertionError, match="false: exit status 1"):
        fresh_process.execute("answer = 1", command=("false",))


def test_interpreter_ends_as_a_program_does(tmp_path):
    file = tmp_path / "ended"

    fresh_process.execute(
        f"import atexit; atexit.register(open, {str(file)!r}, 'w'); answer = 1"
    )

    assert file.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_template_ends_with_the_process_that_asks(tmp_path):
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import fresh_process\n"
        "print(fresh_process.execute('import os; answer = os.getppid()'))"
    )
    folder = os.path.dirname(fresh_process.__file__)

    template = int(fresh_process.run_script(program, folder))

    def is_running():
        try:
            with open(f"/proc/{template}/stat", encoding="ascii") as file:
                return file.read().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False

    for _ in range(1000):
        if not is_running():
            return
        fresh_process.execute("answer = 1")
    pytest.fail("it is running yet")
