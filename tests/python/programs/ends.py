"""Both ends of a program: scripts that send and receive, and workers that live on.

Imported where a script runs; run by itself, it serves workers at an address: who
connects has one of his own, which has imported next to nothing but waybill.
"""

import _signal
import _socket
import os
import select
import sys

import waybill


def run_script(name, text, files, **given):
    """Executes a script as Python does: what it defines is of `__main__`."""
    main = sys.modules["__main__"] = type(sys)("__main__")
    vars(main).update(given, __file__=name, FILES=files, equal=equal)
    exec(compile(text, name, "exec"), vars(main))


def run_sender(address, *script):
    """The payloads that a script sends."""
    payloads = []

    def send(obj, **options):
        payloads.append(waybill.dumps(obj, **options))

    run_script(*script, send=send, worker=Worker(address))
    return payloads


def run_receiver(payloads, *script):
    arrived = map(waybill.loads, payloads)
    run_script(*script, receive=lambda: next(arrived))


def equal(got, wanted):
    assert type(got) is type(wanted) and got == wanted, f"{got!r}, not {wanted!r}"


class Worker:
    """Calls what it is sent in a process that ends with whoever has this."""

    def __init__(self, address):
        self._connection = _socket.socket(_socket.AF_UNIX)
        self._connection.connect(address)

    def __call__(self, function, *arguments, **options):
        return self.call(waybill.dumps((function, arguments), **options))

    def call(self, payload):
        _write(self._connection, payload)
        is_result, answer = waybill.loads(_read(self._connection))
        if not is_result:
            raise answer
        return answer


def _write(connection, data):
    connection.sendall(len(data).to_bytes(8, "little") + data)


def _read(connection):
    size = int.from_bytes(connection.recv(8), "little")
    data = bytearray()
    while len(data) < size:
        data += connection.recv(size - len(data))
    return bytes(data)


def _work(connection):
    while data := _read(connection):
        try:
            function, arguments = waybill.loads(data)
            answer = waybill.dumps((True, function(*arguments)))
        except Exception as error:
            answer = waybill.dumps((False, error))
        _write(connection, answer)


def _serve(address):
    """Forks for each who connects, until standard input ends."""
    _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
    listening = _socket.socket(_socket.AF_UNIX)
    listening.bind(address)
    listening.listen()
    print("listening", flush=True)
    while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
        descriptor, _ = listening._accept()
        if os.fork() == 0:
            sys.modules["__main__"] = type(sys)("__main__")
            return _work(_socket.socket(fileno=descriptor))
        os.close(descriptor)


if __name__ == "__main__":
    _serve(sys.argv[1])
