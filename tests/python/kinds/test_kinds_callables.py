"""Callables and descriptors travel by value: functools, methods, context managers."""

import abc
import builtins
import contextlib
import functools
import sys

import fresh_process
import pytest
import waybill
from claims_in_text import read_claims
from sources import define


def arrive(source, expression):
    """What `expression` makes of the `value` that `source` defined, elsewhere."""
    made = define(source, abc=abc, contextlib=contextlib, functools=functools)
    return fresh_process.send(made.value, expression)


# ---- functools


FUNCTIONS = """
partial keeps its keywords
    def f(*args, **kwargs): return args, kwargs
    value = functools.partial(f, 1, key=2)
    value.note = 3
    >>> value(4, other=5), value.note
    ((1, 4), {"key": 2, "other": 5}), 3

subclass of partial arrives
    class P(functools.partial):
        def twice(self): return self(), self()
    value = P(lambda x: x, 1)
    >>> value.twice()
    1, 1

partialmethod works in its class
    class C:
        def f(self, a, *, b): return a, b
        g = functools.partialmethod(f, 1, b=2)
    value = C()
    >>> value.g()
    1, 2

partialmethod arrives alone
    value = functools.partialmethod(lambda self, x: x, 5)
    >>> value.__get__(1)()
    5

recursive cached function arrives
    @functools.lru_cache
    def value(n): return n if n < 2 else value(n - 1) + value(n - 2)
    >>> value(50), value.cache_info().hits > 0
    12586269025, True

singledispatchmethod works in its class
    class C:
        @functools.singledispatchmethod
        def f(self, x): return "object"
        @f.register
        def _(self, x: int): return "int"
        @functools.singledispatchmethod
        @classmethod
        def g(cls, x): return cls.__name__
    value = C()
    >>> value.f(1), value.f(''), value.g(1)
    "int", "object", "C"

cached property works and caches
    class C:
        calls = 0
        @functools.cached_property
        def p(self):
            "doc"
            self.calls += 1
            return [self.calls]
    value = C()
    >>> value.p, value.p is value.p, type(value).p.__doc__
    [1], True, "doc"

chain of wraps arrives
    def twice(f):
        @functools.wraps(f)
        def g(x): return f(f(x))
        return g
    @twice
    @twice
    def value(x):
        "doc"
        return x + 1
    >>> value(0), value.__doc__, value.__wrapped__.__wrapped__(0)
    4, "doc", 1

cmp to key arrives
    value = functools.cmp_to_key(lambda a, b: b - a)
    >>> sorted([1, 3, 2], key=value)
    [3, 2, 1]

total ordering class arrives
    @functools.total_ordering
    class C:
        def __init__(self, x): self.x = x
        def __eq__(self, other): return self.x == other.x
        def __lt__(self, other): return self.x < other.x
    value = C(1), C(2)
    >>> value[0] <= value[1], value[0] > value[1]
    True, False
"""


@pytest.mark.parametrize("source, expression, expected", read_claims(FUNCTIONS))
def test_function_of_functools_arrives(source, expression, expected):
    assert arrive(source, expression) == expected


@pytest.mark.skipif(sys.version_info < (3, 14), reason="placeholders are of 3.14")
def test_partial_keeps_its_placeholders():
    source = """
    value = functools.partial(lambda *a: a, functools.Placeholder, 2)
    """

    assert arrive(source, "value(1)") == (1, 2)


@pytest.mark.parametrize("decorator", ["lru_cache(maxsize=3, typed=True)", "cache"])
def test_cache_keeps_its_settings_and_no_results(decorator):
    source = f"""
    @functools.{decorator}
    def value(x): return x + 1
    value(1)
    """
    expected = {"maxsize": None, "typed": False}
    if decorator != "cache":
        expected = {"maxsize": 3, "typed": True}

    answer = arrive(
        source, "value.cache_info().currsize, value(2), value.cache_parameters()"
    )

    assert answer == (0, 3, expected)


DISPATCH = """
class Own: pass
@functools.singledispatch
def f(x): return "object"
@f.register
def _(x: int): return "int"
@f.register(Own)
def _(x): return "own"
f.note = 1
"""


