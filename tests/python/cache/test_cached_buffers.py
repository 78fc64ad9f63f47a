"""Functions and classes that come again with arrays are found in the caches.

The arrays are those of their own payload."""

import contextlib

import pytest
import waybill
from without_caches import dumps_without_caches, without_caches

numpy = pytest.importorskip("numpy")

SCRIPT = """
def scaled(a, factor=2.0):
    return a * factor

class Job:
    def __init__(self, a):
        self.a = a
    def run(self):
        return scaled(self.a)
"""


@pytest.fixture
def script():
    waybill.clear_caches()
    scope = {"__name__": "__main__", "__package__": None}
    exec(SCRIPT, scope)
    return scope


def array(seed, size=20_000):
    return numpy.full(size, seed, "f8")


def received_hits():
    return waybill.cache_info()["received"]["hits"]


def test_tasks_with_arrays_take_their_function_from_the_cache(script):
    f = script["scaled"]
    before = received_hits()

    for i in range(6):
        task = (f, (array(i), "plain", [array(-i), 1]), {"factor": 3})
        function, (first, plain, (second, one)), keywords = waybill.loads(
            waybill.dumps(task)
        )
        assert (function(first) == 2 * i).all()
        assert (second == -i).all()
        assert (plain, one, keywords) == ("plain", 1, {"factor": 3})
        first[0] = 100  # It belongs to this payload alone.

    assert received_hits() - before >= 3


def test_instances_with_arrays_take_their_class_from_the_cache(script):
    cls = script["Job"]
    before = received_hits()

    for i in range(6):
        job = waybill.loads(waybill.dumps(cls(array(i))))
        assert (job.run() == 2 * i).all()

    assert received_hits() > before


def test_tasks_with_buffers_out_of_band_take_their_definitions_from_the_cache(script):
    f, cls = script["scaled"], script["Job"]
    before = received_hits()

    for i in range(8):
        buffers = []
        data = waybill.dumps([f, cls(array(i))], buffer_callback=buffers.append)
        function, job = waybill.loads(data, buffers=buffers)
        assert (job.run() == 2 * i).all()
        assert (function(array(i)) == 2 * i).all()
        assert numpy.shares_memory(job.a, numpy.frombuffer(buffers[0]))

    assert received_hits() - before == 6


class OneBufferShort:
    """Buffers of which the last one fails."""

    def __init__(self, first):
        self.left = [first]

    def __iter__(self):
        return self

    def __next__(self):
        if self.left:
            return self.left.pop()
        raise OSError("the connection is closed")


def test_a_buffer_that_fails_is_an_error_each_time(script):
    value = script["scaled"], array(1), array(2)
    buffers = []
    data = waybill.dumps(value, buffer_callback=buffers.append)

    for _ in range(5):
        with pytest.raises(OSError, match="the connection is closed"):
            waybill.loads(data, buffers=OneBufferShort(buffers[0]))
        with pytest.raises(waybill.DecodeError, match="was not given in `buffers`"):
            waybill.loads(data, buffers=buffers[:1])
        assert (waybill.loads(data, buffers=buffers)[2] == 2).all()


def test_tasks_with_and_without_arrays_may_alternate(script):
    f = script["scaled"]

    for i in range(8):
        arguments = [(array(i),), (i,), (array(i), array(i + 1)), (b"x" * 100_000, i)]
        for given in arguments:
            function, arrived, _ = waybill.loads(waybill.dumps((f, given, {})))
            assert function(3) == 6
            assert len(arrived) == len(given)
            for one, other in zip(given, arrived):
                assert type(one) is type(other)
                assert numpy.array_equal(one, other)


@pytest.mark.parametrize("caches", [without_caches, contextlib.nullcontext])
def test_an_altered_buffer_is_refused_whatever_the_cache_knows(script, caches):
    f = script["scaled"]
    with caches():
        datas = [bytearray(waybill.dumps((f, (array(i),), {}))) for i in range(5)]
        for data in datas[:4]:
            waybill.loads(data)
        for at in (-1, -20, -100_000, 100, 400):
            altered = bytearray(datas[4])
            altered[at] ^= 1
            with pytest.raises(waybill.DecodeError):
                waybill.loads(altered)
        assert (waybill.loads(datas[4])[1][0] == 4).all()


def test_payloads_are_the_same_with_caches_off(script):
    f, cls = script["scaled"], script["Job"]
    made = [(f, (array(1), b"y" * 70_000), {}), cls(array(2)), [cls, array(3), f]]
    cold = [waybill.dumps(one) for one in made]
    warm = [waybill.dumps(one) for one in made]

    assert cold == warm == [dumps_without_caches(one) for one in made]


def test_a_function_that_holds_an_array_is_seen_to_change(script):
    script["table"] = array(1)
    exec("def look(i): return table[i]", script)
    look = script["look"]
    for _ in range(4):
        assert waybill.loads(waybill.dumps(look))(0) == 1

    script["table"][0] = 5

    assert waybill.loads(waybill.dumps(look))(0) == 5


def test_a_prepared_call_is_frozen_with_the_arrays_of_its_function(script):
    script["table"] = array(1)
    exec("def look(a): return table[0] + a", script)
    prepared = waybill.prepare(script["look"])
    plain = waybill.dumps((script["look"], (array(2),), {}))

    assert prepared.dumps(array(2)) == plain
    script["table"][0] = 5

    function, (given,), _ = waybill.loads(prepared.dumps(array(2)))
    assert (function(given) == 3).all()
