"""Counts the instructions of checking a signature, right and wrong.

    python benchmarks/signature_timing.py

The instructions of a check must not depend on secrets. They are counted by callgrind of
valgrind, for a program that checks one envelope of 4 KiB (build/check_signature, from
tests/trust/check_signature.cpp), with those of the C library. The run fails unless a
MAC needs the same number for all content, and the same number for all wrong signatures.
An Ed25519 check uses public values only, so its counts are only printed. Then the times
of signing and checking in Python are printed.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import waybill

PROGRAM = Path(__file__).resolve().parents[1] / "build" / "check_signature"
CASES = {
    "right": "right, all zeroes",
    "other": "right, other content",
    "first": "first byte wrong",
    "last": "last byte wrong",
    "unknown": "unknown key",
}
TIMES = 8


def instructions(algorithm, case, count):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        command = ["valgrind", "--tool=callgrind", "--quiet"]
        command += [f"--callgrind-out-file={out}", PROGRAM, algorithm, case, str(count)]
        subprocess.run(command, check=True)
        return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.M)[1])


def per_check(algorithm, case):
    """Instructions of one check, without the first, which initializes libsodium."""
    few, many = (instructions(algorithm, case, n) for n in (1, 1 + TIMES))
    return (many - few) / TIMES


def seconds_of(call):
    """The time of the fastest call within a second."""
    best, until = float("inf"), time.perf_counter() + 1
    while best == float("inf") or time.perf_counter() < until:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def show_times(algorithm):
    key = waybill.security.SigningKey.generate(algorithm)
    keys = waybill.security.KeyRing()
    keys.add(key)
    for size, name in ((100, "small"), (16 << 20, "16 MiB")):
        data = waybill.dumps(os.urandom(size))
        signed = waybill.security.sign(data, key)
        plain = seconds_of(lambda data=data: waybill.security.application(data))
        for verb, call in (
            ("sign", lambda data=data: waybill.security.sign(data, key)),
            ("check", lambda data=signed: waybill.security.application(data, keys)),
        ):
            spent = seconds_of(call) - plain
            rate = f"{size / spent / 1e6:,.0f} MB/s" if size > 1000 else ""
            print(f"  {verb:5} {name:8} {spent * 1e6:12,.1f} µs  {rate}".rstrip())


def main():
    if not PROGRAM.exists():
        sys.exit("build it first: make build")
    for algorithm in ("mac", "ed25519"):
        print(algorithm)
        counts = {case: per_check(algorithm, case) for case in CASES}
        for case, count in counts.items():
            print(f"  {CASES[case]:22} {count:12,.1f} instructions")
        if algorithm == "mac" and (
            counts["right"] != counts["other"] or counts["first"] != counts["last"]
        ):
            sys.exit("the instructions of a MAC check depend on what it checks")
        show_times(algorithm)


if __name__ == "__main__":
    main()
