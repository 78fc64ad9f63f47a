"""Builds shapes in one process and loads them in another; run as a script.

    worker.py send|receive SERIALIZER PACKAGES PAYLOADS TASKS REPORT

Each shape has a forked process of its own, so what one imports the next does not
have. Tasks come by marshal and reports leave as lines of repr(): the receiver must
not import what a payload may need, and json alone brings a dozen modules.
"""

import marshal
import os
import signal
import sys

SECONDS_PER_SHAPE = 20
Namespace = type(sys.implementation)


def drive(coroutine):
    """Runs a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise RuntimeError("the coroutine waits for something")


def environment(function):
    return {"f": function, "NS": Namespace, "drive": drive}


def described(error):
    return f"{type(error).__name__}: {error}"


def loaded_names(tops, watch):
    watched = set(watch)
    return sorted(
        name
        for name in list(sys.modules)
        if isinstance(name, str) and (name.split(".")[0] in tops or name in watched)
    )


def records(serializer, obj):
    if not hasattr(serializer, "imports"):
        return []
    return [
        (r.module, r.time, r.chain, r.function, r.file, r.line)
        for r in serializer.imports(obj)
    ]


class Sender:
    def __init__(self, serializer, preloaded):
        self.serializer = serializer
        self.preloaded = preloaded

    def check(self, obj, modules):
        if hasattr(self.serializer, "imports"):
            tops = {name.split(".")[0] for name in self.preloaded}
            listed = {
                record[0]
                for record in records(self.serializer, obj)
                if record[1] == "load"
            }
            listed = {name for name in listed if name.split(".")[0] in tops}
            if listed != set(modules.split()):
                raise AssertionError(f"{sorted(listed)} instead of {modules}")

    def __call__(self, task, payload_path, report):
        if "bare" not in task["sender"]:
            for name in self.preloaded:
                __import__(name)
        namespace = {
            "__name__": "__main__",
            "dump": self.serializer.dumps,
            "check": self.check,
        }
        code = compile(task["source"], f"<shape {task['id']}>", "exec")
        exec(code, namespace)
        function = namespace["f"]

        report["stage"] = "dumps"
        try:
            self.send(function, payload_path, report)
        except Exception as error:
            report["error"] = described(error)
        # Also when it could not be sent: a shape has to run where it was made.
        if task["run"] and "norun" not in task["sender"]:
            report["result"] = repr(eval(task["run"], environment(function)))

    def send(self, function, payload_path, report):
        import corpus_hooks

        modules_before = set(sys.modules)
        corpus_hooks.LOG.clear()
        payload = self.serializer.dumps(function)
        report["stage"] = "imports"
        report["records"] = records(self.serializer, function)
        report["asked"] = list(corpus_hooks.LOG)
        report["imported"] = sorted(map(str, set(sys.modules) - modules_before))
        with open(payload_path, "wb") as file:
            file.write(payload)
        report["same_again"] = self.serializer.dumps(function) == payload
        report["stage"] = "run"


class Receiver:
    def __init__(self, serializer, tops):
        self.serializer = serializer
        self.tops = tops

    def __call__(self, task, payload_path, report):
        report["stage"] = "loads"
        with open(payload_path, "rb") as file:
            payload = file.read()
        before = set(loaded_names(self.tops, task["watch"]))
        function = self.serializer.loads(payload)
        after = loaded_names(self.tops, task["watch"])
        report["loaded"] = [name for name in after if name not in before]
        try:
            report["records"] = records(self.serializer, function)
        except Exception as error:
            report["records"], report["relay_error"] = [], described(error)

        report["stage"] = "run"
        if task["run"]:
            report["result"] = repr(eval(task["run"], environment(function)))


def in_child(work, task, payload_path):
    """Runs `work` in a forked process; a crash becomes part of the report."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        signal.alarm(SECONDS_PER_SHAPE)
        report = {"id": task["id"], "stage": "build", "error": None}
        try:
            work(task, payload_path, report)
        except BaseException as error:
            sys.settrace(None)
            sys.setprofile(None)
            report["error"] = described(error)
        with open(writing, "wb") as pipe:
            pipe.write(marshal.dumps(report))
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(process, 0)
    if not answer:
        crashed = f"the process ended with status {status}"
        return {"id": task["id"], "stage": "crash", "error": crashed}
    return marshal.loads(answer)


def main(role, serializer_name, packages, payloads, tasks_path, report_path):
    serializer = __import__(serializer_name)
    with open(tasks_path, "rb") as file:
        plan = marshal.load(file)
    sys.path.insert(0, packages)
    if role == "send":
        # Whatever the serializer imports at its first use is not the shapes' doing.
        serializer.loads(serializer.dumps(drive))
        work = Sender(serializer, plan["preloaded"])
    else:
        work = Receiver(serializer, frozenset(plan["tops"]))
    with open(report_path, "w", encoding="utf-8") as report:
        for task in plan["tasks"]:
            payload_path = os.path.join(payloads, task["id"])
            if role == "send" or os.path.exists(payload_path):
                report.write(repr(in_child(work, task, payload_path)) + "\n")


if __name__ == "__main__":
    # The serializers find `drive` by value only in __main__, and so it is.
    sys.path.pop(0)
    main(*sys.argv[1:])
