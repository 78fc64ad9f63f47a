"""Rows about arrays: in one payload, and in large files.

Each file is written and read by a new process, so that none profits from the memory of
an earlier one.
"""

import os
import pickle
import subprocess
import sys
import tempfile

from capability import round_trips

GROUP = "arrays"
MEGABYTE = 1 << 20

#: {side: (imports, write, read all, sum of the first array)} over a dict of arrays.
FILES = {
    "waybill": (
        "import waybill",
        "waybill.save(arrays, path, durable=False)",
        "arrays = waybill.load(path)",
        "first = waybill.load(path, mmap=True)['a0']",
    ),
    "pickle": (
        "import pickle",
        "with open(path, 'wb') as file: pickle.dump(arrays, file, 5)",
        "with open(path, 'rb') as file: arrays = pickle.load(file)",
        None,
    ),
    "joblib": (
        "import joblib",
        "joblib.dump(arrays, path)",
        "arrays = joblib.load(path)",
        "first = joblib.load(path, mmap_mode='r')['a0']",
    ),
    "numpy.savez": (
        "",
        "with open(path, 'wb') as file: numpy.savez(file, **arrays)",
        "arrays = dict(numpy.load(path))",
        "first = numpy.load(path)['a0']",
    ),
    "safetensors": (
        "import safetensors, safetensors.numpy",
        "safetensors.numpy.save_file(arrays, path)",
        "arrays = safetensors.numpy.load_file(path)",
        "first = safetensors.safe_open(path, 'numpy').__enter__().get_tensor('a0')",
    ),
}

PROGRAM = """
import sys, time
import numpy
{imports}
path, count, items = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
{make}
start = time.perf_counter()
{work}
print(time.perf_counter() - start)
"""
MAKE = "arrays = {f'a{i}': numpy.full(items, i + 0.5) for i in range(count)}"


def rows(bench, sides):
    try:
        import numpy
    except ImportError:
        print("numpy is not installed: no arrays")
        return
    sizes = (32, 1024) if not bench.quick else (32,)
    for megabytes in sizes:
        array = numpy.ones(megabytes * MEGABYTE // 8)
        memory_rows(bench, f"{megabytes} MB array", array, sides)
        del array
    file_rows(bench, bench.count(100, quick=10), 20 * MEGABYTE // 8)


def memory_rows(bench, name, array, sides):
    """Uses protocol 5 of pickle, since the default one makes one more copy."""
    pairs = {side: (peer.dumps, peer.loads) for side, peer in sides.items()}
    pairs["pickle"] = (lambda value: pickle.dumps(value, 5), pickle.loads)
    pairs = {side: pair for side, pair in pairs.items() if round_trips(*pair, array)}
    calls = {side: (dumps, array) for side, (dumps, _) in pairs.items()}
    bench.add_repeated(GROUP, f"{name}: dumps", calls)
    calls = {side: (loads, dumps(array)) for side, (dumps, loads) in pairs.items()}
    bench.add_repeated(GROUP, f"{name}: loads", calls)


def file_rows(bench, count, items):
    name = f"file of {count} arrays of {items * 8 // MEGABYTE} MB"
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as folder:
        sides = filter(is_installed, FILES)
        paths = {side: os.path.join(folder, side) for side in sides}
        work = {
            f"{name}: save": 1,
            f"{name}: load": 2,
            f"{name}: first array": 3,
        }
        for row, step in work.items():
            figures = dict.fromkeys(paths, float("inf"))
            for _ in range(3):
                for side, path in paths.items():
                    if FILES[side][step] is None:
                        figures.pop(side, None)
                        continue
                    seconds = run(FILES[side], step, path, count, items)
                    figures[side] = min(figures[side], seconds)
            bench.add(GROUP, row, "s", figures)


def run(side, step, path, count, items):
    make = MAKE if step == 1 else ""
    program = PROGRAM.format(imports=side[0], make=make, work=side[step])
    done = subprocess.run(
        [sys.executable, "-c", program, path, str(count), str(items)],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def is_installed(side):
    try:
        exec(FILES[side][0])
    except ImportError:
        print(f"{side} is not installed")
        return False
    return True
