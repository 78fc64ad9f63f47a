"""How long each bomb of tests/python/helpers/bombs.py takes to be refused, and how much
memory.

Prints the table of docs/security.md. The payloads are under a megabyte; memory is what
Python and the extension allocate beside them at most (see peak_memory.py there).
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
    raise SystemExit("was let in")


def measure(data):
    """Seconds at best, and bytes at most."""
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
