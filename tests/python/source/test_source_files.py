"""One parse for a file, and never a stale one."""

import linecache
import os
import sys
import time
import zipfile

import pytest
import source_package
from threads import run_in_threads
from waybill._source import files
from waybill._source.proving import prove
from waybill._source.units import Unit


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(files, "_sources", {})


@pytest.fixture
def parses(monkeypatch):
    """The texts that were parsed."""
    seen = []
    parse = files.parse_quietly

    def counted(text):
        seen.append(text)
        return parse(text)

    monkeypatch.setattr(files, "parse_quietly", counted)
    return seen


def compiled(path):
    module = compile(path.read_bytes(), str(path), "exec", 0, True)
    return [k for k in module.co_consts if hasattr(k, "co_code")]


def write(path, text, seconds_ago=100):
    """Writes a file as if some time ago, so that it is not read again."""
    path.write_text(text)
    then = time.time() - seconds_ago
    os.utime(path, (then, then))


def many(count):
    return "".join(f"def f{n}(a): return a + {n}\n" for n in range(count))


def test_functions_of_one_file_cost_one_parse(tmp_path, parses):
    path = tmp_path / "many.py"
    write(path, many(500))

    units = [prove(code) for code in compiled(path)]

    assert all(isinstance(unit, Unit) for unit in units)
    assert len(parses) == 1


def test_file_that_changed_just_before_it_was_read_is_read_again(tmp_path, parses):
    path = tmp_path / "new.py"
    write(path, "def f(): return 1\n", 0)
    stamp = path.stat()
    old, new = compiled(path), None
    assert isinstance(prove(old[0]), Unit)

    path.write_text("def f(): return 2\n")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    assert path.stat().st_mtime_ns == stamp.st_mtime_ns
    assert isinstance(prove(old[0]), str)
    assert isinstance(prove(compiled(path)[0]), Unit)
    assert len(parses) == 2


def test_file_that_was_read_again_and_is_the_same_is_not_parsed_again(tmp_path, parses):
    path = tmp_path / "new.py"
    write(path, many(3), 0)

    for code in compiled(path):
        prove(code)

    assert len(parses) == 1


def change_size(path, stat):
    path.write_text("def f(): return 20\n")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def change_time(path, stat):
    path.write_text("def f(): return 2\n")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))


def change_inode(path, stat):
    other = path.with_name("other.py")
    other.write_text("def f(): return 2\n")
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    os.replace(other, path)


@pytest.mark.parametrize("change", [change_size, change_time, change_inode])
def test_each_change_of_a_file_is_seen(tmp_path, change):
    path = tmp_path / "module.py"
    write(path, "def f(): return 1\n")
    old = compiled(path)[0]
    assert isinstance(prove(old), Unit)

    change(path, path.stat())

    assert isinstance(prove(old), str)
    assert isinstance(prove(compiled(path)[0]), Unit)


@pytest.mark.parametrize("change", [change_size, change_time, change_inode])
def test_each_change_of_a_file_ends_a_refusal(tmp_path, change):
    path = tmp_path / "module.py"
    write(path, "def f(): return 1\n")
    changed = tmp_path / "changed.py"
    write(changed, "def f(): return 1\n")
    change(changed, path.stat())
    new = compile(changed.read_bytes(), str(path), "exec").co_consts[0]
    assert isinstance(prove(new), str)

    change(path, path.stat())

    assert isinstance(prove(new), Unit)


def test_relative_name_is_that_of_the_folder_of_the_moment(tmp_path, monkeypatch):
    for folder, value in (("a", 1), ("b", 2)):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "m.py", f"def f(): return {value}\n")
    monkeypatch.chdir(tmp_path / "a")
    code = compile("def f(): return 1\n", "m.py", "exec").co_consts[0]
    assert isinstance(prove(code), Unit)

    monkeypatch.chdir(tmp_path / "b")

    assert isinstance(prove(code), str)


def test_file_that_goes_and_comes_is_seen(tmp_path):
    path = tmp_path / "module.py"
    write(path, "def f(): return 1\n")
    code = compiled(path)[0]
    path.unlink()
    assert "not on this machine" in prove(code)

    write(path, "def f(): return 1\n")

    assert isinstance(prove(code), Unit)


def test_cell_that_is_run_again_under_its_name_is_seen():
    name = "<cell>"

    def run(text):
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        return compile(text, name, "exec").co_consts[0]

    old = run("def f(): return 1\n")
    assert isinstance(prove(old), Unit)
    new = run("def f(): return 2\n")

    assert isinstance(prove(old), str)
    assert isinstance(prove(new), Unit)
    del linecache.cache[name]


def test_entry_of_linecache_that_is_not_read_yet_is_read():
    text = "def f(): return 1\n"
    linecache.cache["lazy.py"] = (lambda *_: text,)
    code = compile(text, "lazy.py", "exec").co_consts[0]

    assert isinstance(prove(code), Unit)
    del linecache.cache["lazy.py"]


def test_number_and_size_of_what_is_kept_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_FILES", 3)
    for n in range(6):
        path = tmp_path / f"m{n}.py"
        write(path, "def f(): return 1\n")
        prove(compiled(path)[0])

    assert list(files._sources) == [str(tmp_path / f"m{n}.py") for n in (3, 4, 5)]

    monkeypatch.setattr(files, "MAX_BYTES", 1)
    write(tmp_path / "last.py", "def f(): return 1\n")
    prove(compiled(tmp_path / "last.py")[0])
    assert list(files._sources) == [str(tmp_path / "last.py")]


def test_threads_prove_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_FILES", 2)
    codes = []
    for n in range(6):
        path = tmp_path / f"m{n}.py"
        write(path, many(5))
        codes += compiled(path)

    def work(_):
        for code in codes * 5:
            assert isinstance(prove(code), Unit)

    assert run_in_threads(work) == []
    assert len(files._sources) <= 3


def test_file_in_an_archive_is_read_and_seen_to_change(tmp_path):
    archive = tmp_path / "app.zip"
    name = str(archive / "package" / "module.py")

    def pack(text):
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("package/module.py", text)
        return compile(text, name, "exec").co_consts[0]

    old = pack("def f(): return 1\n")
    assert isinstance(prove(old), Unit)
    new = pack("def f(): return 2222\n")

    assert isinstance(prove(old), str)
    assert isinstance(prove(new), Unit)
    archive.write_bytes(b"no archive")
    assert "cannot be read" in prove(new)


def test_folder_and_device_are_no_files(tmp_path):
    code = compile("def f(): pass", str(tmp_path), "exec").co_consts[0]
    endless = compile("def f(): pass", "/dev/zero", "exec").co_consts[0]

    assert prove(code).endswith("is not a regular file")
    assert prove(endless).endswith("is not a regular file")


@pytest.mark.skipif(sys.version_info < (3, 14), reason="kept by code since 3.14")
def test_what_was_typed_at_a_prompt_that_keeps_it_is_found():
    text = "def f():\n    return 1\n"
    module = compile(text, "<python-input-3>", "exec")
    linecache._register_code(module, text, "<python-input-3>")

    assert prove(module.co_consts[0]).text == "def f():\n    return 1"
