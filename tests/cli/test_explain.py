"""`waybill explain`: what a payload is made of, told without Python."""

import functools
import json
import os
import re
import sys
import types

import pytest
import waybill
from command import BINARY, ROOT, error_of, needs_binary, run
from terminals import painted_on_terminal
from waybill import _commands
from waybill._commands import explain, output

pytestmark = needs_binary

MODULE = """\
LOOKUP = {i: str(i) for i in range(2000)}
TAGS = {"t" * 3000}


class Model:
    def __init__(self):
        self.weights = ["w" * 9000]


class Job:
    table = ["j" * 5000]

    def run(self):
        return self.table, score(1)


model = Model()


def score(key):
    first = LOOKUP[key]
    return first, model.weights, TAGS


def task():
    return Job().run()


def counter():
    seen = ["s" * 4000]
    again = [seen]

    def step():
        return seen, again

    return step
"""


end = functools.partial(run, "explain")


def text_of(*arguments, data=None):
    ended = end(*arguments, data=data)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.decode()


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """A module whose functions travel by value, from a file with lines."""
    file = tmp_path_factory.mktemp("job") / "job.py"
    file.write_text(MODULE)
    module = types.ModuleType("__main__")
    code = compile(MODULE, file, "exec", dont_inherit=True)
    exec(code, module.__dict__)
    return module


def line_of(word):
    """The line of the module that holds the word."""
    [number] = [i for i, line in enumerate(MODULE.splitlines(), 1) if word in line]
    return f"job.py:{number}"


def rows(text):
    """Path, type, code and place of each part that is shown."""
    form = r" *[\d.]+ [kMG]?B +\d+%  (\S+) \((.*?)\)(?:  +<- (.*?))?(?:  +(\S+:\d+))?"
    found = [re.fullmatch(form, line) for line in text.splitlines()]
    return {match[1]: match.groups()[1:] for match in found if match}


@pytest.mark.parametrize(
    "path, kind, code, word",
    [
        ("LOOKUP", "dict of 2000", "score", "first = "),
        ("TAGS", "set of 1", "score", "return first"),
        ("model.weights[0]", "str", "model.weights in score", "return first"),
        ("Job.table[0]", "str", "self.table in Job.run", "return self.table"),
    ],
)
def test_variables_and_attributes_are_told_with_the_code_that_names_them(
    job, path, kind, code, word
):
    found = rows(text_of("-", data=waybill.dumps(job.task)))

    assert found[path] == (kind, code, line_of(word))


def test_free_variables_are_told_by_their_names(job):
    found = rows(text_of("-", data=waybill.dumps(job.counter())))

    [(path, told)] = [row for row in found.items() if row[1][0] == "str"]
    assert path in {"seen[0]", "again[0][0]"}
    assert told[2] == line_of("return seen, again")


def test_shared_objects_are_counted_once():
    shared = ["x" * 50_000]

    text = text_of("-", data=waybill.dumps([shared, shared, {"again": shared}]))

    assert text.startswith("obj   50.")
    assert list(rows(text)) == ["obj[0][0]"]


def test_total_is_the_size_of_the_file(tmp_path):
    numpy = pytest.importorskip("numpy")
    waybill.save({"a": numpy.ones(100_000)}, tmp_path / "file")

    text = text_of(tmp_path / "file")

    size = os.path.getsize(tmp_path / "file")
    assert text.startswith(f"obj   {size / 1000:.1f} kB in 1 payload")
    assert rows(text)["obj['a']"][0] == "ndarray 100000"


def test_imports_are_listed_by_time():
    def task():
        import wave

        return json.dumps, wave

    text = text_of("-", data=waybill.dumps(task))

    assert "needs: json (load); wave (call)\n" in text


def test_top_bounds_the_rows():
    data = waybill.dumps({f"k{i}": "x" * (1000 + i) for i in range(5)})

    assert len(rows(text_of("-", "--top", "3", data=data))) == 3


