"""What explanations tell of source that travels: of live objects and of payloads."""

import json
import subprocess

import pytest
import waybill
from command import BINARY, needs_binary


def proven(x):
    return x + 1


def another(x):
    return proven(x) * 2


namespace = {"__name__": "__main__"}
exec("def unproven(x):\n    return x", namespace)
unproven = namespace["unproven"]


def task():
    return another, unproven


@pytest.fixture(autouse=True)
def by_value(monkeypatch):
    for function in (proven, another, task):
        monkeypatch.setattr(function, "__module__", "__main__")


def told_of_payload(payload):
    ended = subprocess.run(
        [BINARY, "explain", "--json", "-"], input=payload, capture_output=True
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)["source"]


def test_functions_without_source_are_told():
    source = waybill.explain(task, source="auto").source

    assert source.functions == 3
    assert source.bytes > 100
    assert [name for name, _, _ in source.without] == ["unproven"]


def test_page_ends_with_source():
    text = waybill.explain(task, source="auto").to_text()

    assert "source: 3 functions, " in text
    assert "1 without load" in text and "unproven" in text


def test_nothing_is_told_where_it_was_not_asked_for():
    told = waybill.explain(task)

    assert told.source is None
    assert "source:" not in told.to_text()


def test_function_without_source_is_a_blocker_where_it_is_demanded():
    told = waybill.explain(task, source=True)

    assert [blocker.short for blocker in told.blockers] == ["unproven"]
    assert told.source.without == ()


def test_page_for_browsers_lists_them(tmp_path):
    waybill.explain(task, source="auto").to_html(tmp_path / "page.html")

    page = (tmp_path / "page.html").read_text()
    assert "Without source" in page and "<code>unproven</code>" in page


@needs_binary
def test_payload_tells_the_same():
    live = waybill.explain(task, source="auto").source

    told = told_of_payload(waybill.dumps(task, source="auto"))

    assert (told["bytes"], told["functions"]) == (live.bytes, live.functions)
    found = [
        (row["function"], row["file"], row["line"] or 0) for row in told["without"]
    ]
    assert found == list(live.without)


@needs_binary
def test_payload_without_source_tells_of_none():
    assert told_of_payload(waybill.dumps(task)) is None
