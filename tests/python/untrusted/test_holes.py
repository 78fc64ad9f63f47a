"""What is half built while code of a payload runs is whole for whoever finds it."""

import gc
import tracemalloc

import pytest
import waybill


def test_containers_are_tracked_once_they_are_complete():
    value = [[len], (len, [print]), [1, (2, [3])]]
    arrived = waybill.loads(waybill.dumps(value))

    todo = [arrived]
    while todo:
        each = todo.pop()
        assert gc.is_tracked(each)
        todo.extend(item for item in each if type(item) is list)
    assert gc.is_tracked(arrived[1])


def test_cycle_of_what_arrived_is_collected():
    class Held:
        pass

    inner = [Held()]
    inner.append((inner, 1))
    before = len(gc.get_objects())
    for _ in range(20):
        waybill.loads(waybill.dumps(inner))
    gc.collect()

    assert len(gc.get_objects()) - before < 100


def refused_after_a_cycle():
    """A list of many bytes and of itself, and then of what cannot be loaded."""
    pytest.importorskip("xxhash")
    pytest.importorskip("msgpack")
    import bombs

    many = b"\xc6" + (1_000_000).to_bytes(4, "big") + bytes(1_000_000)
    itself, equal_keys = b"\xd4\x01\x00", b"\x82\x01\x07\x01\x07"
    return bombs.envelope(b"\x93" + many + itself + equal_keys, [0])


def test_what_was_refused_in_the_middle_is_collected():
    data = refused_after_a_cycle()
    tracemalloc.start()
    try:
        for _ in range(20):
            with pytest.raises(waybill.DecodeError, match="two equal keys"):
                waybill.loads(data, policy=waybill.DATA_ONLY)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert held < 1_000_000


@pytest.mark.parametrize("kind", [list, tuple])
def test_what_was_not_finished_since_code_raised_is_collected(kind):
    class Held:
        pass

    class Raising:
        def __reduce__(self):
            return int, ("no number",)

    inner = []
    outer = kind([Held(), inner, Raising()])
    inner.append(outer)
    data = waybill.dumps(outer)
    gc.collect()

    for _ in range(20):
        with pytest.raises(ValueError, match="no number"):
            waybill.loads(data)
    gc.collect()

    assert sum(type(each).__name__ == "Held" for each in gc.get_objects()) == 1
