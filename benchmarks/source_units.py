"""Counts the functions that have units of source, and how other Pythons compile them.

    python benchmarks/source_units.py [--share N] [--pythons build/pythons.json]

Each Python that `make test-all` built for makes units of a hundred modules of its
standard library and of some packages; all the others compile them. The last table is
for docs/cross_version.md. `--share 4`: every fourth file.
"""

import argparse
import base64
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python_ext" / "waybill"
PROGRAM = ROOT / "tests" / "python" / "source" / "units_of_modules.py"
PACKAGES = ["networkx==3.4.2", "sympy==1.13.3", "mpmath==1.3.0", "rich==13.9.4"]
PACKAGES += ["click==8.1.8", "attrs==24.3.0"]
MODULES = """
abc argparse ast asyncio.base_events asyncio.events asyncio.streams asyncio.tasks base64
bdb bisect calendar cmd code codecs collections concurrent.futures.thread configparser
contextlib copy csv dataclasses datetime decimal difflib dis doctest email.message
email.header email.policy enum filecmp fileinput fnmatch fractions ftplib functools
getopt getpass glob graphlib gzip hashlib heapq hmac html.parser http.client
http.cookiejar http.server imaplib inspect io ipaddress json.decoder json.encoder
linecache locale logging logging.config logging.handlers mailbox mimetypes
multiprocessing.managers multiprocessing.pool netrc ntpath numbers operator optparse os
pathlib pdb pickle pickletools platform plistlib poplib posixpath pprint profile pstats
queue random re reprlib runpy sched secrets selectors shelve shlex shutil smtplib socket
socketserver sqlite3.dbapi2 ssl statistics string struct subprocess symtable tarfile
tempfile textwrap threading timeit tokenize trace traceback types typing unittest.case
unittest.mock urllib.parse urllib.request uuid warnings wave weakref xml.dom.minidom
xml.etree.ElementTree xmlrpc.client zipapp zipfile zoneinfo
""".split()  # noqa: SIM905

FILES = """
import base64, importlib.util, json, sys
found = {}
for name in json.load(sys.stdin):
    try: spec = importlib.util.find_spec(name)
    except ImportError: continue
    origin = spec.origin if spec and spec.has_location else None
    if not origin and name in ("abc", "codecs", "io", "os", "posixpath", "ntpath"):
        origin = importlib.util.find_spec("ast").origin.replace("ast.py", name + ".py")
    if origin and origin.endswith(".py"):
        with open(origin, "rb") as file:
            found["lib/" + name] = base64.b64encode(file.read()).decode()
json.dump(found, sys.stdout)
"""


def run(command, program, verb, given):
    done = subprocess.run(
        [*command, "-c", program, verb],
        input=json.dumps(given),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def files_of_packages(folder):
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target"]
    subprocess.run([*install, folder, *PACKAGES], check=True)
    tops = {"networkx", "sympy", "mpmath", "rich", "click", "attr"}
    found = {}
    for path in sorted(Path(folder).rglob("*.py")):
        place = path.relative_to(folder)
        if place.parts[0] in tops and not {"tests", "testing"} & set(place.parts):
            found[str(place)] = base64.b64encode(path.read_bytes()).decode()
    return found


def units_of(command, packages, share):
    own = run(command, FILES, "", MODULES)
    files = dict([*own.items(), *packages.items()][::share])
    given = {"package": str(PACKAGE), "files": files, "calls": False}
    started = time.perf_counter()
    written = run(command, PROGRAM.read_text(encoding="utf-8"), "write", given)
    return written, time.perf_counter() - started


def print_proofs(version, written, seconds):
    print(f"{version}, {seconds:.0f} s")
    for part, is_part in (
        ("standard library", lambda name: name.startswith("lib/")),
        ("packages", lambda name: not name.startswith("lib/")),
    ):
        proven = sum(len(u) for n, u in written["units"].items() if is_part(n))
        others = [o for n, u in written["unproven"].items() if is_part(n) for o in u]
        total = proven + len(others)
        share = 100 * proven / max(total, 1)
        print(f"  {part}: {total} functions, {proven} proven, {share:.3f} %")
        for name, line, reason in others[:10]:
            print(f"    {name}, line {line}: {reason}")


def print_pair(sender, receiver, written, answers):
    """Prints the row of two Pythons; returns the refused and the differing units."""
    of_code = [u for units in written["units"].values() for _, u in units if u[0] < 2]
    equal = sum(answer["equal"] for answer in answers.values())
    refused = [r for answer in answers.values() for r in answer["refused"]]
    differ = [d for answer in answers.values() for d in answer["differ"]]
    total = sum(map(len, written["units"].values()))
    compiled = 100 * (total - len(refused)) / max(total, 1)
    print(
        f"| {sender} | {receiver} | {total} | {len(of_code)} | {compiled:.3f} % "
        f"| {equal} | {len(differ)} |",
        flush=True,
    )
    return refused, differ


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--pythons", default=ROOT / "build" / "pythons.json")
    chosen = parser.parse_args()
    pythons = json.loads(Path(chosen.pythons).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        packages = files_of_packages(folder)
    program = PROGRAM.read_text(encoding="utf-8")
    written = {}
    for version, command in pythons.items():
        written[version], seconds = units_of(command, packages, chosen.share)
        print_proofs(version, written[version], seconds)
    print("\n| from | to | units | of code | compiled | equal | differ |")
    print("|---|---|---|---|---|---|---|")
    examples = []
    for sender in pythons:
        for receiver in pythons:
            if sender != receiver:
                answers = run(pythons[receiver], program, "read", written[sender])
                found = print_pair(sender, receiver, written[sender], answers)
                examples += [(sender, receiver, *row) for rows in found for row in rows]
    print()
    for example in examples[:40]:
        print(*example)


if __name__ == "__main__":
    main()
