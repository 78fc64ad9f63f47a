"""save() and load() tell how far they are."""

import io
import os
import sys

import pytest
import waybill
from waybill._streams import progress as progress_module

LARGE = os.urandom(1 << 20) * 40


def told_by(work):
    calls = []
    result = work(lambda done, total: calls.append((done, total)))
    return calls, result


def test_save_tells_what_is_written(tmp_path):
    calls, _ = told_by(
        lambda tell: waybill.save([LARGE], tmp_path / "file", progress=tell)
    )

    size = os.path.getsize(tmp_path / "file")
    assert calls[-1] == (size, size)
    assert {total for _, total in calls} == {size}
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})
    assert len(calls) >= len(LARGE) // progress_module.STEP


def test_load_tells_what_is_read(tmp_path):
    waybill.save([LARGE, LARGE[1:]], tmp_path / "file")

    calls, value = told_by(lambda tell: waybill.load(tmp_path / "file", progress=tell))

    size = os.path.getsize(tmp_path / "file")
    assert value == [LARGE, LARGE[1:]]
    assert calls[-1] == (size, size)
    steps = [b[0] - a[0] for a, b in zip(calls, calls[1:], strict=False)]
    assert all(0 < step <= progress_module.STEP for step in steps)


def test_files_are_the_same_with_and_without(tmp_path):
    for name, progress in (("a", None), ("b", lambda done, total: None), ("c", True)):
        waybill.save({"x": LARGE}, tmp_path / name, progress=progress)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes()
    assert waybill.load(tmp_path / "a", progress=True) == {"x": LARGE}


def test_what_the_callable_raises_ends_the_work(tmp_path):
    path = tmp_path / "file"
    waybill.save("before", path)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        waybill.save(LARGE, path, progress=stop)
    assert waybill.load(path) == "before"
    assert os.listdir(tmp_path) == ["file"]
    with pytest.raises(KeyboardInterrupt):
        waybill.load(path, progress=stop)


def test_only_paths_have_progress():
    with pytest.raises(TypeError, match="needs a path"):
        waybill.load(io.BytesIO(waybill.dumps(1)), progress=True)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_a_line_is_for_terminals_and_goes_away(kind, monkeypatch, tmp_path):
    stream = kind()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress_module, "_DELAY", 0.0)
    monkeypatch.setattr(progress_module, "_INTERVAL", 0.0)

    waybill.save(LARGE, tmp_path / "file", progress=True)

    text = stream.getvalue()
    if kind is Terminal:
        assert "100 %  0.0 of 0.0 GB" in text and text.endswith("\r\x1b[K")
    else:
        assert text == ""


def test_quick_work_shows_nothing_and_no_stderr_is_no_error(monkeypatch, tmp_path):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    waybill.save(1, tmp_path / "file", progress=True)
    assert stream.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", None)
    waybill.save(1, tmp_path / "file", progress=True)
    assert waybill.load(tmp_path / "file", progress=True) == 1