DISPATCHING = """
singledispatch dispatches on classes that travel
    value = f, Own()
    >>> value[0](1), value[0](''), value[0](value[1])
    "int", "object", "own"

singledispatch takes registrations after loading
    value = f
    >>> [value.register(str, lambda x: 'str'), value(''), value(1)][1:]
    ["str", "int"]

singledispatch keeps its names and attributes
    value = f
    >>> value.__name__, value.note, value.__wrapped__(1)
    "f", 1, "object"
"""


@pytest.mark.parametrize(
    "source, expression, expected", read_claims(DISPATCHING, start=DISPATCH)
)
def test_single_dispatch_arrives(source, expression, expected):
    assert arrive(source, expression) == expected


def test_singledispatch_is_sent_without_calls_in_its_cache():
    scope = define(DISPATCH + "value = f", functools=functools)

    before = waybill.dumps(scope.value)
    scope.value(True)

    assert waybill.dumps(scope.value) == before


# ---- Context managers

MANAGER = """
log = []
@contextlib.contextmanager
def manager(*args, **kwargs):
    log.append((args, kwargs))
    yield len(log)
"""


def test_context_manager_function_arrives():
    source = MANAGER + "value = manager"

    assert arrive(source, "value(1).__enter__()") == 1


def test_function_decorated_with_a_context_manager_arrives():
    source = (
        MANAGER
        + """
@manager(1, key=2)
def f(x): return x, list(log)
value = f
"""
    )

    expected = ((1, [((1,), {"key": 2})]), [((1,), {"key": 2})] * 2)
    assert arrive(source, "value(1), value(2)[1]") == expected


def test_context_manager_that_was_not_entered_arrives():
    source = MANAGER + "value = manager()"

    assert arrive(source, "value.__enter__(), value.__exit__(None, None, None)") == (
        1,
        False,
    )


def test_context_manager_that_was_entered_is_refused():
    value = define(MANAGER + "value = manager()", contextlib=contextlib).value
    value.__enter__()

    with pytest.raises(waybill.EncodeError, match="entered"):
        waybill.dumps(value)


def test_async_context_manager_arrives():
    source = """
    @contextlib.asynccontextmanager
    async def manager(): yield 5
    value = manager()
    """

    program = "__import__('asyncio').run(value.__aenter__())"

    assert arrive(source, program) == 5


@pytest.mark.parametrize(
    "made, expression, expected",
    [
        ("contextlib.nullcontext(3)", "value.__enter__()", 3),
        ("contextlib.suppress(KeyError)", "value.__exit__(KeyError, 0, 0)", True),
        ("contextlib.closing([])", "value.thing", []),
    ],
)
def test_context_manager_object_arrives(made, expression, expected):
    assert arrive(f"value = {made}", expression) == expected


# ---- Methods

OWN = """
class C:
    def __init__(self, x): self.x = x
    def m(self): return self.x
    @classmethod
    def c(cls): return cls.__name__
    @staticmethod
    def s(): return 7
    @property
    def p(self): return self.x
    __slots__ = ("x", "y")
class D(C):
    def m(self): return super().m() + 1
"""


@pytest.mark.parametrize(
    "made, expression, expected",
    [
        ("C(5).m", "value()", 5),
        ("C.m", "value.__qualname__", "C.m"),
        ("D.c", "value()", "D"),
        ("C(1).c", "value()", "C"),
        ("C.s", "value()", 7),
        ("D(1).m", "value()", 2),
        ("C(8), C.p", "value[1].fget(value[0])", 8),
        ("C(8), C.x", "value[1].__get__(value[0])", 8),
        ("C(8), C.__dict__['c']", "value[1].__get__(value[0])()", "C"),
        ("super(D, D(3))", "value.m()", 3),
        ("super(D, D)", "value.c()", "D"),
        ("super(D)", "value.__thisclass__.__name__", "D"),
        ("staticmethod(lambda: 3)", "value()", 3),
        ("classmethod(lambda cls: cls)", "value.__get__(1, int)().__name__", "int"),
        ("property(lambda s: 3, doc='d')", "value.fget(0), value.__doc__", (3, "d")),
    ],
)
def test_method_of_a_class_by_value_arrives(made, expression, expected):
    assert arrive(OWN + f"value = {made}", expression) == expected


