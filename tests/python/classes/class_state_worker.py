"""Long-lived processes that send classes to each other, for tests of class state.

    home, worker = fresh(), fresh()
    home.do("class K: x = 1")
    worker.load(home.dumps("{'K': K}"))
    assert worker.get("K.x") == 1

A `Place` is one namespace in one process: what is executed there is as a script's, its
classes travel by value, and it stays as long as the process. `place.fork()` is the same
namespace in a child, `place.other()` an empty one in the same process. What a process
answers is plain data; an exception there is a PlaceError here.

A fresh process is a child of a nursery, an interpreter that has run this file and not
yet imported waybill. To fork it takes a third of the time that another one would need
to start.

The file is both ends: the tests import it, each nursery runs it.
"""

import functools
import itertools
import marshal
import os
import signal
import socket
import subprocess
import sys
import time
import traceback
from contextlib import contextmanager

SECONDS = 120
#: What objects of one process are sent with: the only place that knows the option.
FRESH = {"replace": "fresh"}
DROP = {"replace": "drop"}

# ---- The end of the tests


class PlaceError(Exception):
    """What was raised in the other process: its type's name, message, and so on."""

    def __init__(self, kind, message, code, trace):
        super().__init__(f"{kind}: {message}\n{trace}")
        self.kind = kind
        self.message = message
        self.code = code


class Place:
    def __init__(self, process, scope="main"):
        self._process = process
        self._scope = scope

    def do(self, program, **given):
        """Executes statements, which find `given` (plain data) in the namespace."""
        self._process.ask(("do", self._scope, _lines(program), given))

    def get(self, expression, **given):
        """What an expression is worth, which must be plain data."""
        return self._process.ask(("get", self._scope, expression, given))

    def dumps(self, expression, **options):
        """A payload of what an expression is worth."""
        program = f"waybill.dumps({expression}, **options)"
        return self.get(program, options=options)

    def load(self, payload, **options):
        """Loads a payload of a dict, whose values get the names of its keys."""
        program = "globals().update(waybill.loads(data, **options))"
        self.do(program, data=payload, options=options)

    def fork(self):
        """The same namespace in a child of this process."""
        return Place(self._process.fork(), self._scope)

    def other(self, name):
        """Another namespace of this process."""
        return Place(self._process, name)

    def close(self):
        self._process.close()


class _Process:
    def __init__(self, connection, end=None):
        self._connection = connection
        self._end = end  # Waits for its end, and gives its exit status.
        self.children = []

    def ask(self, request):
        _write(self._connection, request)
        return self._answer()

    def fork(self):
        child, _ = self._forked()
        self.children.append(child)
        return child

    def bear(self):
        """A child that is waited for when it is closed."""
        child, number = self._forked()
        child._end = functools.partial(self.ask, ("wait", number))
        return child

    def close(self):
        self._connection.close()
        for child in self.children:
            child.close()
        self._status()

    def _forked(self):
        mine, its = _pair()
        with its:
            _write(self._connection, ("fork",))
            socket.send_fds(self._connection, [b"f"], [its.fileno()])
            number = self._answer()
        child = _Process(mine)
        child._answer()
        return child, number

    def _status(self):
        end, self._end = self._end, None
        return end() if end else "unknown"

    def _answer(self):
        answer = _read(self._connection)
        if answer is None:
            raise AssertionError(f"the process has died, exit status {self._status()}")
        if not answer[0]:
            raise PlaceError(*answer[1:])
        return answer[1]


def _nursery():
    mine, its = _pair()
    with its:
        command = [sys.executable, "-I", __file__, str(its.fileno())]
        popen = subprocess.Popen(command, pass_fds=[its.fileno()])
    return _Process(mine, popen.wait)


@functools.cache
def _nurseries():
    """Two in turn, so that the processes of a test differ in hashes and addresses."""
    return itertools.cycle([_nursery(), _nursery()])


def fresh():
    """A namespace in a process that has imported nothing but waybill."""
    return Place(next(_nurseries()).bear())


@contextmanager
def several(count):
    """So many fresh processes, which end with the block."""
    places = [fresh() for _ in range(count)]
    try:
        yield places
    finally:
        for place in places:
            place.close()


def _pair():
    pair = socket.socketpair()
    pair[0].settimeout(SECONDS)
    return pair


def _lines(program):
    """Without the indentation of the test that it stands in."""
    import textwrap

    return textwrap.dedent(program)


# ---- Both ends


def _write(connection, message):
    data = marshal.dumps(message)
    connection.sendall(len(data).to_bytes(8, "little") + data)


def _read(connection):
    size = _read_bytes(connection, 8)
    if size is None:
        return None
    data = _read_bytes(connection, int.from_bytes(size, "little"))
    return marshal.loads(data) if data is not None else None


def _read_bytes(connection, size):
    parts = bytearray()
    while len(parts) < size:
        try:
            part = connection.recv(size - len(parts))
        except ConnectionError:
            return None
        if not part:
            return None
        parts += part
    return bytes(parts)


# ---- The end of the processes


def _serve(connection):
    """Answers what a nursery is asked, and in its children what places are asked."""
    scopes = {}
    while (request := _read(connection)) is not None:
        if request[0] == "fork":
            connection, number = _fork(connection)
            _write(connection, (True, number))  # The parent, and the child to its own.
        elif request[0] == "wait":
            _write(connection, _end_of(request[1]))
        else:
            _write(connection, _answer_to(scopes, *request))


def _fork(connection):
    """The child goes on with a connection of its own."""
    _, (descriptor,), _, _ = socket.recv_fds(connection, 1, 1)
    its = socket.socket(fileno=descriptor)
    number = os.fork()
    if number == 0:
        connection.close()
        # Children of this one are nobody's business.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        return its, number
    its.close()
    return connection, number


def _end_of(number):
    for _ in range(SECONDS * 500):  # Half of what the tests wait for the answer.
        ended, status = os.waitpid(number, os.WNOHANG)
        if ended:
            return True, os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(number, signal.SIGKILL)
    os.waitpid(number, 0)
    return False, "TimeoutError", "a place did not end", None, ""


def _answer_to(scopes, what, name, program, given):
    scope = scopes.get(name)
    if scope is None:
        scope = scopes[name] = _new_scope()
    scope.update(given)
    try:
        if what == "get":
            return True, eval(compile(program, f"<{name}>", "eval"), scope)
        exec(compile(program, f"<{name}>", "exec"), scope)
        return True, None
    except BaseException as error:
        code = getattr(error, "code", None)
        code = code if isinstance(code, str) else None
        return False, type(error).__name__, str(error), code, traceback.format_exc()
    finally:
        for key in given:
            scope.pop(key, None)


def _new_scope():
    import waybill

    # No module has this name, so that what is defined here travels by value.
    return {"__name__": "module_that_is_nowhere", "waybill": waybill}


def main():
    _serve(socket.socket(fileno=int(sys.argv[1])))
    # Nothing is to be learnt from how the interpreter ends.
    os._exit(0)


if __name__ == "__main__":
    main()
