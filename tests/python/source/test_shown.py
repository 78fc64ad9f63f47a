"""Source of functions whose file is elsewhere is shown by what shows source."""

import inspect
import io
import linecache
import os
import pdb
import traceback

import pytest
import source_package
from waybill._source import shown
from waybill._source.compiling import compile_unit
from waybill._source.proving import prove
from waybill._source.units import ANNOTATE, CLASS_ANNOTATE, DEF, LAMBDA, Unit

FILE = "/nowhere/of/elsewhere.py"
TEXT = "    def fails(a):\n        # Why.\n        return a / 0"


@pytest.fixture(autouse=True)
def forget():
    yield
    linecache.clearcache()


def unit(text=TEXT, name="fails", **fields):
    return Unit(DEF, text, name, name, None, 0, 0, 0, 0, (), (), ())._replace(**fields)


def arrived(made, line=20, file=FILE):
    """A function of a unit that came from elsewhere."""
    code = compile_unit(made, file, line)
    shown.keep_source(made, code, line)
    return type(lambda: 0)(code, {"__name__": "gone"})


def annotations_arrived(made, line):
    """The code that stands for what gives annotations, which lives as long as it."""
    code = compile("", FILE, "exec")
    shown.keep_source(made, code, line)
    return code


def test_tracebacks_show_the_line():
    function = arrived(unit())

    try:
        function(1)
    except ZeroDivisionError:
        told = traceback.format_exc()

    assert f'File "{FILE}", line 22, in fails\n    return a / 0\n' in told


def test_source_is_found_by_inspect():
    function = arrived(unit(decorator_lines=2))

    assert inspect.getsource(function).strip() == TEXT.strip()
    assert inspect.getsourcefile(function) == FILE


def test_source_of_a_lambda_stands_in_its_columns():
    function = arrived(unit("lambda a: a / 0", "<lambda>", kind=LAMBDA, column=30))

    assert linecache.getline(FILE, 20) == " " * 30 + "lambda a: a / 0\n"
    assert inspect.getsource(function).strip() == "lambda a: a / 0"


def test_debuggers_list_the_lines():
    function = arrived(unit())
    output = io.StringIO()
    debugger = pdb.Pdb(
        stdin=io.StringIO("step\nlist 20, 22\ncontinue\n"), stdout=output
    )
    debugger.use_rawinput = False

    with pytest.raises(ZeroDivisionError):
        debugger.runcall(function, 1)

    assert "return a / 0" in output.getvalue()


def test_lines_survive_a_check_of_the_cache():
    function = arrived(unit())

    linecache.checkcache()
    linecache.checkcache(FILE)

    assert "# Why." in inspect.getsource(function)


def test_several_units_of_a_file_are_shown_together():
    one = arrived(unit())
    other = arrived(unit("def g(): pass", "g"), 5)

    assert inspect.getsource(one).strip() == TEXT.strip()
    assert inspect.getsource(other) == "def g(): pass\n"
    assert linecache.getlines(FILE)[:5] == ["\n"] * 4 + ["def g(): pass\n"]


def test_latest_of_overlapping_texts_wins():
    functions = [arrived(unit()), arrived(unit("    def fails(a): return 2"))]

    assert len(functions) == 2
    assert linecache.getline(FILE, 20) == "    def fails(a): return 2\n"


def test_annotations_are_shown_where_nothing_else_is():
    function = arrived(unit())
    header = unit("    def fails(a: int):\n        pass", kind=ANNOTATE)
    names = unit("    a: int\n\n\n    b: int", kind=CLASS_ANNOTATE)

    codes = [
        annotations_arrived(header, 20),
        annotations_arrived(names, 19),
        annotations_arrived(names, 29),
    ]

    assert len(codes) == 3
    assert inspect.getsource(function).strip() == TEXT.strip()
    assert linecache.getlines(FILE)[22:34] == [
        "    b: int\n",
        "...\n",
        *["\n"] * 5,
        "    a: int\n",
        "\n",
        "\n",
        "    b: int\n",
        "...\n",
    ]


def test_file_that_is_there_shows_its_other_lines(tmp_path):
    path = tmp_path / "there.py"
    path.write_text("own = 1\nother = 2\nlast = 3")

    function = arrived(unit("def other(): pass", "other"), 2, str(path))

    expected = ["own = 1\n", "def other(): pass\n", "last = 3\n"]
    assert list(linecache.getlines(str(path))) == expected
    assert inspect.getsource(function) == "def other(): pass\n"


def test_change_of_a_file_that_is_there_is_seen(tmp_path):
    path = tmp_path / "there.py"
    path.write_text("own = 1\n")
    function = arrived(unit("def other(): pass", "other"), 2, str(path))
    before = linecache.getline(str(path), 1)

    path.write_text("own = 'changed'\n")

    expected = ("own = 1\n", "own = 'changed'\n")
    assert (before, linecache.getline(str(path), 1)) == expected
    assert inspect.getsource(function) == "def other(): pass\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_file_that_is_none_is_not_opened(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)

    function = arrived(unit(), 20, str(path))

    assert linecache.getline(str(path), 21) == "        # Why.\n"
    assert function.__name__ == "fails"


def test_entry_of_others_is_left_alone():
    linecache.cache["<cell 7>"] = 4, None, ["a = 1\n"], "<cell 7>"

    arrived(unit(), 1, "<cell 7>")

    assert linecache.getline("<cell 7>", 1) == "a = 1\n"
    del linecache.cache["<cell 7>"]


@pytest.mark.parametrize("name", ["", "<string>", "<stdin>"])
def test_name_of_many_texts_is_not_taken(name):
    arrived(unit(), file=name)

    assert name not in linecache.cache


@pytest.mark.parametrize("line", [0, -5, 10**9])
def test_lines_that_no_file_has_are_not_shown(line):
    function = arrived(unit(), 7, "/nowhere/far.py")
    shown.keep_source(unit(), function.__code__, line)

    assert list(linecache.getlines("/nowhere/far.py")) == []


def test_nothing_is_put_together_before_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(shown, "_lines_of", None)

    assert arrived(unit()).__name__ == "fails"


def test_cache_that_was_cleared_is_filled_again():
    arrived(unit())
    linecache.clearcache()

    function = arrived(unit())

    assert "# Why." in inspect.getsource(function)


def test_number_of_files_is_bounded(monkeypatch):
    monkeypatch.setattr(shown, "MAX_FILES", 2)

    for name in "abc":
        arrived(unit(), file=f"/nowhere/{name}.py")

    assert "/nowhere/a.py" not in linecache.cache
    assert "/nowhere/c.py" in linecache.cache


def test_text_goes_with_its_code():
    one = arrived(unit("def f(): pass", "f"), 5)
    other = arrived(unit("def g(): pass", "g"), 9)
    before = linecache.getline(FILE, 5), linecache.getline(FILE, 9)

    del one
    again = arrived(unit("def h(): pass", "h"), 12)

    assert before == ("def f(): pass\n", "def g(): pass\n")
    assert linecache.getline(FILE, 5) == "\n"
    assert inspect.getsource(other) == "def g(): pass\n"
    assert inspect.getsource(again) == "def h(): pass\n"


def test_what_is_shown_is_no_file_to_prove_from():
    function = arrived(unit())

    assert prove(function.__code__) == f"its file {FILE} is not on this machine"
