"""Methods of a class that is there get the globals of the function that comes with it.

A payload that is read makes them anew. The cache leaves them where nobody could see the
difference, and gives them other globals.
"""

import datetime
import textwrap

import pytest
import waybill
from recipe_checks import function_of
from sources import define
from without_caches import answers_with_and_without_caches

pytestmark = pytest.mark.usefixtures("modules")

#: Programs of which `C` is a class that `f` names, without properties of which a worker
#: could not see whether they are made anew.
SERVED = {
    "a method": "class C:\n def m(self): return 1\ndef f(): return C().m()",
    "an imported name": "from module_one import value\nclass C:\n"
    " def m(self): return value\ndef f(): return C().m()",
    "a helper of both": "def h(): return 2\nclass C:\n def m(self): return h()\n"
    "def f(): return C().m(), h()",
    "helpers of helpers": "S = 3\ndef g(n): return h(n - 1) if n else S\n"
    "def h(n=2): return g(n)\nclass C:\n def m(self): return h()\n"
    "def f(): return C().m()",
    "a class of a class": "class D:\n x = 4\nclass C:\n def m(self): return D.x\n"
    "def f(): return C().m()",
    "methods of all kinds": "class C:\n def m(self): return 5\n @property\n"
    " def p(self): return 1\n @classmethod\n def c(cls): return cls\n"
    " @staticmethod\n def s(): return 2\ndef f(): return C().m()",
    "an abstract class": "import abc\nclass B(abc.ABC):\n @abc.abstractmethod\n"
    " def m(self): ...\nclass C(B):\n def m(self): return 7\ndef f(): return C().m()",
    "super": "class B:\n def m(self): return 6\nclass C(B):\n"
    " def m(self): return super().m()\n def n(self): return super()\n"
    "def f(): return C().m()",
}

#: Says of each payload whether methods are those of the one before, and whether they
#: have the globals of the function.
LOADED = """
import sys, types
module = sys.modules["module_one"] = types.ModuleType("module_one")
module.value = 1
payloads, = sent
answer, before = [], None
for payload in payloads:
    f, *others = waybill.loads(payload)
    cls = f.__globals__["C"]
    shared = cls.m.__globals__ is f.__globals__
    answer.append((id(cls.m) == before, shared, f()))
    before = id(cls.m)
"""


#: What comes with the function. Building a date calls its type.
BESIDE = {"nothing": (), "a date": (datetime.date(2026, 1, 1),)}


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("name", SERVED)
def test_methods_have_the_globals_of_the_function_of_each_payload(name, beside):
    payload = waybill.dumps([function_of(SERVED[name]), *BESIDE[beside]])

    found, expected = answers_with_and_without_caches(LOADED, [payload] * 6)

    assert [shared for _, shared, _ in found] == [True] * 6
    assert [value for *_, value in found] == [value for *_, value in expected]
    # Nothing is read again: the methods stay.
    assert [stays for stays, *_ in found[3:]] == [True] * 3


#: What a worker does with a class between payloads, of which one is served then.
HELD = {
    "a method": "kept = cls.m; call = lambda: kept(None)",
    "a bound method": "call = cls().m",
    "a static method": "call = cls.s",
    "a class method": "call = cls.c",
    "a static method as it is": "kept = vars(cls)['s']; call = lambda: kept()",
    "a property": "kept = vars(cls)['p']; call = lambda: kept.fget(None)",
    "a class with a property": "kept = type('Sub', (), {'q': cls.p}); "
    "call = lambda: kept().q",
    "a generator of a method": "call = iter(cls().rows()).__next__; call()",
    "a generator of a static method": "call = iter(cls.static_rows()).__next__; call()",
    "the function": "call = f",
    "an object": "kept = cls(); call = lambda: (kept.m(), kept.p)",
    "the text of a method": "cls.m.__doc__ = 'text'; call = lambda: cls.m.__doc__",
    "the name of a method": "cls.m.__name__ = 'n'; call = lambda: cls.m.__name__",
    "annotations": "cls.m.__annotations__ = {'a': 1}; "
    "call = lambda: cls.m.__annotations__",
    "nothing": "call = int",
}

#: The globals of the last payload are others: who holds an older method sees its own.
CALLED_LATER = """
payloads, held = sent
answer = []
for number, payload in enumerate(payloads):
    f = waybill.loads(payload)
    cls = f.__globals__["C"]
    if number == 4: exec(held)
f.__globals__["LIMIT"] = 9
junk = [{"name": number} for number in range(1000)]
answer = [f(), cls().m(), cls.s(), call()], waybill.cache_info()["received"]["hits"]
"""


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("count", [6, 7])
def test_who_holds_a_method_sees_the_globals_that_it_came_with(held, count):
    scope = define("""
        LIMIT = -1
        class C:
            def m(self): return LIMIT
            @staticmethod
            def s(): return LIMIT
            @classmethod
            def c(cls): return LIMIT
            @property
            def p(self): return LIMIT
            def rows(self):
                for _ in range(3): yield LIMIT
            @staticmethod
            def static_rows():
                for _ in range(3): yield LIMIT
        def f(): return C().m(), LIMIT
        """)
    payload = waybill.dumps(scope.f)

    (found, hits), (expected, _) = answers_with_and_without_caches(
        CALLED_LATER, [payload] * count, HELD[held]
    )

    assert found == expected
    assert hits > 0


