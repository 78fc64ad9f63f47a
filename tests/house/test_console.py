"""console.py finds what a page says and a shell does not."""

import pytest
from console import commands, faults
from pages import Block


def faults_of(*lines):
    return list(faults(commands(Block(7, "console", list(lines)))))


@pytest.mark.parametrize(
    "lines",
    [
        ("$ echo a", "a", "$ echo b", "b"),
        ("$ echo a \\", "    b", "a b"),
        ("$ seq 9", "1", "...", "9"),
        ("$ echo not looked at",),
        ("$ here=there", "$ echo $here", "there"),
        ("$ echo told >&2; (exit 3)", "told", "$ echo $?", "3"),
    ],
)
def test_what_a_shell_does_is_right(lines):
    assert faults_of(*lines) == []


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (("$ echo a", "b"), ["line 7: `echo a` wrote:\na\n"]),
        (("$ echo a", "a", "$ seq 2", "1"), ["line 9: `seq 2` wrote:\n1\n2\n"]),
        (("$ false", "$ true"), ["line 7: `false` gave 1:\n"]),
        (("$ false", "$ echo $?", "2"), ["line 8: `echo $?` wrote:\n1\n"]),
        (("$ exit 0", "$ echo a"), ["line 7: the shell ended"]),
    ],
)
def test_what_it_does_not_is_found(lines, found):
    assert faults_of(*lines) == found
