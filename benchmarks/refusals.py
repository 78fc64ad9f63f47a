"""Measures the time and memory until each bomb of tests/python/helpers/bombs.py is
refused.

Prints the table of docs/security.md. The payloads are below a megabyte; memory is the
peak of what Python and the extension allocate (see peak_memory.py there).
"""

import sys
import time
from pathlib import Path

import waybill

sys.path.append(
    str(Path(__file__).resolve().parents[1] / "tests" / "python" / "helpers")
)

import bombs
import peak_memory

REPEATS = 5


def refuse(data):
    try:
        waybill.loads(data, policy=waybill.DATA_ONLY)
    except waybill.DecodeError as error:
        return error.code
    raise SystemExit("a bomb was accepted")


def measure(data):
    """The code of the error, the fewest seconds, and the peak of memory in bytes."""
    best = float("inf")
    for _ in range(REPEATS):
        started = time.perf_counter()
        code = refuse(data)
        best = min(best, time.perf_counter() - started)
    with peak_memory.watch() as peak:
        refuse(data)
    return code, best, peak.bytes


def main():
    peak_memory.start_again_with_counter()
    print("| payload | bytes | error | ms | KiB |\n|---|---|---|---|---|")
    for name in bombs.BOMBS:
        data = bombs.payload(name)
        code, seconds, peak = measure(data)
        print(
            f"| {name} | {len(data)} | `{code}` | {seconds * 1e3:.2f} "
            f"| {peak / 1024:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
