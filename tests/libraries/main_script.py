"""Sends what a script defines, as its user would: from __main__ to a process that has
none of it.

    main_script.send("value = lambda: 2", "value()") == 2

runs the text as a script of its own, sends what it leaves in `value`, and gives what
the expression makes of that in a fresh process, where the script is gone. What comes
back is plain data.
"""

import os
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


_KEYS = """
import waybill
first = list(map(waybill.fingerprint, made))
use()
same = len(made) - {changing}
print(first[:same] == list(map(waybill.fingerprint, made))[:same])
print(first == list(map(waybill.fingerprint, make())))
print(first)
"""


def demand_keys_of_any_process(script, imports, changing=0):
    """What a script has in `made`, of its `make`, has one key each time and everywhere.

    Also when what comes before it differs, and after the script's `use`, which changes
    as many as `changing` of it, the last ones.
    """
    script += _KEYS.format(changing=changing)
    before = "", "", f"{imports}\nheld = [object() for _ in range(99)]\n"
    first, *others = (
        fresh_process.run_script(
            start + script, env={**os.environ, "PYTHONHASHSEED": str(seed)}
        )
        for seed, start in enumerate(before)
    )

    assert first.splitlines()[:2] == ["True", "True"]
    assert others == [first, first]
