"""Calls functions in the host of this folder.

    python client.py SOCKET

shows a few. In a program:

    with Client(path) as client:
        client.call(function, 1, 2, name="x")
"""

from __future__ import annotations

import math
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

import waybill


class Client:
    """A connection to a host. Calls go one after the other; not for several threads."""

    def __init__(
        self,
        path: str,
        *,
        key: waybill.security.SigningKey | None = None,
        keys: waybill.security.KeyRing | None = None,
    ) -> None:
        """``key`` signs calls; ``keys`` are those that have to sign outcomes."""
        self._key, self._keys = key, keys
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._incoming = self._socket.makefile("rb")

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._incoming.close()
        self._socket.close()

    def call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """What it returns there; or raises what it raised. A CallError of waybill.calls
        says that the host did not make the call, or gave it up: it may have run."""
        data = waybill.calls.dumps_call(function, args, kwargs, key=self._key)
        try:
            self.send(data)
            outcome = waybill.load(self._incoming, keys=self._keys)
        except BaseException:
            # Its outcome may come later, and would be taken for that of the next call.
            self.close()
            raise
        return waybill.calls.result_of(outcome)

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self) -> Any:
        # One payload, and no byte of the next.
        return waybill.calls.result_of(waybill.load(self._incoming, keys=self._keys))


def main(path: str) -> None:
    def hypotenuse(a: float, b: float) -> tuple[float, int]:
        return math.hypot(a, b), os.getpid()

    def leave() -> None:
        os._exit(3)

    with Client(path) as client:
        length, process = client.call(hypotenuse, 3, 4)
        print(f"{length} from process {process}; this is {os.getpid()}")
        try:
            client.call(hypotenuse, "three", 4)
        except TypeError as error:
            print(f"raised there: {error}")
        try:
            client.call(leave)
        except waybill.calls.CallError as error:
            print(f"not made: {error}")


if __name__ == "__main__":
    main(sys.argv[1])