def test_hostile_names_are_escaped():
    data = waybill.dumps({"\x1b[2J\n": "x" * 1000})

    text = text_of("-", data=data)

    assert "\x1b" not in text
    assert text.count("\n") == 2


def test_page_and_object_are_written(tmp_path):
    waybill.save([1], tmp_path / "file")

    ended = end(tmp_path / "file", "--json", "--html", tmp_path / "page.html")

    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["total"] == os.path.getsize(tmp_path / "file")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html")


@pytest.mark.parametrize("name", ["", "-"])
def test_page_needs_a_file(name):
    assert end("-", "--html", name, data=waybill.dumps(1)).returncode == 1


def test_file_with_a_colon_in_its_name_is_a_file(tmp_path):
    waybill.save([1], tmp_path / "a:b")

    assert end("a:b", cwd=tmp_path).returncode == 0


class Explained:
    """What waybill.explain() gives, of an object that the test asks about."""

    imports = ()

    def __init__(self, value, progress):
        progress(65_536, 1 << 20)
        self.value = value

    def __str__(self):
        return f"page of {self.value.__qualname__}\n"

    def to_text(self, top):
        return f"page of {top}"

    def to_json(self):
        return '{"total": 7}'

    def to_html(self, path):
        with open(path, "w") as file:
            file.write("<!doctype html>")


@pytest.fixture
def told(monkeypatch, capfd):
    """Runs the command of Python's side, and gives its exit code and stdout."""
    monkeypatch.setattr(waybill, "explain", Explained, raising=False)

    def told(*words):
        monkeypatch.setattr(output, "_stream", sys.stdout)
        parser = _commands.Parser(allow_abbrev=False)
        explain.declare(parser)
        options = parser.parse_args([str(word) for word in words])
        wrong = explain.find_usage_error(options)
        if wrong is not None:
            return wrong, ""
        return explain.run(options), capfd.readouterr().out

    return told


def test_objects_are_found_by_module_and_name(told):
    assert told("json:JSONDecoder.decode") == (0, "page of JSONDecoder.decode\n")
    assert told("json:dumps", "--top", 3) == (0, "page of 3\n")
    assert told("json:dumps", "--json") == (0, '{"total": 7}\n')


def test_page_of_an_object_is_written(told, tmp_path):
    code, _ = told("json:dumps", "--html", tmp_path / "page.html")

    assert code == 0
    assert (tmp_path / "page.html").read_text() == "<!doctype html>"


def test_page_that_cannot_be_written_is_told(told, tmp_path):
    assert told("json:dumps", "--html", tmp_path / "no" / "page")[0] == 2


@pytest.mark.parametrize(
    "target", ["json", "json:", ":dumps", ".a:b", "a:b.<locals>.c"]
)
def test_target_that_names_no_object_is_a_misunderstanding(told, target):
    assert target in told(target)[0]


def test_object_that_is_not_there_is_told(told):
    assert told("json:no_such_name")[0] == 5


def test_objects_become_python(tmp_path):
    ended = end("no_such_module:f", "--json", "--python", sys.executable, cwd=ROOT)

    assert ended.returncode == 5
    assert "no_such_module" in error_of(ended)["detail"]


def test_progress_of_an_object_is_a_line_that_goes_away(tmp_path):
    (tmp_path / "job.py").write_text("task = [1]\n", "utf-8")
    command = [sys.executable, "-m", "waybill", "explain", "job:task"]

    told, painted = painted_on_terminal(command, cwd=tmp_path)

    assert told.startswith("obj ")  # No colours: only stderr is a terminal.
    assert painted.startswith("\r[") and "objects of job:task" in painted
    assert painted.endswith("\r\033[K") and "\n" not in painted


def test_short_walks_of_a_payload_show_no_progress(tmp_path):
    waybill.save([1], tmp_path / "list.waybill")

    told, painted = painted_on_terminal([BINARY, "explain", tmp_path / "list.waybill"])

    assert told.startswith("obj ") and painted == ""
