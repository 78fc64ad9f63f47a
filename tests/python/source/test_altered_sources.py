"""Sources of another Python that were changed byte by byte, and texts made at random:
what does not load is refused by name, and nothing else is raised."""

import subprocess
import sys
from pathlib import Path

import altered_sources


def run(*arguments):
    script = Path(altered_sources.__file__)
    ended = subprocess.run(
        [sys.executable, script, *map(str, arguments)], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    return [int(count) for count in ended.stdout.split()]


def test_payload_of_another_python_is_refused_or_loads_whatever_was_changed():
    refused, loaded = run("payloads")

    assert refused > 500
    assert loaded > 100  # Letters of comments, names and numbers.


def test_texts_at_random_are_refused_or_compile():
    refused, compiled = run("texts", 1, 20_000)

    assert refused > 10_000
    assert compiled > 100
