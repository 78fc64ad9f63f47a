"""A reader should finish a file in one sitting, and find it in its folder."""

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ["src", "include", "python_ext"]
CAP = 800  # Of the product, which aims at 300; of tests and tools:
OTHER_CAP = 500
FUNCTION_CAP = 60
BYTES_CAP = 100_000
FOLDER_CAP = 40
CLASS_CAP = 3  # Sources that define members of one class, besides its header.
#: Classes that still have more.
SPREAD_CLASSES = {}
FOLDERS = [*PRODUCT, "tests", "fuzz", "benchmarks", "docs/examples", "cmake", ".ci"]
SUFFIXES = {".cpp", ".h", ".py", ".pyi", ".cmake", ".sh", ""}
GENERATED = {"src/bytecode/opcode_rows"}
FIXTURES = {"tests/bytecode/chains", "tests/python/imports/discovery/shapes"}
DATA = {"tests/golden", "fuzz/corpus", "fuzz/regressions"}


def source_files(folders=FOLDERS):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            place = path.relative_to(ROOT).as_posix()
            left_out = any(place.startswith(folder) for folder in GENERATED | DATA)
            if path.is_file() and path.suffix in SUFFIXES and not left_out:
                yield place, path.read_text(encoding="utf-8")


# What clang-format puts at the same depth as a function's first line.
CONTROL = re.compile(r"(if|else|for|while|do|switch|try|catch|case|default)\b|[{}]")


def cxx_functions(text):
    """The lines of each function that is defined in C++ as clang-format writes it: from
    the last line as deep as the brace that closes it, to that brace. Members of classes
    stand deeper than free functions."""
    lines = text.splitlines()
    first = {}
    for number, line in enumerate(lines):
        depth = len(line) - len(line.lstrip())
        if line.strip() == "}" and depth in first:
            if not CONTROL.match(lines[first[depth]].strip()):
                yield lines[first[depth] : number + 1]
        if line.strip() and not line.startswith("#"):
            first[depth] = number


def python_functions(text):
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield lines[node.lineno - 1 : node.end_lineno]


def functions_of(place, text):
    is_python = place.endswith((".py", ".pyi"))
    return python_functions(text) if is_python else cxx_functions(text)


def test_no_tracked_file_has_more_bytes_than_the_cap():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE
    )
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]

    assert len(paths) > 1000
    assert [p for p in paths if p.is_file() and p.stat().st_size > BYTES_CAP] == []


def test_no_folder_has_more_files_than_the_cap():
    counts = Counter(
        path.parent.relative_to(ROOT).as_posix()
        for folder in ("src", "python_ext", "tests")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )

    too_many = {
        folder: count
        for folder, count in counts.items()
        if count > FOLDER_CAP and not any(map(folder.startswith, DATA | FIXTURES))
    }
    assert not too_many


def test_no_source_file_is_longer_than_the_cap():
    lengths = {place: len(text.splitlines()) for place, text in source_files()}

    too_long = {
        place: length
        for place, length in lengths.items()
        if length > (CAP if place.split("/")[0] in PRODUCT else OTHER_CAP)
    }
    assert not too_long


def test_no_function_is_longer_than_the_cap():
    functions = [
        (place, function)
        for place, text in source_files(PRODUCT)
        for function in functions_of(place, text)
    ]

    too_long = {
        f"{place}: {function[0].strip()}": len(function)
        for place, function in functions
        if len(function) > FUNCTION_CAP
    }
    assert not too_long
    assert len(functions) > 2000  # It finds them at all.


# A member that is defined outside of its class; clang-format begins it without indent.
MEMBER = re.compile(r"^(?!using\b)(?=\w)[^\n(;=]*?\b([A-Z]\w*)::~?\w+\(", re.MULTILINE)


def test_no_class_is_defined_in_more_sources_than_the_cap():
    sources = {}
    for place, text in source_files(PRODUCT):
        if place.endswith(".cpp"):
            for name in MEMBER.findall(text):
                sources.setdefault(name, set()).add(place)

    too_many = {
        name: len(places)
        for name, places in sources.items()
        if len(places) > SPREAD_CLASSES.get(name, CLASS_CAP)
    }
    assert not too_many
    assert len(sources) > 50  # It finds them at all.


def test_readme_is_read_in_a_few_minutes():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
