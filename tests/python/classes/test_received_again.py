"""Methods of a class that arrives again are those of the payload that came last.

They share globals and cells with the functions that came with them, as all functions
of one payload do. A class that comes home keeps its own.
"""

import textwrap

import fresh_process
import pytest
import waybill
from sources import define
from test_class_identity import receive
from waybill.integrations import pickle as engine


def send_in_turn(source, *changes):
    """Payloads of `value` after `source`, and after each change of its globals."""
    scope = define(textwrap.dedent(source) + "\ndef its_globals(): return globals()")
    payloads = [waybill.dumps(scope.value)]
    for change in changes:
        exec(change, scope.its_globals())
        payloads.append(waybill.dumps(scope.value))
    return payloads


RESULTS = """
results = []
class Job:
    def run(self): results.append('ran')
def task():
    results.clear()
    Job().run()
    return list(results)
value = task
"""


def test_a_task_and_the_methods_that_came_with_it_share_their_globals_each_time():
    program = "held = [load(0) for _ in range(5)]; answer = [f() for f in held[-1:]]"
    payload = waybill.dumps(define(RESULTS).task)

    assert receive([payload], "answer = [load(0)() for _ in range(5)]") == [["ran"]] * 5
    assert receive([payload], program) == [["ran"]]


def test_they_do_so_in_a_pickle_for_an_engine():
    data = engine.dumps(define(RESULTS).task)
    program = "import pickle\nanswer = [pickle.loads(data)() for _ in range(5)]"

    assert fresh_process.execute(program, data) == [["ran"]] * 5


def test_changed_globals_arrive_at_methods_that_are_there():
    source = """
    LIMIT = 1
    def helper(): return 'old'
    class K:
        def get(self): return LIMIT, helper()
    def task(k): return k.get()
    value = task, K()
    """
    change = "LIMIT = 2\ndef helper(): return 'new'"
    payloads = send_in_turn(source, change)
    program = """
answer = []
for i in (0, 1, 0, 1, 1, 0):
    task, k = load(i)
    answer.append(task(k))
"""

    old, new = (1, "old"), (2, "new")
    assert receive(payloads, program) == [old, new, old, new, new, old]


# The kinds of methods, and what they reach: how it is defined, how it is read.
REACHES = {
    "method": ("def m(self): return X", "k.m()"),
    "classmethod": ("m = classmethod(lambda cls: X)", "k.m()"),
    "staticmethod": ("m = staticmethod(lambda: X)", "k.m()"),
    "property": ("m = property(lambda self: X)", "k.m"),
    "cached property": (
        "m = functools.cached_property(lambda self: X)\n    m.__set_name__(None, 'm')",
        "k.m",
    ),
    "partialmethod": ("m = functools.partialmethod(lambda self, a: X, 1)", "k.m()"),
    "own kind of property": ("m = Property(lambda self: X)", "k.m"),
    "method of a class inside": (
        "class Inner:\n        def m(self): return X",
        "k.Inner().m()",
    ),
    "method of a base": ("", "k.base()"),
    "helper": ("def m(self): return helper()", "k.m()"),
    "wrapper": ("m = wrapping(lambda self: X)", "k.m()"),
    "default": ("def m(self, a=X): return a", "k.m()"),
    "keyword default": ("def m(self, *, a=X): return a", "k.m()"),
}


@pytest.mark.parametrize("reach", REACHES)
@pytest.mark.parametrize("value", ["1", "[1]", "'text'", "Other", "helper", "len"])
@pytest.mark.parametrize("sent", ["value = K()", "value = (K(), plain)"])
def test_what_methods_reach_is_what_came_last(reach, value, sent):
    body, read = REACHES[reach]
    source = f"""
import functools
class Other: pass
class Property(property): pass
def plain(): return X
def helper(): return X
def wrapping(f):
    @functools.wraps(f)
    def wrapper(self): return f(self)
    return wrapper
X = {value}
class Base:
    def base(self): return X
class K(Base):
    pass
    {body}
{sent}
"""
    if "default" in reach:
        change = f"X = 7\nK.m.__{reach.replace('keyword ', 'kw')}s__ = "
        change += "(7,)" if reach == "default" else "{'a': 7}"
    else:
        change = "X = 7"
    payloads = send_in_turn(source, change)
    program = f"""
answer = []
held = []
for i in (0, 0, 0, 1, 1, 1, 1, 0, 0, 1):
    value = load(i)
    k = value[0] if isinstance(value, tuple) else value
    held.append(k)
    answer.append((i, {read} == 7))
answer.append(len(set(map(type, held))) == 1)
"""

    answer = receive(payloads, program)

    assert answer == [(i, i == 1) for i in (0, 0, 0, 1, 1, 1, 1, 0, 0, 1)] + [True]


