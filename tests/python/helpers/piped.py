"""A pipe between two threads."""

import os
import threading


def through_a_pipe(write, read, buffering=-1):
    """The result of `read(file)`, while another thread calls `write(file)`."""
    reader, writer = os.pipe()

    def send():
        with open(writer, "wb", buffering) as target:
            write(target)

    with open(reader, "rb") as source:
        thread = threading.Thread(target=send)
        thread.start()
        got = read(source)
        thread.join()
    return got
