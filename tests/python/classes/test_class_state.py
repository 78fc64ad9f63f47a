"""Values of class attributes: who changed, what kind, which arrival, which worker.

The sender's changes take effect; what only the worker has changed stays.
"""

import pytest
from class_state_matrix import Row, by_who, check, every_who, every_worker, whole

# ---- Values that are set whole, and that nobody changes in place

#: At first, what the sender sets, what the worker sets: each reads as it is written.
VALUES = {
    "int": ("1", "2", "3"),
    "large int": (str(2**70), str(2**71), str(-(2**90))),
    "int to bool": ("1", "True", "1.0"),
    "int to float": ("1", "1.0", "True"),
    "text": ("'one'", "'two'", "'three'"),
    "long text": (repr("a" * 5000), repr("b" * 5000), repr("c" * 5000)),
    "text to bytes": ("'a'", "b'a'", "'b'"),
    "bytes": ("b'one'", "b'two'", "b'three'"),
    "None": ("None", "0", "False"),
    "to None": ("0", "None", "''"),
    "float": ("0.1", "0.5", "0.25"),
    "nan": ("nan", "0.5", "1.5"),
    "to nan": ("0.5", "nan", "1.5"),
    "zero to minus zero": ("0.0", "-0.0", "5.0"),
    "minus zero to zero": ("-0.0", "0.0", "5.0"),
    "complex": ("1j", "2j", "3j"),
    "ellipsis": ("Ellipsis", "NotImplemented", "None"),
    "tuple": ("(1, [1])", "(1, [2])", "(1, [3])"),
    "tuple of nan": ("(nan,)", "(0.5,)", "(1.5,)"),
    "frozenset": ("frozenset({1})", "frozenset({2})", "frozenset({3})"),
    "range": ("range(0, 1)", "range(0, 2)", "range(0, 3)"),
    "date": (
        "datetime.date(2020, 1, 1)",
        "datetime.date(2020, 1, 2)",
        "datetime.date(2020, 1, 3)",
    ),
    "list": ("[1, [2]]", "[1, [3]]", "[1, [4]]"),
    "deque": ("deque([1])", "deque([2])", "deque([1], maxlen=1)"),
    "counter": ("Counter({'a': 1})", "Counter({'a': 2})", "Counter({'b': 3})"),
    "class": ("<class 'int'>", "<class 'str'>", "<class 'bytes'>"),
    "module": ("functools", "types", "abc"),
    "a value of another type": ("[1]", "(1,)", "{1}"),
    "dict to list": ("{'a': 1}", "[1]", "'text'"),
    "list to dict": ("[1]", "{'a': 1}", "'text'"),
}

_WRITTEN = {"<class 'int'>": "int", "<class 'str'>": "str", "<class 'bytes'>": "bytes"}
_READ = {"module": "K.x.__name__"}


def row_of_values(name):
    first, senders, workers = (_WRITTEN.get(v, v) for v in VALUES[name])
    return Row(
        define=f"class K:\n    x = {first}",
        sender=f"K.x = {senders}",
        worker=f"K.x = {workers}",
        undo=f"K.x = {first}",
        read=_READ.get(name, "repr(K.x)"),
        expected=whole(*VALUES[name]),
    )


@pytest.mark.parametrize("kind", VALUES)
@every_who
@every_worker
def test_a_value_is_what_was_changed_last(stage, kind, who, worker):
    check(stage, row_of_values(kind), who, worker)


# ---- Values that are replaced whole, also if they were changed in place

