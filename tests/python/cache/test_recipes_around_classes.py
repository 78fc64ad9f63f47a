"""Functions and objects around classes that arrived before.

A class stays, and keeps its methods with the globals that they came with; functions are
made anew, or read where that would show. Nobody may see the difference.
"""

import sys

import pytest
import waybill
from recipe_checks import PLACES, demand_alike, demand_served_as_read, function_of
from sources import define
from without_caches import answers_with_and_without_caches

pytestmark = pytest.mark.usefixtures("modules")

#: Functions that name classes, which are there.
AROUND_CLASSES = {
    "a class": "class C:\n def m(self): return 1\ndef f(): return C().m()",
    "a class that reaches more": "def h(): return D\nclass D: x = [1]\n"
    "class C(D):\n def m(self, a=2): return h(), module_one\ndef f(): return C",
    "classes inside classes": "class C:\n class D:\n  def m(self): return C\n"
    "def f(): return C, C.D",
    "a class in a default": "class C: pass\ndef f(a=C, b=(C, 1)): return a",
    "a class in a closure": "class C: pass\ndef outer():\n D = C\n"
    " def f(): return D\n return f\nf = outer()",
    "a class in annotations": "class C: pass\ndef f(a: C, b: int) -> C: return a",
    "bases that are names too": "from collections import OrderedDict as Base\n"
    "class C(Base):\n def m(self): return Base\ndef f(): return Base, C",
    "a name that a class had first": "from module_one import value\n"
    "class C:\n def m(self): return value, len\ndef f(a: int): return C, value",
    "an attribute set on a class": "class C: count = 0\ndef f(): C.count = 0",
    "methods of all kinds": "class C:\n @property\n def p(self): return h\n"
    " @classmethod\n def c(cls): return cls()\n @staticmethod\n def s(): return 1\n"
    " def i(self): return super().__init__\ndef h(): return 1\ndef f(): return C",
    "a dataclass": "import dataclasses\n@dataclasses.dataclass\nclass C:\n"
    " x: int = 1\ndef f(): return C(2)",
    "a dataclass with factories": "from dataclasses import dataclass, field\n"
    "@dataclass\nclass C:\n x: list = field(default_factory=list)\n"
    " y: int = field(default=1, kw_only=True)\ndef f(): return C()",
    "a named tuple": "from collections import namedtuple\n"
    "C = namedtuple('C', 'x y')\ndef f(): return C(1, 2), tuple.__new__",
    "a named tuple with types": "import typing\nclass C(typing.NamedTuple):\n"
    " x: int\n y: str = 'a'\n def m(self): return h\n"
    "def h(): return C\ndef f(): return C(1), h",
    "a class with other globals": "apart = {'__name__': 'apart', 'known': 1}\n"
    "exec('class C:\\n def m(self, a=(1, 2)): return len, known', apart)\n"
    "C = apart['C']\ndef f(): return C",
    "a class with other globals, and a function of these": "apart = "
    "{'__name__': 'apart'}\n"
    "exec('class C:\\n def m(self): return h\\ndef h(): return 1', apart)\n"
    "C, h = apart['C'], apart['h']\ndef f(): return C, h",
}

#: Functions that name what is no definition: such classes, and what reaches them, stand
#: in the value.
BESIDE_CLASSES = {
    "a class with an object": "class C:\n x = {'k': object()}\n"
    " def m(self): return self.x\ndef h(): return C\ndef f(): return h, C",
    "an enumeration": "import enum\nclass C(enum.Enum):\n A = 1\ndef f(): return C",
    "a class and a function in one cycle": "def outer():\n class C:\n"
    "  def m(self): return f\n def f(): return C\n return f\nf = outer()",
    "a global cycle": "class C:\n def m(self, n=1): return n and f(0)\n"
    "def f(n=1): return n and C().m(n)",
}

if sys.version_info >= (3, 14):  # From then on typing gives the annotations.
    BESIDE_CLASSES["a named tuple with types"] = AROUND_CLASSES.pop(
        "a named tuple with types"
    )

