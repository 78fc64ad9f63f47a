"""Sends what a script defines, as its user would: from __main__ to a process that has
none of it.

    main_script.send("value = lambda: 2", "value()") == 2

runs the text as a script of its own, sends what it leaves in `value`, and gives what
the expression makes of that in a fresh process, where the script is gone. What comes
back is plain data.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import fresh_process

_END = """
__import__("pathlib").Path(__import__("sys").argv[1]).write_bytes(
    __import__("waybill").dumps(value)
)
"""


def payload_of(script):
    with tempfile.TemporaryDirectory() as folder:
        program, payload = Path(folder, "program.py"), Path(folder, "payload")
        program.write_text(script + _END, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-I", program, payload],
            capture_output=True,
            timeout=fresh_process.SECONDS,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")[-6000:]
        return payload.read_bytes()


def send(script, expression):
    return fresh_process.load(payload_of(script), expression)
