"""Times files of compressed arrays, and prints the table of docs/arrays.md.

    python benchmarks/compression_timing.py

All sides write and read one array of 64 MB, alternately, in one process, without
waiting for the disk; the fastest of TIMES runs counts. joblib needs the package lz4.
"""

import sys
import tempfile
import time
from pathlib import Path

import joblib
import numpy
import waybill

COUNT = 8_000_000
TIMES = 5
LINE = b"2026-11-%02d %02d:%02d GET /items/%d 200\n"


def arrays():
    random = numpy.random.default_rng(1)
    lines = (
        LINE % (i % 28 + 1, i % 24, i % 60, i * 7919 % 100_003)
        for i in range(1_700_000)
    )
    text = b"".join(lines)[: 8 * COUNT]
    return {
        "float64, random walk": random.standard_normal(COUNT).cumsum(),
        "int64, 0, 1, 2 …": numpy.arange(COUNT),
        "text, log of a server": numpy.frombuffer(text, "u1"),
        "random bytes": numpy.frombuffer(random.bytes(8 * COUNT), "u1"),
    }


def waybill_side(compress):
    return (
        lambda array, path: waybill.save(array, path, durable=False, compress=compress),
        waybill.load,
    )


def joblib_side(compress):
    return lambda array, path: joblib.dump(array, path, compress=compress), joblib.load


def save_by_numpy(array, path):
    with open(path, "wb") as file:
        numpy.savez_compressed(file, array)


SIDES = {
    "waybill": waybill_side(None),
    'waybill, `"zstd"`': waybill_side("zstd"),
    'waybill, `("zstd", -5)`': waybill_side(("zstd", -5)),
    'waybill, `("zstd", 1)`': waybill_side(("zstd", 1)),
    'waybill, `("zstd", 9)`': waybill_side(("zstd", 9)),
    "joblib, lz4": joblib_side("lz4"),
    "joblib, zlib 1": joblib_side(("zlib", 1)),
    "joblib, zlib 3": joblib_side(("zlib", 3)),
    "numpy.savez_compressed": (
        save_by_numpy,
        lambda path: numpy.load(path)["arr_0"],
    ),
}


def seconds_of(call, best):
    start = time.perf_counter()
    result = call()
    return min(best, time.perf_counter() - start), result


def measure(array, path):
    """{side: (size, seconds to write, seconds to read)}"""
    found = {}
    for turn in range(TIMES):
        for side, (save, load) in SIDES.items():
            _, write, read = found.get(side, (0, 1e9, 1e9))
            if turn >= 2 and write > 1:
                continue  # Two runs suffice for slow sides.
            write, _ = seconds_of(lambda save=save: save(array, path), write)
            read, again = seconds_of(lambda load=load: load(path), read)
            assert (again == array).all(), side
            found[side] = (path.stat().st_size, write, read)
            del again
    return found


def cell(nbytes, size, write, read):
    """The size in MB, and the MB/s of writing and of reading."""
    numbers = (nbytes / seconds / 1e6 for seconds in (write, read))
    return f"{size / 1e6:.1f}; " + "; ".join(f"{n:.0f}" for n in numbers)


def main():
    rows = {side: [f"| {side} |"] for side in SIDES}
    head = ["| size in MB; written at; read at, in MB/s |"]
    with tempfile.TemporaryDirectory() as folder:
        for name, array in arrays().items():
            head.append(f" {name} |")
            for side, found in measure(array, Path(folder, "file")).items():
                rows[side].append(f" {cell(array.nbytes, *found)} |")
            print(f"{name} is done", file=sys.stderr)
    print("".join(head), "|---|" + "---:|" * (len(head) - 1), sep="\n")
    for row in rows.values():
        print("".join(row))


if __name__ == "__main__":
    main()
