"""Views, collections and weak references travel with what they look at."""

import fresh_process
import pytest
import waybill
from sources import define


def arrive(source, expression):
    source = "import collections, types, weakref, array\n" + source
    return fresh_process.send(define(source).value, expression)


VIEWS = ["keys", "values", "items"]


@pytest.mark.parametrize("kind", VIEWS)
@pytest.mark.parametrize("mapping", ["dict", "collections.OrderedDict"])
def test_view_arrives_as_a_view(kind, mapping):
    source = f"value = {mapping}([(1, 'a'), (2, 'b')]).{kind}()"
    expected = type(define(f"import collections\n{source}").value).__name__

    answer = arrive(source, "type(value).__name__, list(value)")

    items = {"keys": [1, 2], "values": ["a", "b"], "items": [(1, "a"), (2, "b")]}
    assert answer == (expected, items[kind])


@pytest.mark.parametrize("kind", VIEWS)
@pytest.mark.parametrize("mapping", ["{}", "collections.OrderedDict()"])
def test_view_sees_changes_of_its_mapping(kind, mapping):
    source = f"m = {mapping}\nvalue = m.{kind}(), m"

    assert arrive(source, "[value[1].update(a=1), len(value[0])][1]") == 1


def test_view_of_a_user_mapping_arrives():
    source = "value = collections.ChainMap({1: 2}, {3: 4}).items()"

    assert arrive(source, "sorted(value)") == [(1, 2), (3, 4)]


def test_mapping_proxy_sees_changes_of_its_mapping():
    source = "m = {}\nvalue = types.MappingProxyType(m), m"

    assert arrive(source, "[value[1].update(a=1), value[0]['a']][1]") == 1


def test_mapping_proxy_of_another_mapping_arrives():
    source = "value = types.MappingProxyType(collections.ChainMap({1: 2}))"

    expected = ("mappingproxy", 2, "ChainMap({1: 2})")
    assert arrive(source, "type(value).__name__, value[1], str(value)") == expected


@pytest.mark.parametrize(
    "made, expression, expected",
    [
        ("collections.deque([1, 2], maxlen=2)", "list(value), value.maxlen",
         ([1, 2], 2)),
        ("type('D', (collections.deque,), {})([1, 2], 5)",
         "list(value), value.maxlen, type(value).__name__", ([1, 2], 5, "D")),
        ("collections.OrderedDict([(2, 1), (1, 2)])", "list(value)", [2, 1]),
        ("type('O', (collections.OrderedDict,), {})([(2, 1)])",
         "list(value), type(value).__name__", ([2], "O")),
        ("collections.defaultdict(lambda: 7)", "value[0]", 7),
        ("collections.Counter('abca')", "value['a']", 2),
        ("collections.ChainMap({1: 2}, {1: 3})", "value[1], len(value.maps)", (2, 2)),
        ("collections.UserDict(a=1)", "value['a']", 1),
        ("collections.UserList([1])", "value[0]", 1),
        ("collections.UserString('ab')", "value.upper().data", "AB"),
        ("collections.namedtuple('P', 'x y', defaults=[5])(1)",
         "value.x, value._replace(x=3) == (3, 5), repr(value)",
         (1, True, "P(x=1, y=5)")),
        ("array.array('h', [1, -2])", "value.typecode, value.tolist()",
         ("h", [1, -2])),
        ("type('A', (array.array,), {})('d', [1.5])",
         "type(value).__name__, value.tolist()", ("A", [1.5])),
        ("type('L', (list,), {})([1])", "type(value).__name__, value[0]", ("L", 1)),
        ("type('D', (dict,), {})(a=1)", "type(value).__name__, value['a']", ("D", 1)),
        ("type('S', (set,), {})([1])", "type(value).__name__, list(value)",
         ("S", [1])),
        ("type('F', (frozenset,), {})([1])", "type(value).__name__, list(value)",
         ("F", [1])),
        ("type('T', (tuple,), {})([1])", "type(value).__name__, value[0]", ("T", 1)),
        ("types.SimpleNamespace(a=[1])", "value.a", [1]),
    ],
)  # fmt: skip
def test_collection_arrives(made, expression, expected):
    assert arrive(f"value = {made}", expression) == expected


# ---- Weak references

OWN = """
class C:
    def __init__(self, name="c"): self.name = name
    def m(self): return self.name
    def __repr__(self): return self.name
c = C()
"""


WEAK = {
    "a reference finds its target in the payload": (
        "value = weakref.ref(c), c",
        "value[0]() is value[1]",
        True,
    ),
    "a reference before its target finds it": (
        "value = [weakref.ref(c), [[c]]]",
        "value[0]() is value[1][0][0]",
        True,
    ),
    "an object may hold a reference to itself": (
        "c.me = weakref.ref(c)\nvalue = c",
        "value.me() is value",
        True,
    ),
    "a child may refer to its parent": (
        "c.child = C('d')\nc.child.parent = weakref.ref(c)\nvalue = c",
        "value.child.parent() is value",
        True,
    ),
    "a dead reference arrives dead": ("value = weakref.ref(C())", "value()", None),
    "a reference without another owner arrives dead": (
        "value = weakref.ref(c)",
        "__import__('gc').collect() < 0 or value()",
        None,
    ),
    "a reference keeps its callback": (
        "log = []\nvalue = [weakref.ref(c, log.append), c, log]",
        "[value.pop(1), 0][1], len(value[1])",
        (0, 1),
    ),
    "a reference may be to a class or function": (
        "def f(): return 1\nvalue = weakref.ref(C), C, weakref.ref(f), f",
        "value[0]() is value[1], value[2]() is value[3]",
        (True, True),
    ),
    "a set arrives": (
        "d = C('d')\nvalue = weakref.WeakSet([c, d]), c, d",
        "len(value[0]), value[1] in value[0], value[2] in value[0]",
        (2, True, True),
    ),
    "a dictionary with weak keys arrives": (
        "value = weakref.WeakKeyDictionary({c: 1}), c",
        "value[0][value[1]], len(value[0])",
        (1, 1),
    ),
    "a dictionary with weak values arrives": (
        "value = weakref.WeakValueDictionary({'a': c}), c",
        "value[0]['a'] is value[1]",
        True,
    ),
    "a method arrives": (
        "value = weakref.WeakMethod(c.m), c",
        "value[0]()(), value[0]().__self__ is value[1]",
        ("c", True),
    ),
    "a proxy arrives as what it stands for": (
        "value = weakref.proxy(c), c",
        "value[0].name, type(value[0]) is type(value[1])",
        ("c", True),
    ),
}


@pytest.mark.parametrize("claim", WEAK)
def test_weakly(claim):
    source, expression, expected = WEAK[claim]

    assert arrive(OWN + source, expression) == expected


@pytest.mark.parametrize(
    "made", ["WeakSet([c])", "WeakKeyDictionary({c: 1})", "WeakValueDictionary(a=c)"]
)
def test_weak_collection_forgets_in_the_receiver(made):
    source = OWN + f"value = [weakref.{made}, c]"

    answer = arrive(source, "len(value[0]), value.pop() and 0, len(value[0])")

    assert answer == (1, 0, 0)


def test_dead_weak_proxy_is_refused():
    value = define("import weakref\n" + OWN + "value = weakref.proxy(C())").value

    with pytest.raises(waybill.EncodeError, match="no longer exists"):
        waybill.dumps([value])
