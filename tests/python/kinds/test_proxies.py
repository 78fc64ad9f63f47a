"""Objects that answer for others: their type counts, and not what they say."""

import fractions
import threading
import unittest.mock

import fresh_process
import pytest
import waybill
from claims_in_text import read_claims
from sources import define

#: As werkzeug.local and flask have it.
LOCAL_PROXY = """
import contextvars, operator

class Forwarded:
    def __init__(self, function=None, fallback=None):
        self.function, self.fallback = function, fallback

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        try:
            current = instance._get_current()
        except RuntimeError:
            if self.fallback is None:
                raise
            return self.fallback(instance)
        if self.function is None:
            return current.__class__
        return lambda *given: self.function(current, *given)

    def __call__(self, instance, *given):
        return self.__get__(instance, type(instance))(*given)

class Proxy:
    __slots__ = ("__wrapped", "_get_current")

    def __init__(self, variable):
        def get():
            try:
                return variable.get()
            except LookupError:
                raise RuntimeError("object is not bound") from None

        object.__setattr__(self, "_Proxy__wrapped", variable)
        object.__setattr__(self, "_get_current", get)

    __class__ = Forwarded(fallback=type)
    __getattr__ = Forwarded(getattr)
    __setattr__ = Forwarded(setattr)
    __len__ = Forwarded(len)
    __getitem__ = Forwarded(operator.getitem)

variable = contextvars.ContextVar("variable")
proxy = Proxy(variable)
wrapped = lambda: object.__getattribute__(proxy, "_Proxy__wrapped")

def items():
    return len(proxy), proxy["a"]
"""


@pytest.mark.parametrize("bound", [False, True])
def test_proxy_of_a_context_variable_arrives_as_a_proxy(bound):
    made = define(LOCAL_PROXY)
    if bound:
        made.variable.set({"a": 1})
        assert made.proxy.__class__ is dict

    program = """
functions = waybill.loads(data)
functions[1]().set({"a": 5, "b": 6})
answer = functions[0]()
"""
    payload = waybill.dumps([made.items, made.wrapped])

    assert fresh_process.execute(program, payload) == (2, 5)


def test_proxy_of_an_object_that_takes_itself_apart_arrives_as_a_proxy():
    made = define(LOCAL_PROXY)
    made.variable.set(ValueError("which has a __reduce__ of its own"))

    loaded = waybill.loads(waybill.dumps({"key": made.proxy}))["key"]

    assert type(loaded) is type(made.proxy)


def test_what_a_proxy_holds_and_cannot_travel_is_named():
    made = define(LOCAL_PROXY)
    object.__setattr__(made.proxy, "_get_current", threading.Lock())

    with pytest.raises(waybill.EncodeError) as caught:
        waybill.dumps([{"key": made.proxy}])

    assert caught.value.path.startswith("obj[0]['key']._get_current")


TELLS = """
import types

class Liar:
    def __init__(self, x): self.x = x
    @property
    def __class__(self): return told()
"""


@pytest.mark.parametrize(
    "told",
    [
        "int",
        "dict",
        "type",
        "ValueError",
        "types.FunctionType",
        "types.ModuleType",
        "0/0",
    ],
)
def test_object_that_tells_another_class_travels_as_its_type_is(told):
    made = define(TELLS + f"def told(): return {told}")

    program = """
value = waybill.loads(data)
answer = type(value).__name__, value.x
"""
    payload = waybill.dumps(made.Liar([1]))
    assert fresh_process.execute(program, payload) == ("Liar", [1])


def test_proxies_of_builtin_containers_keep_what_they_hold():
    made = define("""
        class List(list):
            @property
            def __class__(self): return int
        class Dict(dict):
            @property
            def __class__(self): return int
        class New(tuple):
            def __new__(cls, *args): return super().__new__(cls, args)
            def __getnewargs__(self): return tuple(self)
            @property
            def __class__(self): return int
        value = List([1]), Dict(a=2), New(3, 4)
        value[0].x = 5
    """)
    program = """
value = waybill.loads(data)
answer = list(value[0]), value[0].x, dict(value[1]), tuple(value[2])
answer += tuple(type(v).__name__ for v in value)
"""

    answer = fresh_process.execute(program, waybill.dumps(made.value))

    assert answer == ([1], 5, {"a": 2}, (3, 4), "List", "Dict", "New")


# ---- Objects that answer for everything