CHANGES = {
    "a list": ("X = []\ndef m(self): X.append(1); return len(X)", ""),
    "a global that it writes": (
        "X = 0\ndef m(self):\n    global X\n    X += 1\n    return X",
        "",
    ),
    "a global that a task writes": (
        "X = 0\ndef m(self): return X",
        "def task(k):\n    global X\n    X += 1\n    return k.m()",
    ),
    "a global that a task writes by name": (
        "X = 0\ndef m(self): return X",
        "def task(k):\n    X\n    globals()['X'] += 1\n    return k.m()",
    ),
    "a list in a closure": (
        "def make():\n    X = []\n    return lambda self: (X.append(1), len(X))[1]\n"
        "m = make()",
        "",
    ),
    "a number in a closure": (
        "def make():\n    X = 0\n    def m(self):\n        nonlocal X\n        X += 1\n"
        "        return X\n    return m\nm = make()",
        "",
    ),
    "a list as default": ("def m(self, X=[]): X.append(1); return len(X)", ""),
    "a list of a helper": (
        "X = []\ndef h(): X.append(1); return len(X)\ndef m(self): return h()",
        "",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_call_has_changed_is_not_there_when_the_same_comes_again(change):
    source, task = CHANGES[change]
    scope = define(f"{source}\n{task or 'def task(k): return k.m()'}")
    cls = type("K", (), {"m": scope.m, "__module__": "module_that_is_nowhere"})
    program = """
answer = []
for _ in range(6):
    task, k = load(0)
    answer.append(task(k) if callable(task) else k.m())
"""

    for value in [(scope.task, cls()), (1, cls())]:
        if task and value[0] == 1:
            continue
        assert receive([waybill.dumps(value)], program) == [1] * 6


def test_a_global_that_the_receiver_has_changed_is_what_the_payload_says():
    payload = waybill.dumps(define("X = 1\nclass K:\n def m(self): return X").K())
    program = """
answer = []
for _ in range(5):
    k = load(0)
    answer.append(k.m())
    k.m.__func__.__globals__['X'] = 5
    answer.append(k.m())
"""

    assert receive([payload], program) == [1, 5] * 5


def test_what_a_module_holds_is_looked_up_when_the_same_comes_again():
    from colorsys import rgb_to_hsv

    source = "class K:\n def m(self): return rgb_to_hsv(0, 0, 0)"
    payload = waybill.dumps(define(source, rgb_to_hsv=rgb_to_hsv).K())
    program = """
import colorsys
held = [load(0) for _ in range(4)]
first = held[-1].m()
colorsys.rgb_to_hsv = lambda *rgb: 'replaced'
answer = first, load(0).m()
"""

    assert receive([payload], program) == ((0.0, 0.0, 0), "replaced")


def test_what_a_call_makes_for_a_method_is_made_each_time():
    import colorsys

    class Setting:
        def __reduce__(self):
            return getattr, (colorsys, "SETTING", 1)

    scope = define("class K:\n def m(self): return X", X=Setting())
    program = """
import colorsys
answer = []
for colorsys.SETTING in (1, 1, 1, 1, 2, 2):
    answer.append(load(0).m())
"""

    assert receive([waybill.dumps(scope.K())], program) == [1, 1, 1, 1, 2, 2]


def test_two_that_closed_over_one_cell_do_so_again():
    source = """
    def make():
        count = 0
        class K:
            def get(self): return count
        def add():
            nonlocal count
            count += 1
        return K, add
    value = make()
    """
    program = """
answer = []
for _ in range(4):
    K, add = load(0)
    add()
    answer.append(K().get())
"""

    assert receive(send_in_turn(source), program) == [1] * 4


def test_state_of_the_class_stays_where_methods_do_not():
    source = """
    import functools
    X = [0]
    class K:
        count = 0
        @staticmethod
        @functools.lru_cache
        def cached(n): return n
        def m(self):
            X[0] += 1
            return X[0]
    value = K
    """
    program = """
K = load(0)
K.count = 5
K.new = 6
K.cached(1)
K().m()
load(0)
answer = K.count, K.new, K.cached.cache_info().currsize, K().m()
"""

    assert receive(send_in_turn(source), program) == (5, 6, 1, 1)


def test_a_class_that_comes_home_keeps_the_globals_of_its_methods():
    scope = define("X = []\nclass K:\n def m(self): return X")
    method = scope.K.m
    for there in [waybill.dumps(scope.K()), waybill.dumps((scope.K, 1))]:
        back = fresh_process.send(waybill.loads(there), "waybill.dumps(value)")

        for _ in range(4):
            waybill.loads(back)
            assert scope.K.m is method
            assert scope.K().m() is scope.X


def test_a_known_class_without_changes_is_not_made_anew():
    source = "X = 1\nclass K:\n def m(self): return X, K\nvalue = K()"
    program = """
held = [load(0) for _ in range(5)]
method = type(held[0]).__dict__['m']
again = load(0)
answer = type(again).__dict__['m'] is method
"""

    assert receive(send_in_turn(source), program)


@pytest.mark.parametrize("name", ["Able", "Widget"])  # Before and after "Base".
def test_a_class_that_its_own_base_leads_to_keeps_its_attributes(name):
    source = f"""
class Base:
    def build(self): return make()
class {name}(Base):
    size = 1
    def area(self): return self.size
def make(): return {name}
kinds = make, {name}, Base
"""
    payloads = [waybill.dumps(kind) for kind in define(source).kinds]
    program = """
for number in (0, 2, 0):
    load(number)
widget = load(1)()
answer = widget.size, widget.area(), widget.build() is type(widget)
"""

    assert receive(payloads, program) == (1, 1, True)
