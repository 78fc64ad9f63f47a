"""Uses payloads in processes that have imported nothing but waybill.

    fresh_process.send(function, "value(2)") == 4

sends an object: it is dumped here and loaded in the other process, which evaluates the
expression with the object as `value`. The result must be plain data. An exception in
the other process raises FreshProcessError here; death by a signal fails an assertion.

One interpreter imports waybill and forks for each question: a fork takes 3 ms, a start
50. run_script() starts an interpreter, for tests of the start.
"""

import contextlib
import marshal
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path

import waybill

SECONDS = 120

#: Reads the name of a folder, forks, and prints the child's exit code. The child leaves
#: the loop, so that it ends as every program does. Imports nothing but waybill: `posix`
#: and `marshal` are part of the interpreter.
_TEMPLATE = """
import marshal, posix, sys, waybill
child = None
for folder in sys.stdin.buffer:
    child = posix.fork()
    if child == 0:
        break
    print(posix.waitstatus_to_exitcode(posix.waitpid(child, 0)[1]), flush=True)
if child == 0:
    folder = folder[:-1]
    output = posix.open(folder + b"/output", posix.O_WRONLY | posix.O_CREAT)
    for number, source in enumerate((posix.open("/dev/null", 0), output, output)):
        posix.dup2(source, number)
    posix.closerange(3, output + 1)
    with open(folder + b"/question", "rb") as file:
        program, path, data = marshal.load(file)
    posix.chdir(folder + b"/empty")
    sys.path.extend(path)
    scope = {"waybill": waybill, "sys": sys, "data": data}
    try:
        exec(compile(program, "<expression>", "exec"), scope)
        answer = (True, scope["answer"])
    except BaseException as error:
        import traceback
        answer = (False, type(error).__name__, str(error), traceback.format_exc())
    with open(folder + b"/answer", "wb") as file:
        marshal.dump(answer, file)
"""


class _Template:
    """An interpreter to fork, and the process that it belongs to."""

    def __init__(self, command, env):
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            [*command, "-I", "-c", _TEMPLATE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=tempfile.gettempdir(),
            env=env,
            bufsize=0,
            start_new_session=True,
        )

    def run(self, folder):
        """The exit status of a child that answers the question in the folder."""
        with contextlib.suppress(BrokenPipeError):  # There is no answer then.
            self.process.stdin.write(os.fsencode(folder) + b"\n")
        if not select.select([self.process.stdout], [], [], SECONDS)[0]:
            self.stop()
            raise subprocess.TimeoutExpired(self.process.args, SECONDS)
        status = self.process.stdout.readline()
        assert status, f"{self.process.args[0]}: exit status {self.process.wait()}"
        return int(status)

    def stop(self):
        """Ends the interpreter, and its child if there is one."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


_templates = {}


def _template(command, env):
    key = (tuple(command), env and frozenset(env.items()))
    template = _templates.get(key)
    if (
        template is None
        or template.owner != os.getpid()
        or template.process.poll() is not None
    ):
        template = _templates[key] = _Template(command, env)
    return template


class FreshProcessError(Exception):
    """An exception of the other process: name of its type, message, traceback."""

    def __init__(self, kind, message, traceback):
        super().__init__(f"{kind}: {message}\n{traceback}")
        self.kind = kind
        self.message = message
        self.traceback = traceback


def execute(program, payload=b"", *, path=(), command=(sys.executable,), env=None):
    """The variable `answer` of a program, which has `waybill`, `sys` and `data`."""
    with tempfile.TemporaryDirectory() as folder:
        question = (program, [str(entry) for entry in path], bytes(payload))
        Path(folder, "empty").mkdir()
        Path(folder, "question").write_bytes(marshal.dumps(question))
        status = _template(command, env).run(folder)
        output = Path(folder, "output").read_text(errors="replace")
        assert status == 0, f"exit status {status}\n{output}"
        answer = marshal.loads(Path(folder, "answer").read_bytes())
    if not answer[0]:
        raise FreshProcessError(*answer[1:])
    return answer[1]


def load(payload, expression, **options):
    """The value of an expression in which `value` is the object in the payload."""
    program = f"value = waybill.loads(data)\nanswer = ({expression})"
    return execute(program, payload, **options)


def send(obj, expression, **options):
    """load() of the payload of an object."""
    return load(waybill.dumps(obj), expression, **options)


def run_script(
    script,
    *arguments,
    command=(sys.executable,),
    env=None,
    flags=(),
    given=None,
    seconds=SECONDS,
):
    """Standard output of a program that may crash; it must end with status 0.

    `given`: its standard input, text or bytes.
    """
    done = subprocess.run(
        [*command, *flags, "-c", script, *map(str, arguments)],
        input=given.encode() if isinstance(given, str) else given,
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


def sent_by(script, *arguments):
    """The payload of a script's variable `sent`, equal with and without caches."""
    end = """
data = waybill.dumps(sent)
assert waybill.dumps(sent) == data
waybill._core.use_caches(False)
assert waybill.dumps(sent) == data
sys.stdout.write(data.hex())
"""
    # With globals of its own: globals of the script may travel.
    end = (
        f"import sys, waybill\nexec({end!r}, dict(sent=sent, waybill=waybill, sys=sys))"
    )
    return bytes.fromhex(run_script(f"{script}\n{end}", *arguments))
