"""save() writes a file as a whole or not at all."""

import errno
import os
import stat
import sys
from pathlib import Path

import fresh_process
import pytest
import waybill
from refusals import refused_as

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")


def names_in(folder):
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("kind", [str, Path])
def test_saved_object_is_loaded_by_its_path(tmp_path, kind):
    path = kind(tmp_path / "thing")

    waybill.save([1, {"a": lambda: 5}], path)

    assert waybill.load(path)[1]["a"]() == 5
    assert names_in(tmp_path) == ["thing"]


def test_options_are_those_of_dumps_and_loads(tmp_path):
    import pickle
    import threading

    buffers = []
    held = [threading.Lock(), pickle.PickleBuffer(b"abc")]

    waybill.save(held, tmp_path / "a", replace="fresh", buffer_callback=buffers.append)
    lock, arrived = waybill.load(tmp_path / "a", buffers=buffers)

    assert lock.acquire(blocking=False)
    assert bytes(arrived) == b"abc"


def test_saved_file_is_a_payload_and_nothing_else(tmp_path):
    waybill.save({"a": 1}, tmp_path / "a", environment=False)

    assert (tmp_path / "a").read_bytes() == waybill.dumps({"a": 1})


def test_second_save_takes_the_place_of_the_first(tmp_path):
    waybill.save([1] * 1000, tmp_path / "a")
    waybill.save([2], tmp_path / "a")

    assert waybill.load(tmp_path / "a") == [2]
    assert names_in(tmp_path) == ["a"]


def test_who_has_the_old_file_open_still_reads_the_old_one(tmp_path):
    waybill.save("old", tmp_path / "a")

    with open(tmp_path / "a", "rb") as file:
        waybill.save("new", tmp_path / "a")
        assert waybill.load(file) == "old"


def test_object_that_cannot_travel_leaves_everything_as_it_was(tmp_path):
    waybill.save("old", tmp_path / "a")

    with pytest.raises(waybill.EncodeError):
        waybill.save((i for i in ()), tmp_path / "a")

    assert waybill.load(tmp_path / "a") == "old"
    assert names_in(tmp_path) == ["a"]


@POSIX
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o777, 0o404])
def test_permissions_of_the_old_file_are_kept(tmp_path, mode):
    waybill.save("old", tmp_path / "a")
    os.chmod(tmp_path / "a", mode)

    waybill.save("new", tmp_path / "a")

    assert stat.S_IMODE(os.stat(tmp_path / "a").st_mode) == mode
    assert waybill.load(tmp_path / "a") == "new"


@POSIX
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_permissions_of_a_new_file_are_those_of_any_new_file(tmp_path, mask):
    old = os.umask(mask)
    try:
        waybill.save("new", tmp_path / "a")
        (tmp_path / "b").write_text("", encoding="utf-8")
    finally:
        os.umask(old)

    modes = [stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in "ab"]
    assert modes[0] == modes[1] == 0o666 & ~mask


@POSIX
def test_new_content_of_a_private_file_is_never_to_be_read_by_others(tmp_path):
    waybill.save("old", tmp_path / "a")
    os.chmod(tmp_path / "a", 0o600)
    modes = set()

    def watch(frame, event, argument):
        for name in os.listdir(tmp_path):
            modes.add(stat.S_IMODE(os.lstat(tmp_path / name).st_mode))

    old = os.umask(0)
    sys.setprofile(watch)
    try:
        waybill.save("new", tmp_path / "a")
    finally:
        sys.setprofile(None)
        os.umask(old)

    assert modes == {0o600}


@POSIX
def test_symbolic_link_stays_and_what_it_points_to_is_replaced(tmp_path):
    (tmp_path / "far").mkdir()
    waybill.save("old", tmp_path / "far" / "file")
    os.symlink("far/file", tmp_path / "near")
    os.symlink("near", tmp_path / "nearer")

    waybill.save("new", tmp_path / "nearer")

    assert os.readlink(tmp_path / "nearer") == "near"
    assert os.readlink(tmp_path / "near") == "far/file"
    assert waybill.load(tmp_path / "far" / "file") == "new"
    assert names_in(tmp_path / "far") == ["file"]


@POSIX
def test_symbolic_link_to_nothing_gets_what_it_points_to(tmp_path):
    os.symlink("there", tmp_path / "link")

    waybill.save("new", tmp_path / "link")

    assert os.readlink(tmp_path / "link") == "there"
    assert waybill.load(tmp_path / "there") == "new"


@POSIX
def test_symbolic_links_in_a_circle_are_an_error(tmp_path):
    os.symlink("b", tmp_path / "a")
    os.symlink("a", tmp_path / "b")

    with pytest.raises(OSError) as caught:
        waybill.save("new", tmp_path / "a")

    assert caught.value.errno == errno.ELOOP
    assert os.path.islink(tmp_path / "a")


