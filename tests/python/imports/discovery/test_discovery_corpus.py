"""Every shape of the corpus, sent from one process and loaded in a fresh one."""

import sys

import both_ends
import corpus
import packages
import pytest
import waybill  # noqa: F401  Without it one error is enough; the workers import it.

SHAPES = [
    shape for shape in corpus.read_shapes() if shape.exists_on(sys.version_info[:2])
]
RUN_SHAPES = [shape for shape in SHAPES if shape.is_run]

every_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.id)
every_run_shape = pytest.mark.parametrize(
    "shape", RUN_SHAPES, ids=lambda shape: shape.id
)


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    return both_ends.run_both_ends(SHAPES, "waybill", folder)


@pytest.fixture
def sent(reports, shape):
    report = reports[0][shape.id]
    assert report["error"] is None, f"{report['stage']}: {report['error']}"
    return report


@pytest.fixture
def received(reports, shape, sent):
    return reports[1][shape.id]


def listed(shape, report, time):
    """The modules of one kind that the shape makes a claim about."""
    expected = {"load": shape.load, "call": shape.call, "lazy": shape.lazy}[time]
    named = {name.strip("?") for item in expected for name in item.split("|")}
    return {
        module
        for module, its_time, *_ in report["records"]
        if its_time == time
        and (
            module.startswith(".")
            or module.split(".")[0] in packages.TOPS
            or module in named | shape.watch
        )
    }


@every_shape
def test_modules_needed_at_load_are_exact(shape, sent):
    modules = listed(shape, sent, "load")

    missing, surplus = shape.load - modules, modules - shape.load - shape.may

    assert (sorted(missing), sorted(surplus)) == ([], []), "(missing, surplus)"


@every_shape
def test_import_statements_in_bodies_are_listed(shape, sent):
    assert corpus.unmet(shape.call, listed(shape, sent, "call")) == []


@every_shape
def test_lazy_imports_are_listed(shape, sent):
    assert corpus.unmet(shape.lazy, listed(shape, sent, "lazy")) == []


@every_shape
def test_records_are_well_formed(shape, sent):
    records = sent["records"]

    assert len({record[:2] for record in records}) == len(records)
    for module, time, chain, function, file, line in records:
        assert time in ("load", "call", "lazy")
        assert module and (time == "call" or not module.startswith("."))
        assert all(isinstance(text, str) for text in (chain, function, file))
        assert isinstance(line, int) and line >= 0


@every_shape
def test_sending_imports_nothing(shape, sent):
    assert sent["imported"] == []


@every_shape
def test_sending_asks_no_module_for_anything(shape, sent):
    assert sent["asked"] == []


@every_shape
def test_loading_imports_what_is_listed(shape, sent, received):
    assert received["stage"] == "run", received["error"]
    modules = listed(shape, sent, "load")
    loaded = set(received["loaded"])

    made_up = {name for name in modules if name.split(".")[0] in packages.TOPS}
    missing = packages.with_consequences(made_up) - loaded
    surplus = loaded - packages.with_consequences(modules)

    assert (sorted(missing), sorted(surplus)) == ([], []), "(missing, surplus)"


@every_shape
def test_sending_again_gives_equal_bytes(shape, sent):
    assert sent["same_again"]


@every_shape
def test_received_function_needs_the_same_at_load(shape, sent, received):
    assert received["stage"] == "run", received["error"]
    assert received.get("relay_error") is None

    assert listed(shape, received, "load") == listed(shape, sent, "load")


@every_run_shape
def test_function_runs_in_a_fresh_process(shape, received):
    assert received["error"] is None, f"{received['stage']}: {received['error']}"
    assert received["result"] == shape.gives


@every_run_shape
def test_function_runs_where_it_was_made(shape, reports):
    report = reports[0][shape.id]
    if "norun" in shape.sender:
        pytest.skip("the shape is about what only a worker lacks or has")

    assert report.get("result", report["error"]) == shape.gives


def test_corpus_is_large_enough_to_mean_something():
    assert len(SHAPES) >= 500
    assert len({shape.category for shape in SHAPES}) >= 15
