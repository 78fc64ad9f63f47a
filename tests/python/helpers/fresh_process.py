"""Uses payloads in processes that have imported nothing but waybill.

    fresh_process.send(function, "value(2)") == 4

sends an object: dumps it here, loads it there, and gives what the expression makes of
`value`. What comes back is plain data. An exception there is a FreshProcessError here;
a process that dies of a signal is a failed assertion.
"""

import marshal
import subprocess
import sys
import tempfile
from pathlib import Path

import waybill

SECONDS = 120

_PROGRAM = """
import sys, waybill
folder, expression = sys.argv[1:3]
sys.path.extend(sys.argv[3:])
scope = {"waybill": waybill, "sys": sys}
try:
    with open(folder + "/payload", "rb") as file:
        scope["data"] = file.read()
    exec(compile(expression, "<expression>", "exec"), scope)
    answer = (True, scope["answer"])
except BaseException as error:
    import traceback
    answer = (False, type(error).__name__, str(error), traceback.format_exc())
import marshal
with open(folder + "/answer", "wb") as file:
    marshal.dump(answer, file)
"""


class FreshProcessError(Exception):
    """What was raised in the other process: its type's name, message, traceback."""

    def __init__(self, kind, message, traceback):
        super().__init__(f"{kind}: {message}\n{traceback}")
        self.kind = kind
        self.message = message
        self.traceback = traceback


def execute(program, payload=b"", *, path=(), command=(sys.executable,), env=None):
    """What `program` leaves in `answer`; it knows `waybill`, `sys` and `data`."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "payload").write_bytes(payload)
        done = subprocess.run(
            [*command, "-I", "-c", _PROGRAM, folder, program, *map(str, path)],
            capture_output=True,
            timeout=SECONDS,
            cwd=folder,
            env=env,
        )
        assert done.returncode == 0, (
            f"exit status {done.returncode}\n{done.stderr.decode(errors='replace')}"
        )
        answer = marshal.loads(Path(folder, "answer").read_bytes())
    if not answer[0]:
        raise FreshProcessError(*answer[1:])
    return answer[1]


def load(payload, expression, **options):
    """What `expression` makes of `value`, the object that the payload holds."""
    program = f"value = waybill.loads(data)\nanswer = ({expression})"
    return execute(program, payload, **options)


def send(obj, expression, **options):
    """load() of dumps()."""
    return load(waybill.dumps(obj), expression, **options)


def run_script(
    script, *arguments, command=(sys.executable,), env=None, flags=(), seconds=SECONDS
):
    """Standard output of a program that may crash; it must end with status 0."""
    done = subprocess.run(
        [*command, *flags, "-c", script, *map(str, arguments)],
        capture_output=True,
        timeout=seconds,
        env=env,
    )
    assert done.returncode == 0, (
        f"exit status {done.returncode}\n"
        f"{done.stdout.decode(errors='replace')[-2000:]}\n"
        f"{done.stderr.decode(errors='replace')[-4000:]}"
    )
    return done.stdout.decode()