ANSWERING = """
proxy that says how it is reduced is asked
    class Proxy:
        def __init__(self, target): self.target = target
        @property
        def __class__(self): return type(self.target)
        def __reduce__(self): return list, ([7],)
        def __getattr__(self, name): return getattr(self.target, name)
    value = Proxy("text")
    >>> value
    [7]

getattr by what is not there yet is not asked
    class Dict:
        def __init__(self, target): self.target = target
        def __getattr__(self, name): return self.target[name]
    class Slots:
        __slots__ = ("target",)
        def __init__(self, target): object.__setattr__(self, "target", target)
        def __getattr__(self, name): return getattr(self.target, name)
        def __setattr__(self, name, value): setattr(self.target, name, value)
    value = [Dict({"a": 1}), Slots(Dict({"b": 2}))]
    >>> (value[0].a, value[1].b)
    1, 2

getattr that has every name takes no state away
    class All:
        def __getattr__(self, name): return lambda *args, **kwargs: self
    value = All()
    value.x = 1
    >>> value.x
    1

setstate of a class with a getattr is called
    class Named:
        def __getattr__(self, name): return name
        def __getstate__(self): return [1]
        def __setstate__(self, state): self.state = state
    value = Named()
    >>> value.state
    [1]

setattr of a class is not called for its slots
    class Watching:
        __slots__ = ("a", "seen")
        def __setattr__(self, name, value):
            object.__setattr__(self, name, value)
            object.__setattr__(self, "seen", name)
    value = Watching()
    object.__setattr__(value, "a", 1)
    >>> (value.a, hasattr(value, 'seen'))
    1, False
"""


@pytest.mark.parametrize("source, expression, expected", read_claims(ANSWERING))
def test_answer_for_everything_does_no_harm(source, expression, expected):
    assert fresh_process.send(define(source).value, expression) == expected


@pytest.mark.parametrize(
    "body",
    ["return lambda *args, **kwargs: self", "return self", "raise RuntimeError(name)"],
)
def test_getattribute_that_lies_is_an_error_with_the_path(body):
    made = define(f"""
        class Liar:
            def __getattribute__(self, name): {body}
            def __call__(self, *args, **kwargs): return self
        value = Liar()
    """)

    for dumps in (
        waybill.dumps,
        waybill.fingerprint,
        lambda obj: waybill.dumps(obj, replace="fresh"),
        lambda obj: waybill.dumps(obj, by_value=[fresh_process]),
    ):
        with pytest.raises(waybill.EncodeError) as caught:
            dumps({"key": [made.value]})
        assert caught.value.path.startswith("obj['key'][0]")


# ---- The libraries


@pytest.mark.parametrize("spec", [None, "dict", "ValueError", "threading.Thread"])
@pytest.mark.parametrize("kind", ["Mock", "MagicMock", "NonCallableMock"])
def test_mocks_travel(kind, spec):
    spec = spec and eval(spec)
    mock = getattr(unittest.mock, kind)(spec=spec)

    loaded = waybill.loads(waybill.dumps(mock))

    assert isinstance(loaded, spec or unittest.mock.NonCallableMock)


def test_calls_of_mocks_travel():
    mock = unittest.mock.Mock()
    mock.method(1, key=[2])

    expression = "value == [unittest.mock.call(1, key=[2])]"
    expression = f"__import__('unittest.mock') and {expression}".replace(
        "unittest.mock.call", "sys.modules['unittest.mock'].call"
    )
    assert fresh_process.send(list(mock.method.call_args_list), expression)


def test_proxies_of_werkzeug_travel():
    local = pytest.importorskip("werkzeug.local")
    import contextvars

    variable = contextvars.ContextVar("variable")
    namespace = local.Local()
    namespace.x = 1
    for value in local.LocalProxy(variable), namespace, namespace("x"):
        assert type(waybill.loads(waybill.dumps(value))) is type(value)
    variable.set({"a": 1})
    assert type(waybill.loads(waybill.dumps(local.LocalProxy(variable)))) is not dict


def test_proxies_of_celery_arrive_as_what_they_stand_for():
    celery = pytest.importorskip("celery.local")

    found = fractions.Fraction(1, 3)
    for kind in celery.Proxy, celery.PromiseProxy:
        assert waybill.loads(waybill.dumps(kind(lambda: found))) == found


def test_proxies_of_wrapt_are_named():
    wrapt = pytest.importorskip("wrapt")

    with pytest.raises(waybill.EncodeError, match=r"obj\['key'\].*__reduce__"):
        waybill.dumps({"key": wrapt.ObjectProxy([1])})
