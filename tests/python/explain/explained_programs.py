"""Programs whose `task` cannot travel, or is large, for reasons that are known.

Each is the text of a script. A comment `#: PATH [COUNT]` stands in the line that brings
the blocker with this short path, which COUNT objects refer to; `#= PATH MEGABYTES` in
the line that brings the part with this short path. A blocker that no code brings is
written `#: PATH @0`.
"""

LOCKS = {
    "a lock among globals": """
        import threading
        guard = threading.Lock()
        def task():
            with guard:  #: guard
                return 1
        """,
    "a lock in a closure": """
        import threading
        def make():
            guard = threading.Lock()
            def task():
                return guard  #: guard
            return task
        task = make()
        """,
    "five deep": """
        import sqlite3
        class Node:
            pass
        service = Node()
        service.pool = Node()
        service.pool.clients = {"prod": [Node(), {"main": Node()}]}
        service.pool.clients["prod"][1]["main"].conn = sqlite3.connect(":memory:")
        def helper():
            return service.pool  #: service.pool.clients['prod'][1]['main'].conn
        def task():
            return helper()
        """,
    "an object of a class in a function": """
        def make():
            class Local:
                def __reduce__(self):
                    raise TypeError("stays here")
            return Local()
        held = make()
        def task():
            return held  #: held
        """,
    "a pointer": """
        import ctypes
        pointer = ctypes.pointer(ctypes.c_int(3))
        def task():
            return pointer  #: pointer
        """,
    "an attribute of a class": """
        import threading
        class Job:
            guard = threading.Lock()
            def run(self):
                return self.guard  #: Job.guard
        def task():
            return Job().run()
        """,
    "an attribute of a class that no method names": """
        import threading
        class Job:
            guard = threading.Lock()
        def task():
            return Job()  #: Job.guard
        """,
    "a handler of a logger": """
        import logging, sqlite3
        class Handler(logging.Handler):
            def __init__(self):
                super().__init__()
                self.conn = sqlite3.connect(":memory:")
        class Service:
            pass
        held = Service()
        held.handlers = [Handler()]
        def task():
            return held  #: held.handlers[0].conn #: held.handlers[0].lock
        """,
    "a generator": """
        numbers = (n for n in range(9))
        def task():
            return next(numbers)  #: numbers
        """,
    "one object on three paths": """
        import threading
        guard = threading.RLock()
        table = {"a": guard, "b": [guard]}
        def task():
            return table, guard  #: table['a'] 3
        """,
    "two in one dict": """
        import threading, sqlite3
        table = {
            "lock": threading.Lock(),
            "conn": sqlite3.connect(":memory:"),
            "number": 1,
        }
        def task():
            return table  #: table['lock'] #: table['conn']
        """,
    "a cycle": """
        import threading
        class Node:
            pass
        first, second = Node(), Node()
        first.next, second.next = second, first
        second.guard = threading.Lock()
        def task():
            return first.next  #: first.next.guard
        """,
    "a property that raises": """
        import threading
        class Job:
            def __init__(self):
                self.guard = threading.Lock()
            @property
            def broken(self):
                raise RuntimeError("asked")
        job = Job()
        def task():
            return job  #: job.guard
        """,
    "a reducer that raises": """
        class Closed:
            def __reduce__(self):
                raise ValueError("is closed")
        handle = {"x": Closed()}
        def task():
            return handle  #: handle['x']
        """,
    "a state that raises": """
        class Closed:
            def __getstate__(self):
                raise ValueError("has no state")
        handle = Closed()
        def task():
            return handle  #: handle
        """,
    "a default": """
        import threading
        def task(guard=threading.Lock()):  #: task.__defaults__[0]
            return guard
        """,
    "a keyword default": """
        import threading
        def task(*, guard=threading.Lock()):  #: task.__kwdefaults__['guard']
            return guard
        """,
    "an attribute of a function": """
        import threading
        def task():  #: task.guard
            return 1
        task.guard = threading.Lock()
        """,
    "a nested function": """
        import threading
        guard = threading.Lock()
        def task():
            def inner():
                return guard  #: guard
            return inner
        """,
    "a lambda in a list": """
        import threading
        guard = threading.Lock()
        steps = [len, lambda: guard]  #: guard
        def task():
            return steps
        """,
    "a method of an instance": """
        import threading
        class Job:
            def __init__(self):
                self.guard = threading.Lock()
            def run(self):
                return self.guard  #: obj.__self__.guard
        task = Job().run
        """,
    "a partial": """
        import functools, threading
        def work(guard):
            return guard
        step = functools.partial(work, threading.Lock())
        def task():
            return step()  #: step.args[0]
        """,
    "an element of a set": """
        import threading
        class Held:
            def __init__(self, guard):
                self.guard = guard
            def __hash__(self):
                return 1
        held = {Held(threading.Lock())}
        def task():
            return held  #: held<element 0>.guard
        """,
    "a key of a dict": """
        import threading
        class Held:
            def __init__(self, guard):
                self.guard = guard
            def __hash__(self):
                return 1
        table = {Held(threading.Lock()): 1}
        def task():
            return table  #: table<key>.guard
        """,
    "slots": """
        import threading
        class Slotted:
            __slots__ = ("guard",)
        slotted = Slotted()
        slotted.guard = threading.Lock()
        def task():
            return slotted  #: slotted.guard
        """,
    "a method of a lock": """
        import threading
        class Gate:
            def __init__(self):
                self.guard = threading.Lock()
                self.enter = self.guard.acquire
        gate = Gate()
        def task():
            return gate.enter()  #: gate.guard 2
        """,
    "a socket": """
        import socket
        peer = socket.socket()
        def task():
            return peer  #: peer
        """,
    "mapped memory": """
        import mmap
        memory = mmap.mmap(-1, 10)
        def task():
            return memory  #: memory
        """,
    "a decorated function": """
        import functools, threading
        guard = threading.Lock()
        def locked(function):
            @functools.wraps(function)
            def call(*arguments):
                with guard:  #: guard
                    return function(*arguments)
            return call
        @locked
        def task():
            return 1
        """,
    "a class in a closure": """
        import threading
        def make():
            class Job:
                guard = threading.Lock()
                def run(self):
                    return self.guard  #: Job.guard
            def task():
                return Job().run()
            return task
        task = make()
        """,
    "a base class": """
        import threading
        class Base:
            guard = threading.Lock()
            def run(self):
                return self.guard  #: Job.__bases__[0].guard
        class Job(Base):
            pass
        def task():
            return Job().run()
        """,
    "a class method": """
        import threading
        guard = threading.Lock()
        class Job:
            @classmethod
            def run(cls):
                return guard  #: guard
        def task():
            return Job.run()
        """,
    "data that no code brings": """
        import threading
        task = {"job": [1, {"guard": threading.Lock()}]}  # #: obj['job'][1]['guard'] @0
        """,
    "a generator five deep": """
        def make():
            stream = (n for n in range(3))
            def inner():
                def innermost():
                    return stream  #: stream
                return innermost
            return inner
        task = make()()
        """,
}