#: How K is defined; changes by sender, worker, and back; what is read; and that.
IN_PLACE = {
    "list": (
        "class K: x = [1]",
        ("K.x[:] = [1, 2]", "K.x[:] = [1, 3]", "K.x[:] = [1]"),
        "K.x",
        whole([1], [1, 2], [1, 3]),
    ),
    "list in a list": (
        "class K: x = [[1]]",
        ("K.x[0][:] = [2]", "K.x[0][:] = [3]", "K.x[0][:] = [1]"),
        "K.x",
        whole([[1]], [[2]], [[3]]),
    ),
    "list in a tuple": (
        "class K: x = ([1],)",
        ("K.x[0][:] = [2]", "K.x[0][:] = [3]", "K.x[0][:] = [1]"),
        "K.x",
        whole(([1],), ([2],), ([3],)),
    ),
    "list with a dict": (
        "class K: x = [{'a': 1}]",
        ("K.x[0]['a'] = 2", "K.x[0]['a'] = 3", "K.x[0]['a'] = 1"),
        "K.x",
        whole([{"a": 1}], [{"a": 2}], [{"a": 3}]),
    ),
    "deque": (
        "class K: x = deque([1])",
        (
            "K.x.clear(); K.x.append(2)",
            "K.x.clear(); K.x.append(3)",
            "K.x.clear(); K.x.append(1)",
        ),
        "list(K.x)",
        whole([1], [2], [3]),
    ),
    "counter": (
        "class K: x = Counter(a=1)",
        ("K.x['a'] = 2", "K.x['a'] = 3", "K.x['a'] = 1"),
        "list(K.x.items())",
        whole([("a", 1)], [("a", 2)], [("a", 3)]),
    ),
    "subclass of dict": (
        "class D(dict): pass\nclass K: x = D(a=1)",
        ("K.x['a'] = 2", "K.x['a'] = 3", "K.x['a'] = 1"),
        "type(K.x).__name__, list(K.x.items())",
        whole(("D", [("a", 1)]), ("D", [("a", 2)]), ("D", [("a", 3)])),
    ),
    "subclass of set": (
        "class S(set): pass\nclass K: x = S([1])",
        (
            "K.x.clear(); K.x.add(2)",
            "K.x.clear(); K.x.add(3)",
            "K.x.clear(); K.x.add(1)",
        ),
        "type(K.x).__name__, sorted(K.x)",
        whole(("S", [1]), ("S", [2]), ("S", [3])),
    ),
    "dict keyed by an instance": (
        "class P: pass\nclass K: x = {P(): 1}",
        (
            "for key in K.x: K.x[key] = 2",
            "for key in K.x: K.x[key] = 3",
            "for key in K.x: K.x[key] = 1",
        ),
        "[(type(key).__name__, value) for key, value in K.x.items()]",
        whole([("P", 1)], [("P", 2)], [("P", 3)]),
    ),
    "dict with one key that is an instance": (
        "class P: pass\nclass K: x = {'a': 1, P(): 1}",
        ("K.x['a'] = 2", "K.x['a'] = 3", "K.x['a'] = 1"),
        "list(K.x.values())",
        whole([1, 1], [2, 1], [3, 1]),
    ),
    "set of instances": (
        "class K: x = set()\nK.x.add(K())",
        (
            "K.x.clear(); K.x.update([K(), 2])",
            "K.x.clear(); K.x.update([K(), 2, 3])",
            "K.x.clear(); K.x.add(K())",
        ),
        "len(K.x)",
        whole(1, 2, 3),
    ),
    "instance": (
        "class P:\n    v = 0\nclass K:\n    x = P()\nK.x.v = 1",
        ("K.x.v = 2", "K.x.v = 3", "K.x.v = 1"),
        "type(K.x).__name__, K.x.v",
        whole(("P", 1), ("P", 2), ("P", 3)),
    ),
    "instance of the class itself": (
        "class K: pass\nK.x = K()\nK.x.v = 1",
        ("K.x.v = 2", "K.x.v = 3", "K.x.v = 1"),
        "type(K.x) is K, K.x.v",
        whole((True, 1), (True, 2), (True, 3)),
    ),
    "instance with slots": (
        "class P: __slots__ = 'v'\nclass K: x = P()\nK.x.v = 1",
        ("K.x.v = 2", "K.x.v = 3", "K.x.v = 1"),
        "K.x.v",
        whole(1, 2, 3),
    ),
    "namespace": (
        "class K: x = types.SimpleNamespace(v=1)",
        ("K.x.v = 2", "K.x.v = 3", "K.x.v = 1"),
        "K.x.v",
        whole(1, 2, 3),
    ),
    "bytearray": (
        "class K: x = bytearray(b'one')",
        ("K.x[:] = b'two'", "K.x[:] = b'three'", "K.x[:] = b'one'"),
        "bytes(K.x)",
        whole(b"one", b"two", b"three"),
    ),
    "array": (
        "class K: x = array.array('i', [1])",
        ("K.x[0] = 2", "K.x[0] = 3", "K.x[0] = 1"),
        "list(K.x)",
        whole([1], [2], [3]),
    ),
    "numpy array": (
        "import numpy\nclass K: x = numpy.arange(3)",
        ("K.x[0] = 2", "K.x[0] = 3", "K.x[0] = 0"),
        "K.x.tolist()",
        whole([0, 1, 2], [2, 1, 2], [3, 1, 2]),
    ),
    "proxy of a dict": (
        "class K: x = types.MappingProxyType({'a': 1})",
        (
            "K.x = types.MappingProxyType({'a': 2})",
            "K.x = types.MappingProxyType({'a': 3})",
            "K.x = types.MappingProxyType({'a': 1})",
        ),
        "dict(K.x)",
        whole({"a": 1}, {"a": 2}, {"a": 3}),
    ),
}


@pytest.mark.parametrize("kind", IN_PLACE)
@every_who
@every_worker
def test_a_container_or_object_is_replaced_whole(stage, kind, who, worker):
    if kind == "numpy array":
        pytest.importorskip("numpy")
    define, (senders, workers, undo), read, expected = IN_PLACE[kind]
    row = Row(
        define=define,
        sender=senders,
        worker=workers,
        undo=undo,
        read=read,
        expected=expected,
    )

    check(stage, row, who, worker)


# ---- New and deleted attributes

COMING = Row(
    define="class K: pass",
    sender="K.x = 2",
    worker="K.x = 3",
    undo="del K.x",
    read="getattr(K, 'x', 'none')",
    expected=whole("none", 2, 3),
)
GOING = Row(
    define="class K: x = 1",
    sender="del K.x",
    worker="K.x = 3",
    undo="K.x = 1",
    read="getattr(K, 'x', 'none')",
    expected=by_who(
        1,
        nobody=(1, 3),
        # What the worker sets after the sender has deleted it is the worker's own.
        sender=("none", 3),
        worker=(3, "none"),
        same=("none", 1),
        different=("none", 1),
    ),
)
DELETED_THERE = Row(
    define="class K: x = 1",
    sender="K.x = 2",
    worker="del K.x",
    undo="K.x = 1",
    read="getattr(K, 'x', 'none')",
    expected=whole(1, 2, "none"),
)


ROWS = {"coming": COMING, "going": GOING, "deleted there": DELETED_THERE}


@pytest.mark.parametrize("row", ROWS)
@every_who
@every_worker
def test_an_attribute_comes_and_goes_as_the_sender_says(stage, row, who, worker):
    check(stage, ROWS[row], who, worker)
