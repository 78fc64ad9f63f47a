"""Functions and classes of popular packages by value, in a process without the package.

    python popular_packages.py [--most N] [--peer] [PACKAGE...]

One process walks a package without its tests, takes at most N functions and classes
that it defines, and sends each by itself with ``by_value=[package]``. For each payload
a fork of another process, in which no import finds the package while its dependencies
are there, loads it and compares names, code and bases. Prints, as JSON lines, per
package how many arrived and the sum of bytes; --peer does the same with cloudpickle.
"""

import argparse
import hashlib
import importlib
import json
import os
import pickle
import pkgutil
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


def serializer(root, is_peer):
    package = importlib.import_module(root)
    if is_peer:
        import cloudpickle

        cloudpickle.register_pickle_by_value(package)
        return cloudpickle.dumps
    import waybill

    return lambda obj: waybill.dumps(obj, by_value=[package])


def in_time(function, *arguments):
    def stop(number, frame):
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(PATIENCE)
    try:
        return function(*arguments)
    finally:
        signal.alarm(0)


def send(root, most, is_peer, path):
    dumps = serializer(root, is_peer)
    sent = []
    for name, obj in walk(root, most).items():
        try:
            data, error = in_time(dumps, obj), None
        except Exception as refusal:
            data, error = None, f"{type(refusal).__name__}: {refusal}"
        sent.append((name, described(obj), data, error))
    dependencies = [n for n in sys.modules if n.partition(".")[0] != root]
    Path(path).write_bytes(pickle.dumps((dependencies, sent)))


class _Missing:
    """Finds nothing of a package, although it is installed."""

    def __init__(self, root):
        self.root = root

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == self.root:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def receive(root, is_peer, path):
    sys.meta_path.insert(0, _Missing(root))
    dependencies, sent = pickle.loads(Path(path).read_bytes())
    for name in dependencies:
        try:
            importlib.import_module(name)
        except (Exception, SystemExit):
            continue
    loads = importlib.import_module("cloudpickle" if is_peer else "waybill").loads
    outcomes = {}
    for name, wanted, data, error in sent:
        size = None if data is None else len(data)
        if data is not None:
            error = in_fork(lambda d=data, w=wanted: compared(loads(d), w))
        outcomes[name] = size, error
    print(json.dumps(outcomes))


def compared(obj, wanted):
    found = described(obj)
    return None if found == wanted else f"differs: {found} from {wanted}"


def in_fork(call):
    """The answer of a call in a child: text, or None."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = in_time(call)
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


def survey(root, most=300, is_peer=False):
    """{name: (bytes or None, error or None)} of a package's functions and classes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "payloads")
        options = [str(most), str(int(is_peer)), path]
        program = [sys.executable, "-W", "ignore", __file__]
        subprocess.run([*program, "--send", root, *options], check=True)
        answer = subprocess.run(
            [*program, "--receive", root, *options], check=True, stdout=subprocess.PIPE
        ).stdout
    return json.loads(answer.splitlines()[-1])


def main():
    if sys.argv[1:2] in (["--send"], ["--receive"]):
        warnings.simplefilter("ignore")
        what, root, most, is_peer, path = sys.argv[1:]
        if what == "--send":
            return send(root, int(most), bool(int(is_peer)), path)
        return receive(root, bool(int(is_peer)), path)
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--most", type=int, default=300)
    options.add_argument("--peer", action="store_true")
    options.add_argument("--errors", action="store_true")
    options.add_argument("packages", nargs="*", default=PACKAGES)
    chosen = options.parse_args()
    total = {"objects": 0, "arrived": 0, "bytes": 0}
    for root in chosen.packages or PACKAGES:
        outcomes = survey(root, chosen.most, chosen.peer)
        row = {
            "objects": len(outcomes),
            "arrived": sum(error is None for _, error in outcomes.values()),
            "bytes": sum(size or 0 for size, _ in outcomes.values()),
        }
        print(json.dumps({"package": root, **row}), flush=True)
        for key, count in row.items():
            total[key] += count
        if chosen.errors:
            for name, (size, error) in outcomes.items():
                if error is not None:
                    print("   ", name, size, error[:300].replace("\n", " "), flush=True)
    print(json.dumps({"package": "all", **total}))


if __name__ == "__main__":
    main()
