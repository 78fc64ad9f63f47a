"""`waybill inspect --source`: the texts that travel beside code."""

import inspect
import json

import command
import waybill
from command import needs_binary

pytestmark = needs_binary

RATE = 0.5


def scaled(values, by=RATE):
    """Ein\tTabulator."""
    return [value * by for value in values]


def around():
    def inner():
        return 1

    return inner


def run(payload, *arguments):
    ended = command.run("inspect", "-", "--source", *arguments, data=payload)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.decode()


def sent(function, **options):
    function.__module__ = "__main__"
    return waybill.dumps(function, **options)


def bodies(payload, *arguments):
    code = json.loads(run(payload, "--json", *arguments))["code"]
    return {body["name"]: body for body in code}


def test_text_is_that_of_the_file():
    body = bodies(sent(scaled, source=True))["scaled"]

    assert body["source"]["text"].splitlines() == inspect.getsource(scaled).splitlines()
    assert body["source"]["kind"] == "function"
    assert body["file"] == __file__[-len(body["file"].removeprefix("…")) :] or (
        body["file"].startswith("…")
    )
    first_line = scaled.__code__.co_firstlineno
    assert body["first_line"] == body["source"]["line"] == first_line


def test_lines_have_their_numbers():
    line = scaled.__code__.co_firstlineno

    text = run(sent(scaled, source=True))

    assert f"{line:>10}  def scaled(values, by=RATE):\n" in text
    assert f"{line + 2:>10}      return [value * by for value in values]\n" in text


def test_what_steers_a_terminal_is_escaped():
    assert '"""Ein\\tTabulator."""' in run(sent(scaled, source=True))


def test_nested_code_is_shown_with_that_around_it():
    told = bodies(sent(around, source=True))

    assert "def inner():" in told["around"]["source"]["text"]
    assert "source" not in told["inner"]


def test_code_without_source_says_so():
    payload = sent(scaled)

    assert bodies(payload)["scaled"]["source"] is None
    assert "no source" in run(payload)


def test_without_the_option_there_is_none():
    ended = command.run("inspect", "-", "--json", data=sent(scaled, source=True))

    assert b"def scaled" not in ended.stdout


def test_goes_with_instructions():
    body = bodies(sent(scaled, source=True), "--code")["scaled"]

    assert body["instructions"] and body["source"]["text"]