@POSIX
def test_hard_link_keeps_the_old_content(tmp_path):
    waybill.save("old", tmp_path / "a")
    os.link(tmp_path / "a", tmp_path / "b")

    waybill.save("new", tmp_path / "a")

    expected = ("new", "old")
    assert (waybill.load(tmp_path / "a"), waybill.load(tmp_path / "b")) == expected


@POSIX
def test_pipes_and_devices_are_refused_and_stay(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    for path in (tmp_path / "pipe", "/dev/null"):
        with pytest.raises(OSError, match="not a regular file"):
            waybill.save("new", path)

    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize(
    "path, kind",
    [
        (".", IsADirectoryError),
        ("not there/a", FileNotFoundError),
        (3, TypeError),
        (None, TypeError),
        (open, TypeError),
    ],
    ids=["a folder", "in no folder", "a number", "None", "a function"],
)
def test_what_is_no_path_of_a_file_is_an_error(tmp_path, path, kind):
    with pytest.raises(kind):
        waybill.save("new", tmp_path / path if isinstance(path, str) else path)


@POSIX
@pytest.mark.parametrize(
    "name", ["n" * 255, os.fsdecode(b"\xff\xfe")], ids=["long", "no text"]
)
def test_name_may_be_as_long_as_names_can_be_and_no_unicode(tmp_path, name):
    path = os.path.join(tmp_path, name)

    waybill.save("new", path)

    assert waybill.load(path) == "new"


# ---- Full disks. /dev/full cannot be replaced, so limits and a tiny file system.

LIMITED = """
import errno, os, resource, signal
waybill.save("old", "a")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
before = os.listdir()
try: waybill.save(bytes(50_000), "a")
except OSError as error: answer = error.errno, waybill.load("a"), os.listdir() == before
"""


@POSIX
def test_disk_that_fills_up_leaves_the_old_file_and_nothing_else():
    assert fresh_process.execute(LIMITED) == (errno.EFBIG, "old", True)


FULL = """
import errno, os, subprocess
os.mkdir("small")
mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", "small"])
answer = None
if mounted.returncode == 0:
    waybill.save("old", "small/a")
    try: waybill.save(os.urandom(1_000_000), "small/a")
    except OSError as error:
        answer = error.errno, waybill.load("small/a"), os.listdir("small")
    waybill.save("new", "small/a")
    answer += waybill.load("small/a"),
    subprocess.run(["umount", "small"], check=True)
"""


@POSIX
def test_full_file_system_leaves_the_old_file_and_nothing_else():
    # In a mount namespace of its own: nothing stays mounted, whatever happens.
    command = ("unshare", "--mount", "--", sys.executable)
    try:
        answer = fresh_process.execute(FULL, command=command)
    except (FileNotFoundError, AssertionError):
        pytest.skip("no mount namespaces for this user")
    if answer is None:
        pytest.skip("tmpfs cannot be mounted here")

    assert answer == (errno.ENOSPC, "old", ["a"], "new")


@POSIX
def test_folder_that_may_not_be_written_to_is_an_error(tmp_path):
    waybill.save("old", tmp_path / "a")
    os.chmod(tmp_path, 0o555)
    try:
        if os.access(tmp_path, os.W_OK):
            pytest.skip("root may write everywhere")
        with pytest.raises(PermissionError):
            waybill.save("new", tmp_path / "a")
    finally:
        os.chmod(tmp_path, 0o755)

    assert waybill.load(tmp_path / "a") == "old"


# ---- load(path)


def test_bytes_after_the_payload_are_refused(tmp_path):
    data = waybill.dumps([1, 2])
    (tmp_path / "a").write_bytes(data + b"x")

    with pytest.raises(waybill.DecodeError) as caught:
        waybill.load(tmp_path / "a")

    assert (caught.value.code, caught.value.offset) == ("trailing_bytes", len(data))


@pytest.mark.parametrize(
    "data, code",
    [
        (waybill.dumps(1) + waybill.dumps(2), "trailing_bytes"),
        *((waybill.dumps([1, 2])[:size], "truncated") for size in (0, 1, 10)),
    ],
    ids=["a second payload", "empty", "one byte", "ten bytes"],
)
def test_file_that_is_no_payload_alone_is_refused(tmp_path, data, code):
    (tmp_path / "a").write_bytes(data)

    with refused_as(code):
        waybill.load(tmp_path / "a")


def test_large_file_of_another_kind_is_refused_before_it_is_read(tmp_path):
    with open(tmp_path / "a", "wb") as file:
        file.truncate(1 << 40)  # More than fits into memory.

    with pytest.raises(waybill.DecodeError):
        waybill.load(tmp_path / "a")


def test_missing_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        waybill.load(tmp_path / "a")
