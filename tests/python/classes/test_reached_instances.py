"""Instances among the attributes of their own class, or of what its methods reach.

They arrive with a class that is not complete yet.
"""

import fresh_process
import pytest
import waybill
from sources import define
from test_class_identity import receive

# How the only instance is made, and where it is kept.
SINGLETONS = {
    "None first": """
        _instance = None
        def __new__(cls):
            if cls._instance is None:
                cls._instance = super().__new__(cls)
            return cls._instance
    """,
    "nothing first": """
        def __new__(cls):
            if not hasattr(cls, '_instance'):
                cls._instance = super().__new__(cls)
            return cls._instance
    """,
    "error first": """
        def __new__(cls):
            try:
                return cls._instance
            except AttributeError:
                cls._instance = super().__new__(cls)
                return cls._instance
    """,
    "in a dict": """
        _all = {}
        def __new__(cls):
            if 1 not in cls._all:
                cls._all[1] = super().__new__(cls)
            return cls._all[1]
    """,
    "counted": """
        _instance, made = None, 0
        def __new__(cls):
            if cls._instance is None:
                cls._instance = super().__new__(cls)
                cls.made += 1
            assert cls.made == 1
            return cls._instance
    """,
    "global": """
        def __new__(cls):
            global ONLY
            if ONLY is None:
                ONLY = super().__new__(cls)
            return ONLY
    """,
}


def singleton(body):
    source = f"ONLY = None\nclass C:{body}\nclass D(C): pass\ndef f(): return C().v"
    scope = define(source.replace("\n        ", "\n    "))
    one = scope.C()
    one.v = 9
    return scope, one


@pytest.mark.parametrize("body", SINGLETONS)
@pytest.mark.parametrize("sent", ["one, f", "C, f", "f, one", "f,"])
def test_the_only_instance_of_a_class_arrives(body, sent):
    scope, one = singleton(SINGLETONS[body])
    value = eval(sent, {**vars(scope), "one": one})
    program = """[
        [x() for x in value if type(x).__name__ == 'function'],
        [type(x)() is x and x.v for x in value if not callable(x)],
        [x() is x() and x().v for x in value if isinstance(x, type)]]"""

    functions, instances, classes = fresh_process.send(value, program)

    assert functions == [9]
    assert set(instances) | set(classes) <= {9}


@pytest.mark.parametrize("body", SINGLETONS)
def test_the_only_instance_of_a_class_arrives_again(body):
    scope, one = singleton(SINGLETONS[body])
    payload = waybill.dumps((scope.f, one))
    program = """
answer = []
for _ in range(4):
    f, one = load(0)
    answer.append((f(), one.v, type(one)() is one))
"""

    assert receive([payload], program) == [(9, 9, True)] * 4


ATTRIBUTES = {
    "__setstate__ reads an attribute": """
        class C:
            one = None
            def __init__(self): self.x = 1
            def __setstate__(self, state): self.x = state['x'] * self.factor
            factor = 5
        C.one = C()
    """,
    "__setstate__ reads a list": """
        class C:
            one = None
            def __init__(self): self.x = 1
            def __setstate__(self, state): self.x = state['x'] * self.factors[0]
            factors = [5]
        C.one = C()
    """,
    "__hash__ reads an attribute": """
        class C:
            one = None
            def __init__(self): self.x = 5
            def __hash__(self): return self.seed
            seed = 7
        C.all = {C()}
        C.one = next(iter(C.all))
    """,
    "__init__ reads an attribute": """
        class C:
            one = None
            def __init__(self): self.x = self.y
            def __reduce__(self): return C, ()
            y = 5
        C.one = C()
    """,
    "__init__ reads an attribute for a default": """
        class C:
            one = None
            def __init__(self): self.x = self.y
            def __reduce__(self): return C, ()
            y = 5
        C.one = C()
        C.default = lambda self, x=C.one: x
    """,
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_what_is_made_of_attributes_is_set_after_them(name):
    cls = define(ATTRIBUTES[name]).C

    assert fresh_process.send(cls, "value.one.x") == 5


def test_an_instance_with_arguments_is_made_by_its_own_new():
    source = """
    import collections
    class C(collections.namedtuple('Pair', 'a b')):
        def __new__(cls, a, b): return super().__new__(cls, a, b)
    C.zero = C(0, 1)
    """

    assert fresh_process.send(define(source).C, "tuple(value.zero)") == (0, 1)
