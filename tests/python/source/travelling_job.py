"""A script that prints calls of what it has made, and reads their outcomes. A test runs
it with one Python, and a worker that has none of it with another."""

import base64
import dataclasses
import enum
import functools
import json
import sys
import typing

from waybill.calls import dumps_call, loads_outcome

RATE = 0.5


def scaled(values, by=RATE):
    return [value * by for value in values]


class Color(enum.Enum):
    RED = 1
    BLUE = 2

    def mixed(self):
        return self.value * 10


class Pair(typing.NamedTuple):
    left: int
    right: int = 7

    def total(self):
        return self.left + self.right


@dataclasses.dataclass(order=True, slots=True)
class Sample:
    name: str
    values: list = dataclasses.field(default_factory=list)
    weight: float = dataclasses.field(default=1.0, kw_only=True)

    def mean(self) -> float:
        return sum(self.values) / len(self.values) * self.weight


class Model:
    """A model that
    is trained."""

    def __init__(self):
        self.__mean = 0.0

    def fit(self, samples: "list[Sample]") -> "Model":
        self.__mean = sum(s.mean() for s in samples) / len(samples)
        return self

    def predict(self, x):
        return [scaled([x])[0] + self.__mean for _ in range(2)]


class Better(Model):
    def predict(self, x):
        return super().predict(x) + [max((lambda: x)(), 0)]


class Wrong(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


def logged(function):
    @functools.wraps(function)
    def around(*args, **kwargs):
        return "logged", function(*args, **kwargs)

    return around


@logged
def kind_of(x: int, *, deep: bool = False) -> str:
    match x:
        case 0:
            return "zero"
        case int() if deep:
            return f"deep {x!r}"
        case _:
            return "other"


def make_counter(start):
    def step(by=1):
        nonlocal start
        start += by
        return start

    return step


def fails(code):
    raise Wrong(code)


def use(model, color, pair):
    return (
        model.predict(4),
        color.mixed(),
        pair.total(),
        kind_of(0),
        kind_of(5, deep=True),
        sorted([Sample("b", [1]), Sample("a", [2])])[0].name,
        [make_counter(3)(), [i for i in range(3) if (lambda: i)()]],
    )


def pack(data):
    return base64.b64encode(data).decode()


def send():
    model = Better().fit([Sample("a", [1, 2, 3]), Sample("b", [4], weight=2.0)])
    calls = {
        "use": dumps_call(use, (model, Color.RED, Pair(1)), source=True),
        "back": dumps_call(
            lambda *given: given,
            (model, Color.BLUE, Pair(3), Sample("s", [1])),
            source=True,
        ),
        "raises": dumps_call(fails, (42,), source=True),
        "makes": dumps_call(lambda: (make_counter(5), Model, scaled), source=True),
    }
    print(json.dumps({name: pack(data) for name, data in calls.items()}), flush=True)
    got = {k: base64.b64decode(v) for k, v in json.loads(sys.stdin.readline()).items()}
    assert loads_outcome(got["use"]) == use(model, Color.RED, Pair(1))
    again, color, pair, sample = loads_outcome(got["back"])
    assert type(again) is Better and again.predict(4) == model.predict(4)
    assert color is Color.BLUE and pair == Pair(3) and type(pair) is Pair
    assert sample == Sample("s", [1])
    try:
        loads_outcome(got["raises"])
    except Wrong as error:
        assert error.code == 42
    else:
        raise AssertionError("nothing was raised")
    counter, model_class, function = loads_outcome(got["makes"])
    assert (counter(), counter(2)) == (6, 8)
    assert model_class is Model
    assert function([2, 4]) == [1.0, 2.0]
    print("all came back")


if __name__ == "__main__":
    send()
