"""`waybill completion`: scripts that complete what the command declares."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command import BINARY, needs_binary

COMMANDS = {"inspect", "verify", "cat", "diff", "keygen", "sign", "discover", "run"}
COMMANDS |= {"completion", "man"}

pytestmark = needs_binary


def run(*arguments):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True)


def complete(*words):
    """What bash offers for the last of the words."""
    script = run("completion", "bash").stdout
    line = " ".join(f"'{word}'" for word in ("waybill", *words))
    script += f"\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _waybill\n"
    script += 'printf "%s\\n" "${COMPREPLY[@]}"\n'
    ended = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return set(ended.stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
class TestBash:
    def test_commands_are_offered(self):
        assert complete("") >= COMMANDS
        assert complete("ins") == {"inspect"}

    def test_options_are_those_of_the_command(self):
        assert complete("verify", "--k") == {"--key", "--key-env"}
        assert complete("inspect", "--code") == {"--code"}

    def test_values_are_files(self, tmp_path, monkeypatch):
        (tmp_path / "a-file").write_text("")
        monkeypatch.chdir(tmp_path)

        assert complete("inspect", "") == {"a-file"}
        assert complete("verify", "--key", "a") == {"a-file"}

    def test_shells_are_offered_for_completion(self):
        assert complete("completion", "") >= {"bash", "zsh", "fish"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_script_names_each_command_and_is_understood(shell, tmp_path):
    script = run("completion", shell).stdout
    (tmp_path / "script").write_text(script)

    assert all(command in script for command in COMMANDS)
    assert script.count("--policy" if shell == "zsh" else "-l policy") == 1
    if shutil.which(shell):
        subprocess.run([shell, "-n", tmp_path / "script"], check=True)


@pytest.mark.parametrize("command", ["completion", "man"])
def test_json_holds_the_text(command):
    words = [command, "bash"] if command == "completion" else [command]

    told = json.loads(run(*words, "--json").stdout)

    assert told == {"ok": True, "text": run(*words).stdout}


@pytest.mark.parametrize("arguments", [(), ("tcsh",)])
def test_unknown_shell_is_a_misunderstanding(arguments):
    ended = run("completion", *arguments)

    assert (ended.returncode, ended.stdout) == (1, "")
