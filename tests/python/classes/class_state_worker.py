"""Long-lived processes that send classes to each other, for tests of class state.

    home, worker = fresh(), fresh()
    home.do("class K: x = 1")
    worker.load(home.dumps("{'K': K}"))
    assert worker.get("K.x") == 1

A `Place` is one namespace in one process: what is executed there is as a script's, its
classes travel by value, and it stays as long as the process. `place.fork()` is the same
namespace in a child, `place.other()` an empty one in the same process. What a process
answers is plain data; an exception there is a PlaceError here.

The file is both ends: the tests import it, each process runs it.
"""

import marshal
import os
import signal
import socket
import subprocess
import sys
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
    def __init__(self, connection, popen=None):
        self._connection = connection
        self._popen = popen
        self.children = []

    def ask(self, request):
        _write(self._connection, request)
        return self._answer()

    def fork(self):
        mine, its = _pair()
        with its:
            _write(self._connection, ("fork",))
            socket.send_fds(self._connection, [b"f"], [its.fileno()])
            self._answer()
        child = _Process(mine)
        self.children.append(child)
        child._answer()
        return child

    def close(self):
        self._connection.close()
        for child in self.children:
            child.close()
        if self._popen is not None:
            self._popen.wait(SECONDS)
            self._popen = None

    def _answer(self):
        answer = _read(self._connection)
        if answer is None:
            status = self._popen.wait(SECONDS) if self._popen else "unknown"
            raise AssertionError(f"the process has died, exit status {status}")
        if not answer[0]:
            raise PlaceError(*answer[1:])
        return answer[1]


def fresh():
    """A namespace in a process that has imported nothing but waybill."""
    mine, its = _pair()
    with its:
        command = [sys.executable, "-I", __file__, str(its.fileno())]
        popen = subprocess.Popen(command, pass_fds=[its.fileno()])
    return Place(_Process(mine, popen))


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
    scopes = {}
    while (request := _read(connection)) is not None:
        if request[0] == "fork":
            connection = _fork(connection)
            _write(connection, (True, None))  # The parent, and the child to its own.
            continue
        _write(connection, _answer_to(scopes, *request))


def _fork(connection):
    """The child goes on with a connection of its own."""
    _, (number,), _, _ = socket.recv_fds(connection, 1, 1)
    its = socket.socket(fileno=number)
    if os.fork() == 0:
        connection.close()
        return its
    its.close()
    return connection


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
    # Children that end are nobody's business.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    connection = socket.socket(fileno=int(sys.argv[1]))
    import waybill

    _serve(connection)
    # Nothing is to be learnt from how the interpreter ends.
    os._exit(0)


if __name__ == "__main__":
    main()
