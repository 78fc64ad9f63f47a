"""What a home and a worker do to a class between two payloads."""

from dataclasses import dataclass

SENT = "{'K': K}"


@dataclass
class Story:
    """A row of a table of tests. All but `expected` is text of programs."""

    define: str  # What the home does before it sends first.
    read: str  # What is read at the worker when the second payload is there.
    expected: object
    worker: str = ""  # What the worker does when the first is there,
    home: str = ""  # and the home, before it sends again.
    sent: str = SENT
    again: str = ""  # What is sent then; as before if it is empty.

    def demand(self, home, worker):
        """Plays it."""
        home.do(self.define)
        worker.load(home.dumps(self.sent))
        worker.do(self.worker)
        home.do(self.home)

        worker.load(home.dumps(self.again or self.sent))

        assert worker.get(self.read) == self.expected
