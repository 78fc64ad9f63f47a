"""Sends functions to a Python that has imported nothing, and shows what is sent.

    python benchmarks/demo_pipe.py

A fresh interpreter reads envelopes from a pipe. It imports the modules that their
manifests list; its program names none of them. Results come back the same way.
"""

import concurrent.futures
import math
import os
import pickle
import subprocess
import sys
import time
import xml.etree.ElementTree

import waybill

try:
    import numpy
    import numpy.linalg
except ImportError:  # numpy does not support the newest Pythons yet.
    numpy = None

try:
    import cloudpickle
except ImportError:
    cloudpickle = None

COLOURS = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
BOLD, DIM, GREEN, CYAN, RED = "1", "2", "32", "36", "31"

# ---- The work ----------------------------------------------------------------------


def primes_below(limits):
    """Counts primes below each limit, on threads of the worker."""

    def count(limit):
        sieve = bytearray([1]) * limit
        sieve[:2] = bytes(2)
        for i in range(2, math.isqrt(limit) + 1):
            if sieve[i]:
                sieve[i * i :: i] = bytes(len(range(i * i, limit, i)))
        return sum(sieve)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return dict(zip(limits, pool.map(count, limits), strict=True))


def titles_of(feed):
    """Reads an Atom feed; the parser is in a submodule of a submodule."""
    find = "{http://www.w3.org/2005/Atom}entry/{http://www.w3.org/2005/Atom}title"
    return [node.text for node in xml.etree.ElementTree.fromstring(feed).iterfind(find)]


def vibrations(masses, stiffness):
    """Frequencies of a chain of masses and springs."""
    size = len(masses)
    springs = numpy.diag([2.0] * size) - numpy.eye(size, k=1) - numpy.eye(size, k=-1)
    scaled = stiffness * springs / numpy.sqrt(numpy.outer(masses, masses))
    return numpy.sqrt(numpy.linalg.eigvalsh(scaled))


def make_counter(pattern):
    """A closure with a pattern and a state of its own."""
    seen = {}

    def count(text):
        import collections  # Listed as needed when called, not at load.

        for word, times in collections.Counter(pattern.findall(text)).items():
            seen[word] = seen.get(word, 0) + times
        return sorted(seen.items(), key=lambda item: (-item[1], item[0]))[:3]

    return count


def work():
    """Pairs of a function and its arguments."""
    import re

    entries = "".join(
        f"<entry><title>{title}</title></entry>"
        for title in ("The goods", "The paper that goes with them", "Where they went")
    )
    feed = f"<feed xmlns='http://www.w3.org/2005/Atom'>{entries}</feed>"
    yield primes_below, ([1_000, 50_000, 200_000],)
    yield titles_of, (feed,)
    if numpy is not None:
        yield vibrations, ([1.0, 2.0, 1.0, 0.5], 100.0)
    text = "the paper that travels with the goods says what the goods are"
    yield make_counter(re.compile(r"\w+")), (text,)


# ---- The two ends of the pipe ------------------------------------------------------

# The whole program of the worker. Functions print to stderr, since answers are written
# to stdout.
WORKER = """
import sys
import waybill

tasks, answers = sys.stdin.buffer, sys.stdout.buffer
sys.stdout = sys.stderr
while True:
    before = set(sys.modules)
    try:
        try:
            function, arguments = waybill.load(tasks)
        except EOFError:
            break
        loaded = sorted(set(sys.modules) - before)
        answer = waybill.dumps((True, function(*arguments), loaded))
    except Exception as error:
        answer = waybill.dumps((False, f"{type(error).__name__}: {error}", []))
    answers.write(answer)
    answers.flush()
"""


class Worker:
    """A fresh interpreter at the other end of a pipe."""

    def __enter__(self):
        # -P: no folder of this program is on its sys.path.
        command = [sys.executable, "-P", "-c", WORKER]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        return self

    def __exit__(self, error_type, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        if self.process.wait(timeout=30) and error_type is None:
            raise RuntimeError(f"the worker ended with {self.process.returncode}")

    def run(self, envelope):
        """Sends (function, arguments) as an envelope; returns (result, new modules)."""
        self.process.stdin.write(envelope)
        self.process.stdin.flush()
        has_succeeded, result, loaded = waybill.load(self.process.stdout)
        if not has_succeeded:
            raise RuntimeError(f"the worker failed: {result}")
        return result, loaded


# ---- Output ------------------------------------------------------------------------


def paint(text, *codes):
    return f"\033[{';'.join(codes)}m{text}\033[0m" if COLOURS else text


def show_manifest(function):
    when = {"load": "at load", "call": "when called", "lazy": "when used"}
    for record in waybill.imports(function):
        why = record.chain
        if record.file:
            place = f"{os.path.relpath(record.file)}:{record.line}"
            why += f" in {record.function} ({place})"
        print(
            f"  {paint(f'{record.module:24}', CYAN)}{when[record.time]:12}"
            f" {paint(why, DIM)}"
        )


def microseconds(call, seconds=0.15):
    """The time of the fastest call, of as many as fit into `seconds`."""
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def measure(module, function):
    data = module.dumps(function)
    dumps = microseconds(lambda: module.dumps(function))
    return len(data), dumps, microseconds(lambda: module.loads(data))


def show_table(functions):
    peers = [waybill] + ([cloudpickle] if cloudpickle is not None else [])
    print(paint(f"{'repeated, in this process':28}", BOLD), end="")
    for peer in peers:
        print(
            paint(f"{peer.__name__ + ' B':>14}{'dumps':>9}{'loads':>9}", BOLD), end=""
        )
    print()
    for function in functions:
        print(f"{function.__qualname__.partition('.')[0]:28}", end="")
        for peer in peers:
            size, dumps, loads = measure(peer, function)
            cells = f"{size:14}{dumps:6.1f} µs{loads:6.1f} µs"
            print(paint(cells, GREEN) if peer is waybill else cells, end="")
        print()
    print(
        paint("fastest single call; ", DIM)
        + paint(f"{len(sys.modules)} modules are loaded; make bench says more", DIM)
    )


def main():
    version = sys.version.partition(" ")[0]
    print(paint(f"waybill {waybill.__version__}, Python {version}", BOLD))
    if numpy is None:
        print("numpy is not installed: vibrations() is left out")
    functions = []
    with Worker() as worker:
        for function, arguments in work():
            functions.append(function)
            envelope = waybill.dumps((function, arguments))
            start = time.perf_counter()
            result, loaded = worker.run(envelope)
            elapsed = (time.perf_counter() - start) * 1000
            print()
            print(paint(function.__qualname__, BOLD), f"{len(envelope)} bytes, needs:")
            show_manifest(function)
            print(f"  the worker loaded {len(loaded)} modules, ran, and sent back")
            print(f"  {paint(result, GREEN)}  {paint(f'{elapsed:.1f} ms', DIM)}")
    print()
    show_table(functions)
    show_refusal()


def show_refusal():
    """Shows the error for an object that cannot be sent."""
    import threading

    lock = threading.Lock()
    settings = {"retries": 3, "guard": lock}
    try:
        waybill.dumps(lambda: settings["retries"])
    except waybill.EncodeError as error:
        print()
        print(paint("a lock cannot be sent; the error has the path to it:", BOLD))
        print(f"  {paint(error, RED)}")
    if cloudpickle is not None:
        try:
            cloudpickle.dumps(lambda: settings["retries"])
        except (TypeError, pickle.PicklingError) as error:
            print(paint(f"  cloudpickle: {error}", DIM))


if __name__ == "__main__":
    main()
