"""Numbers of definitions and of shared positions of all widths."""

import pytest
import repeats
import waybill
from program_graphs import assert_arrives_alike, definitions_in, has_definitions
from sources import define

WIDTHS = [1, 2, 15, 16, 17, 126, 127, 128, 129, 254, 255, 256, 257, 300]


def numbered(count, source="def f{i}(): return {i}, f{j}"):
    text = "\n".join(source.format(i=i, j=max(i - 1, 0)) for i in range(count))
    made = vars(define(text))
    return [made[f"f{i}"] for i in range(count)]


@pytest.mark.parametrize("count", WIDTHS)
def test_each_of_many_functions_is_itself(count):
    functions = numbered(count)

    data = waybill.dumps(functions)

    assert has_definitions(data)
    loaded = waybill.loads(data)
    assert [f()[0] for f in loaded] == list(range(count))
    assert all(loaded[i]()[1] is loaded[max(i - 1, 0)] for i in range(count))
    assert waybill.dumps(functions) == data


@pytest.mark.parametrize("count", [16, 128, 256, 257])
def test_each_of_many_classes_is_itself_in_another_process(count):
    classes = numbered(count, "class f{i}:\n def get(self): return {i}, f{j}")

    assert_arrives_alike(classes)
    assert_arrives_alike(classes[::-1])
    assert_arrives_alike([classes[-1](), *classes])


@pytest.mark.parametrize("count", WIDTHS)
def test_functions_without_each_other_are_definitions_all(count):
    functions = numbered(count, "def f{i}(): return {i}")

    data = waybill.dumps(functions * 2)

    assert definitions_in(data) == count
    loaded = waybill.loads(data)
    assert [f() for f in loaded] == [*range(count)] * 2
    assert all(loaded[i] is loaded[i + count] for i in range(count))


@pytest.mark.parametrize("shared", [1, 126, 127, 128, 254, 255, 256, 257, 65535, 65537])
def test_shared_objects_of_the_value_do_not_disturb_those_of_definitions(shared):
    functions = numbered(3)
    items = [[i] for i in range(shared)]

    data = waybill.dumps([functions[2], items, items[::-1], *functions])

    last, first, second, *loaded = waybill.loads(data)
    assert last is loaded[2]
    assert last()[1]()[1] is loaded[0]
    assert first == items
    assert all(one is two for one, two in zip(first, second[::-1], strict=True))


@pytest.mark.parametrize("shared", [127, 128, 255, 256, 257])
def test_shared_objects_inside_a_definition_stay_shared(shared):
    made = define(f"""
        held = [[i] for i in range({shared})]
        again = held[::-1]
        def f(): return held, again
        def g(): return f
    """)

    g, again = waybill.loads(waybill.dumps([made.g, made.again]))

    one, two = g()()
    assert two is again
    assert all(a is b for a, b in zip(one, two[::-1], strict=True))


@pytest.mark.parametrize("before", [0, 120, 250, 300])
def test_kept_definition_is_written_with_numbers_of_other_widths(before):
    """First it is sent alone, then behind others that take the small numbers."""
    made = define("def f(): return g, C\ndef g(): return f, C\nclass C: pass")
    waybill.dumps([made.f, made.C])
    waybill.dumps([made.f, made.C])
    others = numbered(before, "def f{i}(): return {i}, f{j}")

    loaded = waybill.loads(waybill.dumps([*others, made.f, made.C, made.g]))

    f, c, g = loaded[before:]
    assert f() == (g, c)
    assert g() == (f, c)
    assert [other()[0] for other in loaded[:before]] == list(range(before))


@pytest.mark.once
def test_many_thousand_functions_and_references_arrive():
    count = repeats.times(5000)
    functions = numbered(count, "def f{i}(): return {i}")

    loaded = waybill.loads(waybill.dumps(functions * 20))

    assert [f() for f in loaded[:count]] == list(range(count))
    assert all(loaded[i] is loaded[i % count] for i in range(len(loaded)))
