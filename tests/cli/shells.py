"""What real shells offer at the end of a line, with the completions of the command."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from command import BINARY
from terminals import open_terminal

# What is preloaded for tests of waybill is nothing for shells.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
ENVIRONMENT |= {"TERM": "vt100", "WAYBILL_SAMPLE": "a key"}

# Puts all that is offered into the line, where Tab would put what is common to all.
BASH_SETUP = r"""
source {script}
bind 'set bell-style none' 'set enable-bracketed-paste off'
bind '"\C-xa": insert-completions'
bind -x '"\C-xd": printf %s "$READLINE_LINE" > {answer}'
PS1=ready_
"""


def script_for(shell, folder):
    """The file with the completions; without the shell, the test is skipped."""
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    script = folder / f"waybill.{shell}"
    with open(script, "wb") as file:
        subprocess.run([BINARY, "completion", shell], stdout=file, check=True)
    return script


def bash(line, scripts, cwd):
    """The words that bash has on the line once all that is offered is there."""
    answer, setup = scripts / "answer", scripts / "setup"
    script = script_for("bash", scripts)
    setup.write_text(BASH_SETUP.format(script=script, answer=answer))
    ours, theirs = open_terminal()
    with os.fdopen(ours, "r+b", buffering=0) as terminal:
        inner = subprocess.Popen(
            ["bash", "--noprofile", "--rcfile", setup, "-i"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=cwd,
            env=ENVIRONMENT | {"HOME": str(scripts)},
            start_new_session=True,
        )
        os.close(theirs)
        shown = b""
        while b"ready_" not in shown:
            shown += terminal.read(1024)
        terminal.write(line.encode() + b"\x18a\x18d\x15exit\r")
        try:
            while terminal.read(1024):
                pass
        except OSError:  # Linux says so where nobody has the other end any more.
            pass
        inner.wait(timeout=60)
    written = answer.read_text()
    before = line.rpartition(" ")[0]
    assert written.startswith(before)
    return set(shlex.split(written[len(before) :]))


def zsh(line, scripts, cwd):
    helper = Path(__file__).with_name("offers.zsh")
    return lines_of(
        ["zsh", "-f", helper, script_for("zsh", scripts), line], scripts, cwd
    )


def fish(line, scripts, cwd):
    script = script_for("fish", scripts)
    asked = f"source {script}; complete -C {shlex.quote(line)}"
    offered = lines_of(["fish", "--no-config", "-c", asked], scripts, cwd)
    return {word.partition("\t")[0] for word in offered}


def lines_of(command, scripts, cwd):
    ended = subprocess.run(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=ENVIRONMENT | {"HOME": str(scripts)},
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    return set(ended.stdout.splitlines())


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}
