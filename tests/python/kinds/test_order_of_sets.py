"""Elements of sets are in the order of their bytes, whatever they are."""

import pytest
import waybill


@pytest.mark.parametrize("count", [2, 5, 17, 300])
@pytest.mark.parametrize(
    "element",
    [
        pytest.param(lambda n: n * 97 - 5000, id="ints"),
        pytest.param(lambda n: (n * 97 % 50 - 20) * 1.5 + n / 8, id="floats"),
        pytest.param(lambda n: f"one beginning {n * 97 % 500}", id="texts"),
        pytest.param(lambda n: f"{'long' * 20} {n * 97 % 500}", id="long texts"),
        pytest.param(lambda n: (n * 97 % 500, "x"), id="tuples"),
        pytest.param(lambda n: frozenset([n * 97 % 500, "x", n]), id="frozensets"),
        pytest.param(lambda n: [n, str(n), n / 2, b"x" * n, None][n % 5], id="mixed"),
    ],
)
def test_elements_of_sets_are_in_the_order_of_their_bytes(element, count):
    elements = {element(n) for n in range(count)}

    def encoded(value):
        data = waybill.dumps([value])
        section = waybill.inspect(data)["sections"]["payload"]
        return data[section["offset"] + 1 :][: section["size"] - 1]

    assert b"".join(sorted(map(encoded, elements))) in waybill.dumps(elements)
