"""What fuzz_round_trip relies on: its comparison sees differences, its blueprints make
all kinds of objects; and figures of fuzzing add up."""

import importlib.util
import random
from pathlib import Path
from types import CellType, FunctionType

import pytest

FUZZ = Path(__file__).resolve().parents[3] / "fuzz"


def module_of(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


blueprints = module_of(FUZZ / "embedded" / "blueprints.py")
same_graph = module_of(FUZZ / "embedded" / "same_graph.py")


def twins():
    item = []
    return [item, item]


def loop(length):
    first = last = []
    for _ in range(length - 1):
        last.append([])
        last = last[0]
    last.append(first)
    return first


def function(*, default=1, cell=1, scope=1, note=1):
    def made(a=default):
        return a, cell, scope_value  # noqa: F821

    copy = FunctionType(
        made.__code__,
        {"__name__": "here", "scope_value": scope},
        "made",
        (default,),
        (CellType(cell),),
    )
    copy.note = note
    return copy


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        ("a", b"a"),
        ([1], (1,)),
        ([1], [1, 1]),
        ({1: 2, 3: 4}, {3: 4, 1: 2}),
        ({1: [2]}, {1: [3]}),
        ({0.0}, {-0.0}),
        (frozenset({1}), frozenset({2})),
        (bytearray(b"a"), bytearray(b"b")),
        (slice(1), slice(2)),
        (range(3), range(0, 3, 2)),
        (twins(), [[], []]),
        ([[], []], twins()),
        (loop(2), loop(3)),
        (function(), function(default=2)),
        (function(), function(cell=2)),
        (function(), function(scope=2)),
        (function(), function(note=2)),
        (function(), function),
    ],
)
def test_comparison_sees_a_difference(left, right):
    with pytest.raises(same_graph.GraphDifference):
        same_graph.demand_same(left, right)


@pytest.mark.parametrize(
    "make", [twins, lambda: loop(3), function, lambda: {float("nan"), -0.0, "a"}]
)
def test_comparison_passes_what_is_equal(make):
    same_graph.demand_same(make(), make())


def test_same_blueprint_makes_equal_graphs():
    data = random.Random(1).randbytes(500)

    same_graph.demand_same(blueprints.build_graph(data), blueprints.build_graph(data))


def test_blueprints_make_all_kinds_that_they_know():
    source = random.Random(2)

    made = {
        type(item)
        for _ in range(200)
        for item in blueprints.build_graph(source.randbytes(300))
    }

    assert made >= {
        *(bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set),
        *(frozenset, slice, range, type(None), type(...), FunctionType),
    }


def test_figures_of_several_runs_add_up(tmp_path, monkeypatch, capsys):
    report = module_of(FUZZ / "report.py")
    monkeypatch.setattr(report, "BUILD", tmp_path)
    monkeypatch.setattr(report, "HARNESSES", tmp_path)
    (tmp_path / "fuzz_reader").touch()
    (tmp_path / "corpus" / "reader").mkdir(parents=True)
    (tmp_path / "corpus" / "reader" / "a").write_bytes(b"abc")
    (tmp_path / "finds").mkdir()
    (tmp_path / "finds" / "reader-crash-1").touch()
    log = tmp_path / "reader.log"
    for count, coverage in (100, 7), (1100, 9):
        log.write_text(
            f"#{count}\tDONE   cov: {coverage} ft: 30 corp: 1/3b exec/s: 5 rss: 1Mb\n"
            f"stat::number_of_executed_units: {count}\n"
        )
        report.main(["add", "reader", str(log), "1.5", "0.5"])

    last = capsys.readouterr().out.splitlines()[-1]

    assert last == "| `reader` | 1 200 | 300 | 4 | 9 | 30 | 1 | 3 | 1 |"