#: Programs of which a method runs, or code, while they are loaded.
RUNNING = {
    "a method that loads": """
        class C:
            @staticmethod
            def m(payloads, loads):
                junk = []
                for payload in payloads:
                    loads(payload)
                    junk += [{"name": number} for number in range(100)]
                return LIMIT
        def f(): return C, LIMIT
        """,
    "a state that starts a generator": """
        class C:
            def __getstate__(self): return {}
            def __setstate__(self, state):
                self.rows = self.make()
                next(self.rows)
            def make(self):
                for _ in range(3): yield LIMIT
            def m(self): return next(self.rows)
        def f(): return C, LIMIT
        """,
    "a state that keeps a method": """
        class C:
            def __getstate__(self): return {}
            def __setstate__(self, state): self.kept = self.n
            def n(self): return LIMIT
            def m(self): return self.kept()
        def f(): return C, LIMIT
        """,
    "a state that changes a method": """
        class C:
            def __getstate__(self): return {}
            def __setstate__(self, state): type(self).m = lambda self: "changed"
            def m(self): return LIMIT
        def f(): return C, LIMIT
        """,
    "a state that changes a global": """
        class C:
            def __getstate__(self): return {}
            def __setstate__(self, state): self.m.__globals__["LIMIT"] = 8
            def m(self): return LIMIT
        def f(): return C, LIMIT
        """,
    "a state that adds an attribute": """
        class C:
            count = 0
            def __getstate__(self): return {}
            def __setstate__(self, state): type(self).count += 1
            def m(self): return LIMIT, self.count
        def f(): return C, LIMIT
        """,
    "a state that keeps its class": """
        class C:
            def __getstate__(self): return {}
            def __setstate__(self, state): self.kept = type(self), type(self).__call__
            def __call__(self): return LIMIT
            def m(self): return self.kept[1](self), self.kept[0] is type(self)
        def f(): return C, LIMIT
        """,
    "a state that deletes a global": """
        class C:
            def __getstate__(self): return {}
            def __setstate__(self, state):
                self.kept = self.m
                self.m.__globals__.pop("OTHER", None)
            def m(self): return LIMIT, "OTHER" in self.kept.__globals__
        OTHER = 1
        def f(): return C, LIMIT, OTHER
        """,
    "a state that calls": """
        def helper(): return LIMIT
        class C:
            def __getstate__(self): return {}
            def __setstate__(self, state): self.seen = helper(), self.m.__globals__
            def m(self): return self.seen[0], self.seen[1]["LIMIT"], helper()
        def f(): return C, helper()
        """,
}

RUN = """
payloads, = sent
for payload in payloads[:4]: c, f = waybill.loads(payload)
cls, answer = f.__globals__["C"], []
if c is None:
    answer.append(cls.m(payloads, waybill.loads))
else:
    for payload in payloads:
        c, f = waybill.loads(payload)
        junk = [{"name": number} for number in range(1000)]
        f.__globals__["LIMIT"] = 9
        answer.append(c.m())
        f.__globals__["LIMIT"] = 3
"""


@pytest.mark.parametrize("name", RUNNING)
@pytest.mark.parametrize("count", [8, 9, 10])
def test_a_method_that_runs_while_payloads_come_keeps_its_globals(name, count):
    scope = define("LIMIT = 3\n" + textwrap.dedent(RUNNING[name]))
    state = scope.C() if "state" in name else None
    payload = waybill.dumps([state, scope.f])

    found, expected = answers_with_and_without_caches(RUN, [payload] * count)

    assert found == expected


def test_a_function_that_was_put_into_a_class_stays_that_of_its_payload():
    scope = define("""
        LIMIT = 3
        class C:
            def __getstate__(self): return vars(self).copy()
            def __setstate__(self, state):
                if state["number"] == 1: type(self).callback = state["f"]
            def m(self): return LIMIT
        def f(): return C, LIMIT
        """)
    payloads = []
    for number in range(9):
        made = scope.C()
        made.number, made.f = number, scope.f
        payloads.append(waybill.dumps([scope.f, made]))
    program = """
payloads, = sent
answer = []
for number, payload in enumerate(payloads):
    f, value = waybill.loads(payload)
    if number == 1: kept = f
    if number == 3: kept.__globals__["LIMIT"] = 100
    if number: answer.append((kept()[1], kept.__globals__ is f.__globals__, f()[1]))
    del f, value
"""

    found, expected = answers_with_and_without_caches(program, payloads)

    assert found == expected