INSTANCES = {
    "of one class": "[C(n) for n in range(3)]",
    "inside others": "D(C(1), [C(2), {'k': C(3)}])",
    "with the classes": "[C, D(C, D), C(D(1, 2))]",
    "in a task": "(f, (D(C(1), 2),), {})",
    "in a task, shared": "(lambda c: (f, (c, [c]), {'k': D(c, c)}))(C(1))",
    "beside what is not plain": "(f, ([1], D(C([range(3)]), range(2)), C(1)), {})",
    "around themselves": "(lambda c: vars(c).update(x=[c, range(3)]) or (f, c))(C(1))",
    "in a task of another": "(g, (D(C(1), C(2)), C(3)), {'k': f})",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", AROUND_CLASSES)
def test_around_classes_it_is_the_function_that_reading_gives(name, place):
    payload = waybill.dumps(PLACES[place](function_of(AROUND_CLASSES[name])))
    demand_served_as_read(payload)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", BESIDE_CLASSES)
def test_beside_what_is_no_definition_it_is_the_function_that_reading_gives(
    name, place
):
    demand_alike(waybill.dumps(PLACES[place](function_of(BESIDE_CLASSES[name]))))


#: With these, code may run before all is built, and have to do with methods.
BESIDE_CODE = {
    "in what is not plain": "[f, {'k': [[1], slice(C(1), D(2, 3))]}, [C(4)]]",
    "beside an object": "(f, C(1), bytearray, complex(1, 2), Path('x'))",
}


@pytest.mark.parametrize("value", INSTANCES)
def test_instances_of_classes_that_name_others_are_those_that_reading_gives(value):
    demand_served_as_read(waybill.dumps(eval(INSTANCES[value], naming_others())))


@pytest.mark.parametrize("value", BESIDE_CODE)
def test_functions_and_classes_beside_code_are_those_that_reading_gives(value):
    demand_alike(waybill.dumps(eval(BESIDE_CODE[value], naming_others())))


def naming_others():
    scope = define("""
        from pathlib import PurePath as Path
        import module_one
        class C:
            def __init__(self, x): self.x = x
        class D:
            def __init__(self, x, y): self.x, self.y, self.c = x, y, C(y)
            def m(self): return module_one, h()
        def h(): return C
        def f(d): return D(d, h())
        def g(d): return C(d)
        """)
    return vars(scope)


#: What a function and methods share: whoever changes it, the others see it. In a
#: payload it is one thing, whose life ends with the payload.
SHARED = {
    "a global": """
        ticks = 0
        def tick():
            global ticks
            ticks += 1
        class C:
            def m(self): return ticks
        def f(c): tick(); return c.m()
        """,
    "a cell": """
        def outer():
            n = 0
            def tick():
                nonlocal n
                n += 1
                return n
            return tick
        tick = outer()
        class C:
            def m(self): return tick()
        def f(c): tick(); return c.m()
        """,
    "an attribute of a function": """
        def tick(): tick.count += 1
        tick.count = 0
        class C:
            def m(self): return tick.count
        def f(c): tick(); return c.m()
        """,
    "an attribute that a function gets": """
        def tick(): return getattr(tick, 'count', 0)
        class C:
            def m(self): return tick()
        def f(c): tick.count = 5; return c.m()
        """,
    "an attribute that is set under another name": """
        def tick(): return tick.count
        tick.count = 0
        def bump(function): function.count += 1
        class C:
            def m(self): return tick()
        def f(c): bump(tick); return c.m()
        """,
    "an attribute that a method sets": """
        def tick(): return getattr(tick, 'count', 0)
        class C:
            def m(self): tick.count = 5
        def f(c): c.m(); return tick()
        """,
    "an attribute that is deleted": """
        def tick(): return hasattr(tick, 'names')
        tick.names = ('x',)
        class C:
            def m(self): return tick()
        def f(c):
            del tick.names
            return c.m()
        """,
    "a cell that a method changes": """
        def outer():
            n = 0
            def tick(): return n
            class C:
                def m(self):
                    nonlocal n
                    n += 1
            return tick, C
        tick, C = outer()
        def f(c): c.m(); return tick()
        """,
    "a helper as a key": """
        def add(a, b): return a + b
        class C:
            def m(self): return add
        def f(c): return {add: 'add'}.get(c.m()), c.m() is add
        """,
    "a helper under another name": """
        def tick(): return getattr(tick, 'count', 0)
        class C:
            def m(self): return tick()
        def f(c):
            t = tick
            t.count = 5
            return c.m()
        """,
    "a helper that a default has": """
        def tick(): return 1
        class C:
            def m(self, t=tick): return t
        def f(c): return c.m() is tick
        """,
    "a frame's globals": """
        import sys
        N = 0
        class C:
            def m(self): return N
        def f(c):
            sys._getframe().f_globals['N'] = 5
            return c.m()
        """,
    "a class": """
        class C:
            count = 0
            def m(self): C.count += 1
        def f(c): c.m(); c.m(); return C.count
        """,
}

OUTCOMES = """
def outcome(call, arguments):
    try:
        return call(*arguments)
    except Exception as error:
        return repr(error)

payloads, calls_first = sent
held = []
answer = []
for number, payload in enumerate(payloads):
    function, arguments = waybill.loads(payload)
    held.append(function)
    if calls_first or number > 4:
        answer.append(outcome(function, arguments))
    if number == 7:
        answer.append(outcome(held[0], arguments))
"""


@pytest.mark.parametrize("calls_first", [True, False])
@pytest.mark.parametrize("what", SHARED)
def test_what_a_function_and_methods_share_is_one_in_each_payload(what, calls_first):
    scope = define(SHARED[what])
    payloads = [waybill.dumps((scope.f, [scope.C()])) for _ in range(10)]

    found, expected = answers_with_and_without_caches(OUTCOMES, payloads, calls_first)

    assert found == expected


#: What is changed at a worker between two payloads, and must be as without caches.
AT_A_WORKER = {
    "an attribute": "cls.size = 9",
    "a new attribute": "cls.more = 9",
    "a method": "cls.m = lambda self: 'of the worker'",
    "the code of a method": "cls.m.__code__ = (lambda self: 'of the worker').__code__",
    "an attribute that is gone": "vars(cls).get('size') and delattr(cls, 'size')",
    "an attribute of a class inside": "cls.Inner.size = 9",
    "a class inside": "cls.Inner = type('Inner', (), {'size': 8})",
    "a global of methods": "cls.m.__globals__['LIMIT'] = 9",
    "a helper of methods": "cls.m.__globals__['helper'] = lambda: 9",
    "the code of a helper": "cls.m.__globals__['helper'].__code__ = "
    "(lambda: 9).__code__",
    "a default of a helper": "cls.m.__globals__['helper'].__defaults__ = (9,)",
    "bases": "cls.__bases__ = (type('Other', (), {'size': 7}),)",
    "what is imported": "import module_one; module_one.value = 9",
}

CHANGED = """
import sys, types
module = sys.modules["module_one"] = types.ModuleType("module_one")
module.value = 1
payloads, change = sent
answer = []
for number, payload in enumerate(payloads):
    function, argument = waybill.loads(payload)
    try:
        answer.append(function(argument))
    except Exception as error:
        answer.append(repr(error))
    if number % 6 == 5:
        cls = function.__globals__["C"]
        exec(change)
answer = answer, waybill.cache_info()["received"]["hits"]
"""


@pytest.mark.parametrize("change", AT_A_WORKER)
def test_a_class_that_a_worker_has_changed_is_as_without_caches(change):
    scope = define("""
        import module_one
        LIMIT = 3
        def helper(n=1): return LIMIT, n, module_one.value
        class Base:
            size = 0
        class C(Base):
            size = 1
            class Inner: size = 2
            def m(self): return helper(), self.size, self.Inner.size
        def f(x): return C().m(), helper(), C.__mro__[1].__name__, x
        """)
    payloads = [waybill.dumps((scope.f, n)) for n in range(18)]

    (found, hits), (expected, _) = answers_with_and_without_caches(
        CHANGED, payloads, AT_A_WORKER[change]
    )

    assert found == expected
    assert hits > 0
