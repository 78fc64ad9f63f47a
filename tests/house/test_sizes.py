"""A reader should finish a file in one sitting, and find it in its folder."""

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CAP = 500
FOLDER_CAP = 40
FOLDERS = ["src", "include", "python_ext", "tests", "fuzz", "benchmarks"]
FOLDERS += ["docs/examples", "cmake", ".ci"]
SUFFIXES = {".cpp", ".h", ".py", ".pyi", ".cmake", ".sh", ""}
GENERATED = {"src/bytecode/opcode_rows"}
FIXTURES = {"tests/bytecode/chains", "tests/python/imports/discovery/shapes"}
DATA = {"tests/golden", "fuzz/corpus", "fuzz/regressions"}


def source_files():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            place = path.relative_to(ROOT).as_posix()
            left_out = any(place.startswith(folder) for folder in GENERATED | DATA)
            if path.is_file() and path.suffix in SUFFIXES and not left_out:
                yield place, len(path.read_text(encoding="utf-8").splitlines())


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
    too_long = {place: lines for place, lines in source_files() if lines > CAP}

    assert not too_long


def test_readme_is_read_in_a_few_minutes():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
