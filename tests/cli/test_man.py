"""The manual page, docs/cli.md and what the command declares say the same."""

import os
import re
import shutil
import subprocess

import command
import pytest
import waybill
from command import ROOT, needs_binary

pytestmark = needs_binary


def run(*arguments):
    ended = command.run(*arguments, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def commands():
    """Each command with the text of its help."""
    listed = run("--help").partition("Subcommands:")[2] or run("--help")
    names = re.findall(r"^  (\w+) ", listed, re.M)
    return {name: run(name, "--help") for name in names}


def test_manual_page_is_what_the_command_prints():
    page = (ROOT / "docs" / "waybill.1").read_text(encoding="utf-8")

    assert page == run("man"), "write it again: build/waybill man > docs/waybill.1"


def test_manual_page_has_each_command_and_option():
    page = run("man").replace("\\-", "-")

    assert len(commands()) >= 9
    for name, text in commands().items():
        assert f".SS \\fBwaybill {name}\\fR" in page
        assert all(option in page for option in re.findall(r"--[\w-]+", text))


def test_cli_page_has_each_command():
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")

    missing = [name for name in commands() if f"## `waybill {name}" not in page]

    assert not missing


def test_every_command_takes_json():
    without = [name for name, text in commands().items() if "--json" not in text]

    assert not without


def test_exit_codes_are_those_of_the_cli_page():
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| (\d) \|", page, re.M)

    told = re.findall(r"^\.B (\d)$", run("man"), re.M)

    assert told == documented


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff")
def test_manual_page_is_sound_roff():
    made = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z", ROOT / "docs" / "waybill.1"],
        capture_output=True,
        text=True,
        # What is preloaded for tests of waybill is nothing for groff.
        env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"},
    )

    assert (made.returncode, made.stderr) == (0, "")


def test_version_is_that_of_the_package():
    assert run("--version") == f"waybill {waybill.__version__}\n"


@pytest.mark.parametrize(
    "section", ["DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO", "EXIT STATUS"]
)
def test_manual_page_has_the_usual_sections(section):
    assert f".SH {section}\n" in run("man")


@pytest.mark.parametrize("fact", ["from 0 to 64, default 12", "FILE", "VARIABLE", "N"])
def test_manual_page_and_help_tell_values_and_bounds(fact):
    assert fact in run("man")
    assert any(fact in text.replace("\n", " ") for text in commands().values())
