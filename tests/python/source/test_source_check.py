"""Source that is compared with the bytecode beside it: what is found to be different,
and what is not compiled for it."""

import collections
import dataclasses
import sys
import typing

import pytest
import waybill
from other_python import altered, as_of_another_python
from waybill._source.source_check import check_sources, find_problem
from waybill._source.units import DEF, Unit

RATE = 0.5
REST = "scaled", "scaled", None, 0, 0, 0, 0, (), (), ()


def scaled(values, by=RATE):
    return [value * by for value in values]


@dataclasses.dataclass
class Sample:
    name: str


class Pair(typing.NamedTuple):
    left: int

    def double(self):
        return self.left * 2


Point = collections.namedtuple("Point", "x y")


class Model:
    def __init__(self):
        self.__mean = 0

    def listed(self, items):
        return [lambda: item + self.__mean for item in items]

    async def later(self):
        return super().__repr__()


def sent(*objects, source=True):
    here = {__name__}
    return waybill.dumps(objects, source=source, by_value=here)


def problems(payload):
    compared = check_sources(payload)
    return {one.function: one.problem for one in compared if one.problem is not None}


def test_source_that_was_proven_is_the_same():
    payload = sent(scaled, Model, Model().listed([1])[0], leave)

    compared = check_sources(payload)

    assert len(compared) >= 5
    assert problems(payload) == {}


def test_functions_are_told_with_their_places():
    (one,) = check_sources(sent(scaled))

    assert (one.function, one.file) == ("scaled", __file__)
    assert one.line == scaled.__code__.co_firstlineno


@pytest.mark.parametrize("optimize", ["-O", "-OO"])
def test_source_of_an_optimizing_python_is_the_same(optimize, tmp_path):
    import subprocess

    script = tmp_path / "job.py"
    script.write_text(
        'def task(x):\n    "Text."\n    assert x\n    return x\n'
        "import waybill, sys\n"
        "waybill.save(task, sys.argv[1], source=True)\n"
    )
    target = tmp_path / "task.waybill"
    subprocess.run([sys.executable, optimize, script, target], check=True)

    assert problems(target.read_bytes()) == {}


@pytest.mark.parametrize(
    "text", [b"value + by for", b"value * by  or", b"value *by for ", b"values*by for "]
)
def test_text_that_was_altered_is_told_with_the_name(text):
    payload = altered(sent(scaled), b"value * by for", text)

    found = problems(payload)

    expected = {"scaled"} if text != b"value *by for " else set()
    assert found.keys() == expected


def test_text_that_does_not_compile_is_told_with_its_line():
    payload = altered(sent(scaled), b"value * by for", b"value * by fox")

    line = scaled.__code__.co_firstlineno + 1
    assert "its source does not compile" in problems(payload)["scaled"]
    assert f"(line {line})" in problems(payload)["scaled"]


def test_constants_and_names_count():
    def named():
        return scaled([1234567])

    payload = sent(named)

    other = {named.__qualname__: "its source compiles to other bytecode"}
    assert problems(altered(payload, b"1234567])", b"1234568])")) == other
    assert problems(altered(payload, b"scaled([", b"scaleb([")) == other


def test_a_comment_may_be_altered():
    def commented():
        return 1  # Nobody runs this.

    assert problems(altered(sent(commented), b"Nobody runs", b"Anybody ran")) == {}


def test_what_has_no_source_is_told():
    assert problems(sent(scaled, source=False)) == {"scaled": "it has no source"}


def test_what_a_library_wrote_has_nothing_to_compare_but_in_named_tuples():
    assert problems(sent(Pair, Point)) == {}

    found = problems(sent(Sample))

    assert {name.rpartition(".")[2] for name in found} >= {"__init__", "__eq__"}
    assert set(found.values()) == {"a library wrote it, and it has no text to compare"}


def test_what_runs_is_nothing():
    payload = sent(leave)

    assert problems(payload) == {}


def leave(value=RATE):
    raise SystemExit(value)


def test_text_beyond_the_limits_of_compilers_is_not_compiled():
    unit = Unit(DEF, f"def scaled():\n return {'-' * 3000}1\n", *REST)

    assert "is not compiled" in find_problem(unit, scaled.__code__)


def test_payload_of_another_python_is_refused_with_what_to_do():
    with pytest.raises(waybill.PythonMismatchError, match=r"--python python3\.99"):
        check_sources(as_of_another_python(sent(scaled)))


def test_data_needs_no_certain_python():
    assert check_sources(as_of_another_python(waybill.dumps([1, 2]))) == []


def test_what_is_no_payload_is_refused():
    with pytest.raises(waybill.DecodeError):
        check_sources(b"\xc1")
