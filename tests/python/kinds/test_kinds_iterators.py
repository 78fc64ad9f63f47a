"""Iterators travel with their position, where it can be told without using them up."""

import itertools

import fresh_process
import pytest
import waybill
from sources import define


def partly_used(source, steps):
    value = define(source).value
    for _ in range(steps):
        next(value)
    return value


BUILTIN = {
    "list": "value = iter([1, 2, 3, 4])",
    "list reversed": "value = reversed([1, 2, 3, 4])",
    "tuple": "value = iter((1, 2, 3, 4))",
    "tuple reversed": "value = reversed((1, 2, 3, 4))",
    "dict": "value = iter({1: 1, 2: 2, 3: 3, 4: 4})",
    "dict reversed": "value = reversed({1: 1, 2: 2, 3: 3, 4: 4})",
    "dict values": "value = iter({1: 5, 2: 6, 3: 7, 4: 8}.values())",
    "dict values reversed": "value = reversed({1: 5, 2: 6, 3: 7, 4: 8}.values())",
    "dict items": "value = iter({1: 5, 2: 6, 3: 7, 4: 8}.items())",
    "dict items reversed": "value = reversed({1: 5, 2: 6, 3: 7, 4: 8}.items())",
    "set": "value = iter({1, 2, 3, 4})",
    "range": "value = iter(range(4))",
    "long range": "value = iter(range(2**70, 2**70 + 4))",
    "range reversed": "value = reversed(range(4))",
    "str": "value = iter('abcd')",
    "str not ascii": "value = iter('abc\\xe4')",
    "bytes": "value = iter(b'abcd')",
    "bytearray": "value = iter(bytearray(b'abcd'))",
    "deque": "import collections\nvalue = iter(collections.deque([1, 2, 3, 4]))",
    "deque reversed":
        "import collections\nvalue = reversed(collections.deque([1, 2, 3, 4]))",
    "array": "import array\nvalue = iter(array.array('i', [1, 2, 3, 4]))",
    "ordered dict":
        "import collections\nvalue = iter(collections.OrderedDict.fromkeys('abcd'))",
    "sequence": """
class S:
    def __getitem__(self, i):
        if i > 3: raise IndexError
        return i
value = iter(S())
""",
    "callable": """
class C:
    n = 0
    def __call__(self):
        self.n += 1
        return self.n
value = iter(C(), 5)
""",
    "enumerate": "value = enumerate('abcd', 5)",
    "zip": "value = zip([1, 2, 3, 4], 'abcd')",
    "strict zip": "value = zip([1, 2, 3, 4], 'abcd', strict=True)",
    "map": "value = map(lambda x: x + 1, [1, 2, 3, 4])",
    "filter": "value = filter(lambda x: x != 2, [1, 2, 3, 4])",
    "filter by truth": "value = filter(None, [1, 2, 0, 3, 4])",
}  # fmt: skip


@pytest.mark.parametrize("source", BUILTIN.values(), ids=BUILTIN)
def test_builtin_iterator_arrives_at_its_position(source):
    sent = partly_used(source, 1)

    answer = fresh_process.send(sent, "[repr(x) for x in value]")

    assert answer == [repr(x) for x in sent]


@pytest.mark.parametrize("source", BUILTIN.values(), ids=BUILTIN)
def test_sending_a_builtin_iterator_does_not_use_it_up(source):
    sent = partly_used(source, 1)
    fresh = partly_used(source, 1)

    waybill.dumps(sent)

    assert repr(list(sent)) == repr(list(fresh))


@pytest.mark.parametrize("name", ["list", "tuple", "dict", "set", "str", "range"])
def test_iterator_that_is_used_up_arrives_so(name):
    sent = define(BUILTIN[name]).value
    list(sent)

    assert fresh_process.send(sent, "list(value)") == []


TOLD = {
    "count": "itertools.count(5)",
    "count by steps": "itertools.count(5, 2)",
    "count of floats": "itertools.count(0.5, 0.25)",
    "count of large numbers": "itertools.count(2**80, 3)",
    "endless repeat": "itertools.repeat('x')",
    "repeat": "itertools.repeat('x', 3)",
}


@pytest.mark.parametrize("made", TOLD.values(), ids=TOLD)
def test_state_of_itertools_that_can_be_told_arrives(made):
    sent = partly_used(f"import itertools\nvalue = {made}", 1)

    answer = fresh_process.send(sent, "list(__import__('itertools').islice(value, 4))")

    assert answer == list(itertools.islice(sent, 4))


HIDDEN = {
    "cycle": "itertools.cycle([1, 2, 3])",
    "chain": "itertools.chain([1, 2], [3])",
    "chain of iterables": "itertools.chain.from_iterable([[1, 2], [3]])",
    "islice": "itertools.islice(range(9), 2, 8, 2)",
    "product": "itertools.product([1, 2], [3, 4])",
    "permutations": "itertools.permutations([1, 2, 3])",
    "combinations": "itertools.combinations([1, 2, 3], 2)",
    "accumulate": "itertools.accumulate([1, 2, 3])",
    "compress": "itertools.compress('abcd', [1, 0, 1, 1])",
    "dropwhile": "itertools.dropwhile(lambda x: x < 2, [1, 2, 3])",
    "takewhile": "itertools.takewhile(lambda x: x < 3, [1, 2, 3])",
    "filterfalse": "itertools.filterfalse(lambda x: x == 2, [1, 2, 3, 4])",
    "starmap": "itertools.starmap(pow, [(1, 2), (2, 3), (3, 4)])",
    "zip_longest": "itertools.zip_longest([1, 2, 3], [4])",
    "pairwise": "itertools.pairwise([1, 2, 3, 4])",
    "batched": "itertools.batched([1, 2, 3, 4], 2)",
    "tee": "itertools.tee([1, 2, 3])[0]",
}


@pytest.mark.parametrize("made", HIDDEN.values(), ids=HIDDEN)
def test_other_itertools_arrive_at_their_position_or_are_refused(made):
    if not hasattr(itertools, made.partition("(")[0].split(".")[1]):
        pytest.skip("not in this Python")
    sent = partly_used(f"import itertools\nvalue = {made}", 1)

    try:
        payload = waybill.dumps(sent)
    except waybill.EncodeError as error:
        assert "itertools" in str(error)
        return
    expression = "[repr(x) for x in __import__('itertools').islice(value, 4)]"
    answer = fresh_process.load(payload, expression)

    assert answer == [repr(x) for x in itertools.islice(sent, 4)]


def test_an_iterator_shares_what_it_iterates_over():
    source = "items = [1, 2]\nvalue = iter(items), items"

    answer = fresh_process.send(
        define(source).value, "[value[1].append(3), list(value[0])][1]"
    )

    assert answer == [1, 2, 3]
