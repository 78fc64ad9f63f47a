"""Functions and classes of popular packages by value, in a process without the package.

    python popular_packages.py [--most N] [--patience SECONDS] [--peer | --both]
                               [--errors] [--outcomes FILE] [PACKAGE...]

One process walks a package without its tests, takes at most N functions and classes
that it defines, and sends each by itself with ``by_value=[package]``. For each payload
a fork of another process, in which no import finds the package while its dependencies
are there, loads it and compares names, code and bases. Prints, as JSON lines, per
package how many arrived and the sum of bytes. --peer does the same with cloudpickle,
--both does both and adds the bytes of each over what both dump. --errors groups what
failed; --outcomes appends a JSON line for each object as soon as it is known.
"""

import argparse
import collections
import hashlib
import importlib
import json
import os
import pickle
import pkgutil
import re
import signal
import subprocess
import sys
import tempfile
import types
import warnings
from pathlib import Path

PACKAGES = (
    "requests click flask jinja2 rich attr httpx pydantic sqlalchemy sympy"
).split()

#: Seconds for one object, on a busy machine.
PATIENCE = 60

PEERS = "waybill", "cloudpickle"

_TESTS = ("test", "tests", "testing", "conftest", "__main__")


def described(obj):
    """What must be the same on both sides."""
    if isinstance(obj, type):
        methods = {
            name: _code(value)
            for name, value in vars(obj).items()
            if isinstance(value, types.FunctionType)
        }
        bases = [(base.__module__, base.__qualname__) for base in obj.__bases__]
        return obj.__name__, obj.__qualname__, obj.__module__, bases, methods
    return obj.__name__, obj.__qualname__, obj.__module__, _code(obj)


def _code(function):
    return hashlib.sha256(function.__code__.co_code).hexdigest()


