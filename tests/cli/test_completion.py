"""`waybill completion`: scripts that complete what the command declares, as the shells
themselves tell."""

import functools
import json
import subprocess

import command
import pytest
from command import needs_binary
from shells import SHELLS, script_for

COMMANDS = {
    "inspect",
    "verify",
    "ls",
    "cat",
    "salvage",
    "diff",
    "keygen",
    "sign",
    "discover",
    "explain",
    "run",
}
COMMANDS |= {"completion", "man", "help"}

pytestmark = needs_binary


run = functools.partial(command.run, text=True)


# Once: in tests below, sanitizers see the command write each script. What the shells
# make of it is not instrumented, and takes seconds.
@pytest.fixture(
    params=[pytest.param(shell, marks=pytest.mark.once) for shell in SHELLS]
)
def offers(request, tmp_path):
    """Asks one of the shells, in a folder with a file and a folder."""
    scripts, folder = tmp_path / "scripts", tmp_path / "folder"
    scripts.mkdir()
    folder.mkdir()
    (folder / "x y.key").write_text("")
    (folder / "inspect").mkdir()
    ask = SHELLS[request.param]

    def offered(line):
        """Without quotes, ends of folders, and words that were there before."""
        words = {word.replace("\\", "") for word in ask(line, scripts, folder)}
        return {word.rstrip("/") for word in words} - {line.rpartition(" ")[2]}

    return offered


OFFERED = {
    "commands": ("", COMMANDS),
    "a command that is begun": ("ver", {"verify"}),
    "a command whose name a folder has": ("ins", {"inspect"}),
    "options before the command": ("--", {"--help", "--version"}),
    "options of the command": ("inspect --cod", {"--code"}),
    "variables for the name of one": (
        "verify --key-env WAYBILL_SAM",
        {"WAYBILL_SAMPLE"},
    ),
    "shells for completion": ("completion ", {"bash", "zsh", "fish"}),
    "commands for help": ("help ", COMMANDS),
}


@pytest.mark.parametrize("words, expected", OFFERED.values(), ids=OFFERED)
def test_what_fits_is_offered(offers, words, expected):
    assert offers(f"waybill {words}") == expected


def test_options_that_take_a_value_are_those_of_the_command(offers):
    expected = {"--key", "--key-env"}
    assert {word.rstrip("=") for word in offers("waybill verify --k")} == expected


@pytest.mark.parametrize(
    "line",
    [
        "waybill inspect ",
        "waybill inspect --code ",
        "waybill inspect --depth 3 ",
        "waybill diff a ",
        "waybill discover ",
        "waybill explain ",
        "waybill explain --html ",
        "waybill keygen --out ",
        "waybill run --policy ",
        "waybill verify --key ",
        "waybill sign a -o ",
    ],
)
def test_files_are_offered_where_there_are_files(offers, line):
    assert offers(line) == {"x y.key", "inspect"}


def test_value_after_an_equals_sign_is_a_file(offers):
    offered = offers("waybill verify --key=x")

    assert {word.removeprefix("--key=") for word in offered} == {"x y.key"}


@pytest.mark.parametrize(
    "line",
    [
        "waybill man ",
        "waybill keygen ",
        "waybill completion bash ",
        "waybill inspect a ",
        "waybill diff a b ",
        "waybill run a ",
        "waybill inspect --depth ",
        "waybill inspect --items ",
        "waybill cat --indent ",
        "waybill discover --package ",
        "waybill discover --skip ",
        "waybill sign --application ",
        "waybill insp a ",
    ],
)
def test_only_options_are_offered_where_no_file_is_meant(offers, line):
    assert not {word for word in offers(line) if not word.startswith("-")}


def test_programs_are_offered_for_the_interpreter(offers):
    assert "mktemp" in offers("waybill run --python mktem")


@pytest.mark.parametrize("shell", SHELLS)
def test_script_is_understood(shell, tmp_path):
    script = script_for(shell, tmp_path)

    subprocess.run([shell, "-n", script], check=True)


@pytest.mark.parametrize("shell", SHELLS)
def test_script_names_each_command(shell):
    script = run("completion", shell).stdout

    assert all(name in script for name in COMMANDS)


@pytest.mark.parametrize("words", [("completion", "bash"), ("man",), ("help",)])
def test_json_holds_the_text(words):
    told = json.loads(run(*words, "--json").stdout)

    assert told == {"ok": True, "text": run(*words).stdout}
