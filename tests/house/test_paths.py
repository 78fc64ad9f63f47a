"""Paths on the pages lead to files."""

import re

import pytest
from pages import PAGES, ROOT, name_of

FOLDERS = r"src|include|python_ext|tests|fuzz|benchmarks|cmake|\.ci"
# A folder of the reader's, in an example.
NOT_OURS = {"src/tools"}
PACKAGE = ROOT / "python_ext" / "waybill"


def rows(page, head):
    """The cells of each row of the table with this head."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    table = text.partition(f"\n{head}\n")[2].partition("\n\n")[0]
    return [line.strip("|").split("|") for line in table.splitlines()[1:]]


def quoted(text):
    return re.findall(r"`([^`\s]+)`", text)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_paths_on_a_page_are_there(page):
    named = re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", page.read_text(encoding="utf-8"))

    assert [p for p in named if not (ROOT / p).exists() and p not in NOT_OURS] == []


@pytest.mark.parametrize(
    "page",
    ["docs/architecture.md", "docs/design_notes.md", "src/python/walker/README.md"],
)
def test_source_files_that_a_page_names_are_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:[\w/]+/)?(\w+\.(?:cpp|h|py|inc))`", text))
    there = {
        p.name for f in FOLDERS.split("|") for p in (ROOT / f.strip("\\")).rglob("*")
    }

    assert len(named) > 5
    assert named - there - {"Python.h"} == set()


def test_each_question_of_a_newcomer_has_a_path_for_an_answer():
    answers = {
        question.strip(): quoted(answer)
        for question, answer in rows("contributing.md", "| where is | in |")
    }

    assert len(answers) >= 10
    for question, paths in answers.items():
        assert paths, question
        assert [path for path in paths if not (ROOT / path).exists()] == []


def test_names_on_the_map_stand_in_the_folder_before_them():
    lost, found = [], 0
    table = rows("architecture.md", "| to change | read first | and then |")
    for _, *cells in table:
        folder = None
        for name in quoted(" ".join(cells)):
            if re.match(rf"(?:{FOLDERS})/", name):
                path = ROOT / name
                folder = path if path.is_dir() else path.parent
            else:
                path = (PACKAGE if name[0] == "_" else folder) / name
            found += 1
            if not path.exists():
                lost.append(name)

    assert found > 50
    assert len(table) <= 20
    assert lost == []


def test_no_two_test_files_have_one_name():
    """pytest imports them by their names alone."""
    files = sorted(path.name for path in (ROOT / "tests").rglob("test_*.py"))

    assert [name for name in set(files) if files.count(name) > 1] == []