def test_abstract_methods_stay_abstract():
    source = """
    class C(abc.ABC):
        @property
        @abc.abstractmethod
        def p(self): pass
        @classmethod
        @abc.abstractmethod
        def c(cls): pass
    value = C
    """

    assert arrive(source, "sorted(value.__abstractmethods__)") == ["c", "p"]


def test_methods_of_one_object_share_it():
    scope = define(OWN + "o = C(1)\nvalue = o.m, o.m, o")

    answer = fresh_process.send(
        scope.value, "value[0].__self__ is value[1].__self__ is value[2]"
    )

    assert answer is True


@pytest.mark.parametrize(
    "made, expression, expected",
    [
        ("[3, 1].index", "value(1)", 1),
        ("'a-b'.split", "value('-')", ["a", "b"]),
        ("{1: 2}.get", "value(1)", 2),
        ("dict.fromkeys", "value([1])", {1: None}),
        ("list.append", "value.__qualname__", "list.append"),
        ("int.__add__", "value(1, 2)", 3),
        ("(5).__add__", "value(2)", 7),
        ("[4].__getitem__", "value(0)", 4),
        ("object.__init__", "value.__qualname__", "object.__init__"),
        ("list.__new__", "value(list)", []),
        ("object.__new__", "value(object).__class__.__name__", "object"),
        ("dict.__dict__['fromkeys']", "value.__get__(None, dict)([1])", {1: None}),
        ("bytes.__dict__['maketrans']", "value.__func__(b'a', b'b')[97]", 98),
        ("type.__dict__['__dict__']", "sorted(value.__get__(bool))[0]", "__and__"),
        ("int.__dict__['real']", "value.__get__(5)", 5),
        ("type(lambda: 0).__dict__['__closure__']", "value.__name__", "__closure__"),
        ("len", "value([1])", 1),
        ("print", "value.__name__", "print"),
        ("int", "value('3')", 3),
        ("__import__('math').sqrt", "value(4)", 2.0),
        ("__import__('time').time", "value() > 0", True),
        ("__import__('datetime').datetime.now", "value().year > 2000", True),
        ("__import__('collections').OrderedDict.fromkeys", "len(value([1]))", 1),
        ("type.__subclasses__", "value.__name__", "__subclasses__"),
        ("object.__subclasshook__", "value.__name__", "__subclasshook__"),
        ("dict.__class_getitem__", "str(value(int))", "dict[int]"),
        ("__import__('operator').itemgetter(1, 2)", "value('abc')", ("b", "c")),
        ("__import__('operator').attrgetter('real', 'imag')", "value(1)", (1, 0)),
        ("__import__('operator').methodcaller('split', sep='-')", "value('a-b')",
         ["a", "b"]),
    ],
)  # fmt: skip
def test_builtin_callable_arrives(made, expression, expected):
    assert arrive(f"value = {made}", expression) == expected


@pytest.mark.parametrize("method", ["dict.fromkeys", "str.maketrans", "list.__new__"])
def test_method_of_a_type_in_c_is_reduced_once(method):
    class Key:
        """Is looked at whenever getattr is looked up, as each reduction does."""

        def __hash__(self):
            return hash("getattr")

        def __eq__(self, name):
            looked_up.append(name)
            return False

    looked_up = []
    scope = {"__builtins__": {Key(): None, **vars(builtins)}, "dumps": waybill.dumps}
    looked_up.clear()

    data = eval(f"dumps({method})", scope)

    assert looked_up.count("getattr") == 1
    assert waybill.loads(data) == eval(method)


def test_methods_of_a_c_class_subclass_bind_to_the_object():
    source = """
    class L(list):
        pass
    one = L([1])
    value = one.append, one
    """

    expected = [None, [1, 2]]
    assert arrive(source, "[value[0](2), list(value[1])]") == expected


def test_bound_append_keeps_its_list():
    source = "one = []\nvalue = one.append, one"

    assert arrive(source, "[value[0](2), value[1]]") == [None, [2]]
