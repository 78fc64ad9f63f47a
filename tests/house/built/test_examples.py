"""Each example in the README and in the docs is run, or is part of what CI runs.

A page's `python` and `console` blocks are one program, run in a process and a folder of
its own. Its `sh` blocks set up checkouts and clusters; scripts and tests take them from
the page. `text` is for drawings and grammars.
"""

import doctest
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import BINARY
from pages import PAGES, ROOT, blocks, name_of

HOUSE = Path(__file__).parents[1]
DASK = ROOT / "tests/engines/test_dask.py"

each_page = pytest.mark.parametrize("page", PAGES, ids=name_of)


def is_there(engine):
    """Whether what `waybill.integrations` has a module for can be imported here."""
    module = {"dask": "distributed", "pickle": "pickle"}.get(engine, engine)
    return importlib.util.find_spec(module) is not None


def lacks_library(page):
    """Whether a page is about a library that is not here: all of it needs that."""
    about = {"torch": "torch"}.get(page.stem)
    return about is not None and not is_there(about)


def can_run(block):
    engines = re.findall(r"^import waybill\.integrations\.(\w+)", block.text, re.M)
    return all(map(is_there, engines)) and (
        block.language == "python" or BINARY.exists()
    )


def program_of(page):
    """The page's blocks, each on the lines where it stands there."""
    lines = [""] * len(page.read_text(encoding="utf-8").splitlines())
    for block in filter(can_run, blocks(page, "python", "console")):
        start = block.line - 1
        if block.language == "python":
            lines[start : start + len(block.lines)] = block.lines
        else:  # Nothing is imported that a later example would forget to import.
            words = f"{str(HOUSE / 'console.py')!r}, {str(page)!r}, '{block.line}'"
            python = '__import__("sys").executable'
            lines[start] = (
                f'__import__("subprocess").run([{python}, {words}], check=True)'
            )
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "page", [p for p in PAGES if blocks(p, "python", "console")], ids=name_of
)
def test_examples_run_in_a_fresh_process(page, tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "waybill").symlink_to(BINARY)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    if lacks_library(page):
        pytest.skip("the library is not installed: .ci/libraries runs it")
    if not any(map(can_run, blocks(page, "python", "console"))):
        pytest.skip("the engine is not installed")
    folder = tmp_path / "folder"
    folder.mkdir()
    program = tmp_path / f"{page.stem}_examples.py"
    program.write_text(program_of(page), encoding="utf-8")

    run = subprocess.run(
        [sys.executable, str(program)], cwd=folder, capture_output=True, text=True
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert written_as_told(page, run.stdout) == []
    assert [text for text in pages_below(page) if not is_in(text, run.stdout)] == []


def pages_below(page):
    """The texts right below an example that ends with `print(waybill.explain(…))`."""
    found = blocks(page)
    return [
        text.text
        for before, text in zip(found, found[1:], strict=False)
        if text.language == "text"
        and before.language == "python"
        and can_run(before)
        and before.lines[-1].startswith("print(waybill.explain(")
    ]


def is_in(text, output):
    """Whether a program wrote these lines, where `...` stands for anything."""
    checker = doctest.OutputChecker()
    return checker.check_output(f"...\n{text}\n...", f"\n{output}\n", doctest.ELLIPSIS)


def written_as_told(page, output):
    """The comments right below a `print` that are not among what the program wrote."""
    written = output.splitlines()
    told = [
        line.removeprefix("# ")
        for block in filter(can_run, blocks(page, "python"))
        for before, line in zip(block.lines, block.lines[1:], strict=False)
        if before.lstrip().startswith("print(") and line.startswith("# ")
    ]
    return [line for line in told if line not in written]


@each_page
def test_each_block_has_a_language_that_says_how_it_is_run(page):
    known = {"python", "console", "sh", "cpp", "cmake", "text", "{eval-rst}"}

    assert {block.language for block in blocks(page)} <= known


@each_page
def test_text_is_no_example(page):
    commands = re.compile(r"\s*(\$|import |from \w+ import|waybill |make |pip )")

    for block in blocks(page, "text"):
        assert [line for line in block.lines if commands.match(line)] == []


@each_page
def test_cpp_blocks_are_programs_that_are_built_and_run(page):
    """.ci/install-test does so, against an installed tree."""
    programs = [
        re.sub(r"\A(//.*\n)+\n", "", path.read_text(encoding="utf-8"))
        for path in (ROOT / "tests" / "install").glob("*.cpp")
    ]

    for block in blocks(page, "cpp"):
        assert block.text in programs


@each_page
def test_cmake_blocks_are_lines_of_what_is_built(page):
    built = [ROOT / "tests" / "install" / "CMakeLists.txt", *ROOT.glob("cmake/*.cmake")]
    lines = {line.strip() for file in built for line in file.read_text().splitlines()}

    for block in blocks(page, "cmake"):
        assert {line.split("#")[0].strip() for line in block.lines} <= lines


def is_step_of_ci(line):
    """Whether `make demo  # comment` is what .ci/run, test-all or test calls."""
    verb = line.split("#")[0].strip().removeprefix("make ")
    scripts = [ROOT / ".ci" / name for name in ("run", "test-all", "test")]
    words = {word for script in scripts for word in script.read_text().split()}
    return f".ci/{verb}" in words or (verb == "test" and "test" in words)


def is_taken_from(page, block):
    """Whether a script or a test reads the block from its page, to run it."""
    script = (ROOT / ".ci/install-test").read_text()
    taken = re.findall(rf'run_block_of {re.escape(name_of(page))} "(.+)"', script)
    return any(text in block.text for text in taken) or (
        page.stem == "dask" and "integrations/dask.md" in DASK.read_text("utf-8")
    )


@each_page
def test_sh_blocks_are_run_by_ci(page):
    for block in blocks(page, "sh"):
        assert all(map(is_step_of_ci, block.lines)) or is_taken_from(page, block)


@pytest.mark.parametrize("part", ["", "._pickled", ".integrations"])
def test_examples_of_docstrings_run(part):
    if part == ".integrations":
        pytest.importorskip("joblib")
    name = f"waybill{part}"
    test = f"import doctest, {name}; print(*doctest.testmod({name}))"

    run = subprocess.run([sys.executable, "-c", test], capture_output=True, text=True)

    failed, attempted = map(int, run.stdout.split()[-2:])
    assert attempted and not failed, run.stdout