SIZES = {
    "a global that is used": """
        table = list(range(300_000))
        unused = list(range(500_000))
        def task():
            return table[3]  #= table 1.36
        """,
    "bytes in a closure": """
        def make():
            blob = b"x" * 2_000_000
            def task():
                return blob[0]  #= blob 2.0
            return task
        task = make()
        """,
    "text on an instance": """
        class Config:
            pass
        config = Config()
        config.text = "x" * 500_000
        def task():
            return config.text  #= config.text 0.5
        """,
    "shared bytes": """
        blob = b"x" * 1_000_000
        first = [blob]
        second = [blob]
        def task():
            return first, second  #= first[0] 1.0
        """,
    "a class attribute": """
        class Job:
            table = b"y" * 700_000
            def run(self):
                return self.table  #= Job.table 0.7
        def task():
            return Job().run()
        """,
    "a bytearray of an argument": """
        memory = bytearray(900_000)
        def task(memory=memory):  #= task.__defaults__[0] 0.9
            return memory
        """,
    "many small objects": """
        class Row:
            def __init__(self, n):
                self.number, self.name = n, f"row {n}"
        rows = [Row(n) for n in range(30_000)]
        def task():
            return rows  #= rows 1.0987
        """,
    "a cycle of lists": """
        ring = [b"z" * 300_000]
        ring.append(ring)
        def task():
            return ring  #= ring[0] 0.3
        """,
    "compressed": """
        blob = bytes(3_000_000)
        def task():
            return blob  #= blob 0.000151
        OPTIONS = {"compress": "zstd"}
        """,
    "nothing much": """
        def task(x):
            return x + 1
        """,
}
