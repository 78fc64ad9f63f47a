"""src/bytecode/stack_effects.py against dis.stack_effect, and the generated rows."""

import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).parents[2] / "src" / "bytecode"
sys.path.insert(0, str(SOURCE))

import make_opcode_table  # noqa: E402


def test_every_opcode_has_the_effect_that_dis_tells():
    assert make_opcode_table.disagreements() == []


def test_generated_rows_are_those_of_this_interpreter():
    script = SOURCE / "make_opcode_table.py"

    printed = subprocess.run(
        [sys.executable, "-B", script], capture_output=True, text=True, check=True
    ).stdout

    rows = SOURCE / "opcode_rows" / f"{make_opcode_table.VERSION}.inc"
    assert printed == rows.read_text()