def walk(root, most):
    """At most so many functions and classes that a package defines, spread over it."""
    package = importlib.import_module(root)
    modules = [package]
    for found in pkgutil.walk_packages(getattr(package, "__path__", []), root + "."):
        if set(found.name.split(".")) & set(_TESTS):
            continue
        try:
            modules.append(importlib.import_module(found.name))
        except (Exception, SystemExit):
            continue
    objects = {}
    for module in modules:
        for name, obj in sorted(vars(module).items()):
            if not isinstance(obj, (types.FunctionType, type)):
                continue
            if obj.__module__ == module.__name__ and obj.__qualname__ == name:
                objects[f"{module.__name__}.{name}"] = obj
    names = sorted(objects)
    step = max(1, -(-len(names) // most))
    return {name: objects[name] for name in names[::step]}


def serializer(root, peer):
    package = importlib.import_module(root)
    if peer == "cloudpickle":
        import cloudpickle

        cloudpickle.register_pickle_by_value(package)
        return cloudpickle.dumps
    import waybill

    return lambda obj: waybill.dumps(obj, by_value=[package])


def in_time(patience, function, *arguments):
    def stop(number, frame):
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(patience)
    try:
        return function(*arguments)
    finally:
        signal.alarm(0)


def _own_stdout(mode):
    """Stdout as a file of its own: what modules print goes to stderr."""
    out = os.fdopen(os.dup(1), mode)
    os.dup2(2, 1)
    return out


def send(root, most, peer, patience):
    """Writes to stdout the dependencies, then each object's payload or error."""
    out = _own_stdout("wb")
    dumps = serializer(root, peer)
    objects = walk(root, most)
    pickle.dump([n for n in sys.modules if n.partition(".")[0] != root], out)
    for name, obj in objects.items():
        try:
            data, error = in_time(patience, dumps, obj), None
        except Exception as refusal:
            data, error = None, f"{type(refusal).__name__}: {refusal}"
        pickle.dump((name, described(obj), data, error), out)
        out.flush()
    out.close()


class _Missing:
    """Finds nothing of a package, although it is installed."""

    def __init__(self, root):
        self.root = root

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == self.root:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def receive(root, peer, patience):
    """Reads what `send` writes; prints a JSON line for each object."""
    out = _own_stdout("w")
    sys.meta_path.insert(0, _Missing(root))
    for name in pickle.load(sys.stdin.buffer):
        try:
            importlib.import_module(name)
        except (Exception, SystemExit):
            continue
    loads = importlib.import_module(peer).loads
    while True:
        try:
            name, wanted, data, error = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        size = None if data is None else len(data)
        if data is not None:
            error = in_fork(patience, lambda d=data, w=wanted: compared(loads(d), w))
        print(json.dumps([name, size, error]), file=out, flush=True)


def compared(obj, wanted):
    found = described(obj)
    return None if found == wanted else f"differs: {found} from {wanted}"


def in_fork(patience, call):
    """The answer of a call in a child: text, or None."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = in_time(patience, call)
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(write, (answer or "").encode("utf-8", "replace")[:4000])
        os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        answer = pipe.read().decode("utf-8", "replace")
    _, status = os.waitpid(child, 0)
    if status != 0:
        return f"the process ended with {status}"
    return answer or None


def survey(root, most=300, peer="waybill", patience=PATIENCE, on_outcome=None):
    """{name: (bytes or None, error or None)} of a package's functions and classes."""
    program = [sys.executable, "-W", "ignore", __file__]
    sending = [*program, "--send", root, peer, str(patience), str(most)]
    receiving = [*program, "--receive", root, peer, str(patience)]
    outcomes = {}
    with (
        subprocess.Popen(sending, stdout=subprocess.PIPE) as sender,
        subprocess.Popen(
            receiving, stdin=sender.stdout, stdout=subprocess.PIPE
        ) as receiver,
    ):
        sender.stdout.close()
        for line in receiver.stdout:
            name, size, error = json.loads(line)
            outcomes[name] = size, error
            if on_outcome is not None:
                on_outcome(root, peer, name, size, error)
    for process in (sender, receiver):
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, process.args)
    return outcomes


def summary(outcomes):
    return {
        "objects": len(outcomes),
        "arrived": sum(error is None for _, error in outcomes.values()),
        "bytes": sum(size or 0 for size, _ in outcomes.values()),
    }


def compared_summary(ours, peers):
    """Both sides' counts, and the bytes over what both dump."""
    both = [n for n in ours if ours[n][0] is not None and peers[n][0] is not None]
    return {
        "objects": len(ours),
        "arrived": summary(ours)["arrived"],
        "peer_arrived": summary(peers)["arrived"],
        "dumped_by_both": len(both),
        "bytes": sum(ours[name][0] for name in both),
        "peer_bytes": sum(peers[name][0] for name in both),
    }


def grouped(outcomes):
    """[(count, an object, its error)], the frequent kinds of errors first."""
    groups = collections.defaultdict(list)
    for name, (size, error) in outcomes.items():
        if error is not None:
            kind = re.sub(r"0x[0-9a-f]+|\d+", "N", error)[:160]
            groups[size is None, kind].append((name, error))
    groups = sorted(groups.values(), key=len, reverse=True)
    return [(len(group), *group[0]) for group in groups]


def main():
    if sys.argv[1:2] == ["--send"]:
        warnings.simplefilter("ignore")
        root, peer, patience, most = sys.argv[2:]
        return send(root, int(most), peer, int(patience))
    if sys.argv[1:2] == ["--receive"]:
        warnings.simplefilter("ignore")
        root, peer, patience = sys.argv[2:]
        return receive(root, peer, int(patience))
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--most", type=int, default=300)
    options.add_argument("--patience", type=int, default=PATIENCE)
    options.add_argument("--peer", action="store_true")
    options.add_argument("--both", action="store_true")
    options.add_argument("--errors", action="store_true")
    options.add_argument("--outcomes")
    options.add_argument("packages", nargs="*", default=PACKAGES)
    chosen = options.parse_args()

    def append(*outcome):
        if chosen.outcomes:
            with open(chosen.outcomes, "a") as file:
                print(json.dumps(outcome), file=file)

    total = collections.Counter()
    peers = PEERS if chosen.both else PEERS[chosen.peer :][:1]
    for root in chosen.packages or PACKAGES:
        found = [
            survey(root, chosen.most, peer, chosen.patience, append) for peer in peers
        ]
        row = compared_summary(*found) if chosen.both else summary(*found)
        print(json.dumps({"package": root, **row}), flush=True)
        total.update(row)
        if chosen.errors:
            for count, name, error in grouped(found[0]):
                print("   ", count, name, error[:300].replace("\n", " "), flush=True)
    print(json.dumps({"package": "all", **total}))


if __name__ == "__main__":
    main()
