"""The other side of main.cpp: reads results of a simulation, and writes some.

python read.py FILE [--key KEYFILE]            shows results; nothing in FILE is run
python read.py FILE --write [--key KEYFILE]    writes results for `simulate summary`

KEYFILE holds a key that has to have signed FILE, or the key to sign with.
"""

import argparse
import json
from pathlib import Path

import waybill


def show(file, key_file):
    keys = waybill.security.KeyRing.from_file(key_file) if key_file else None
    results = waybill.loads(file.read_bytes(), policy=waybill.DATA_ONLY, keys=keys)
    results["trace"] = list(results["trace"][:5])
    print(json.dumps(results, indent=2))


def write(file, key_file):
    key = waybill.security.SigningKey.from_file(key_file) if key_file else None
    results = {
        "run": "by hand",
        "parameters": {"range": (-1.0, 1.0)},
        "records": [{"time": i / 10, "energy": 2.0 / (i + 1)} for i in range(4)],
    }
    file.write_bytes(waybill.dumps(results, key=key))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--key", type=Path)
    arguments = parser.parse_args()
    (write if arguments.write else show)(arguments.file, arguments.key)
