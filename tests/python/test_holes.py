"""What is half built while code of a payload runs is whole for whoever finds it."""

import gc

import fresh_process
import pytest
import waybill


def make_looker():
    """Looks at everything when it gets its state, as programs do that hunt leaks."""

    class Looker:
        def __init__(self):
            self.state = "sent"

        def __setstate__(self, state):
            everything = gc.get_objects()
            ordered = [each for each in everything if type(each) in (list, tuple)]
            self.seen = sum(1 for each in ordered if each and each[-1] is None)

    return Looker()


@pytest.mark.parametrize(
    "make",
    [
        lambda looker: [looker, 0, 0],
        lambda looker: (looker, 0, 0),
        lambda looker: [[0, (looker, [looker, 1]), 2], 3],
        lambda looker: [{"a": (looker, 1), "b": [looker, None]}],
    ],
)
def test_code_that_looks_at_all_objects_finds_no_holes(make):
    data = waybill.dumps(make(make_looker()))

    assert fresh_process.load(data, "__import__('gc').is_tracked(value)")


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
