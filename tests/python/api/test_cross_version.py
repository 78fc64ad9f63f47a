"""Payloads of other Python versions are read as far as this is safe, or refused.

The golden payloads also stand for older releases of waybill: format version 1 stays
readable for ever, so they are never edited.
"""

import json
import os
import subprocess
from pathlib import Path

import fresh_process
import golden_files
import pytest
import waybill
from other_interpreters import interpreters

ROOT = Path(__file__).resolve().parents[3]
COMMAND = Path(os.environ.get("WAYBILL_COMMAND", ROOT / "build" / "waybill"))
ALL = golden_files.PATHS
OWN = golden_files.own()
FOREIGN = [path for path in ALL if path not in OWN]
WITH_SOURCE = [path for path in FOREIGN if golden_files.has_source(path)]
WITH_CODE = [path for path in FOREIGN if golden_files.has_code(path)]
WITH_CODE = [path for path in WITH_CODE if path not in WITH_SOURCE]
WITHOUT_CODE = [path for path in FOREIGN if path not in WITH_CODE + WITH_SOURCE]


def named(path):
    return path.stem


def test_there_are_golden_payloads_of_five_versions():
    versions = {golden_files.version_of(path) for path in ALL}

    assert versions >= {"3.11", "3.12", "3.13", "3.14", "3.15"}


def test_each_golden_source_has_a_payload_of_each_version():
    names = {golden_files.name_of(path) for path in ALL}

    assert len(ALL) == len(names) * len(set(map(golden_files.version_of, ALL)))
    assert names == set(golden_files.make_golden.SOURCES)


# Also data of other Pythons, and code that has its source.
@pytest.mark.parametrize("path", OWN + WITHOUT_CODE + WITH_SOURCE, ids=named)
def test_golden_payload_loads_and_gives_the_same(path):
    value = waybill.loads(path.read_bytes())

    assert golden_files.check(path, value)


@pytest.mark.parametrize("path", OWN, ids=named)
def test_golden_source_still_gives_what_the_payload_gives(path):
    scope = golden_files.make_golden.scope_of(golden_files.name_of(path))
    options = golden_files.options_of(path)

    value = waybill.loads(waybill.dumps(scope["made"], **options))

    assert golden_files.check(path, value)


def test_some_golden_payloads_are_compressed_in_each_way():
    ways = {
        (row["compression"]["item_size"], row["length"] > 1 << 20)
        for path in ALL
        for row in golden_files.report_of(path).get("buffers", [])
    }

    assert ways == {(1, False), (1, True), (8, False)}


@pytest.mark.parametrize("path", WITH_CODE, ids=named)
def test_code_of_another_python_is_refused_and_both_are_named(path):
    with pytest.raises(waybill.PythonMismatchError) as caught:
        waybill.loads(path.read_bytes())

    theirs = golden_files.version_of(path)
    assert f"{theirs} (bytecode" in str(caught.value)
    assert f"{golden_files.VERSION} (bytecode" in str(caught.value)
    assert caught.value.code == "python_mismatch"
    assert 0 <= caught.value.offset < path.stat().st_size


@pytest.mark.parametrize("path", WITH_SOURCE, ids=named)
def test_what_came_as_source_from_another_python_goes_back_as_source(path):
    pytest.importorskip("xxhash")
    from other_python import as_of_another_python

    value = waybill.loads(path.read_bytes())

    again = waybill.loads(as_of_another_python(waybill.dumps(value, source=True)))

    assert golden_files.check(path, again)


def test_refused_payload_imports_nothing():
    paths = [path for path in FOREIGN if golden_files.name_of(path) == "imports"]
    program = """
import sys, waybill
from pathlib import Path
before = set(sys.modules)
for path in sys.argv[1:]:
    try: waybill.loads(Path(path).read_bytes())
    except waybill.PythonMismatchError: print("refused")
print(sorted(name for name in set(sys.modules) - before if "xml" in name))
"""

    told = fresh_process.run_script(program, *paths)

    assert told.split() == ["refused"] * len(paths) + ["[]"]


@pytest.mark.parametrize("path", ALL, ids=named)
def test_inspect_reads_payloads_of_every_version(path):
    name, data = golden_files.name_of(path), path.read_bytes()

    report = golden_files.make_golden.report_of(name, data)

    assert report == golden_files.report_of(path)


@pytest.mark.skipif(not COMMAND.exists(), reason="the command is not built here")
@pytest.mark.parametrize("path", ALL, ids=named)
def test_verify_passes_payloads_of_every_version(path):
    done = subprocess.run([COMMAND, "verify", path], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr


# ---- Live: every interpreter that `make test-all` built for, in both roles

SENDER = """
import linecache, sys, waybill
sources, options = eval(sys.stdin.read())
for name, source in sources.items():
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    scope = {"__name__": "golden"}
    exec(compile(source, name, "exec"), scope)
    print(name, waybill.dumps(scope["made"], **options.get(name, {})).hex())
"""
RECEIVER = """
import json, sys, waybill
answers = {}
for line in sys.stdin.read().splitlines():
    name, data = line.split()
    data = bytes.fromhex(data)
    waybill.inspect(data)
    try: waybill.loads(data)
    except waybill.PythonMismatchError as error: answers[name] = str(error)
    else: answers[name] = ""
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def payloads():
    made = golden_files.make_golden
    given = repr((made.SOURCES, made.OPTIONS))
    return {
        version: fresh_process.run_script(SENDER, command=command, given=given)
        for version, command in interpreters().items()
    }


@pytest.mark.cross
@pytest.mark.parametrize("receiver", sorted(interpreters()))
@pytest.mark.parametrize("sender", sorted(interpreters()))
def test_payloads_without_source_load_in_their_own_version_alone(
    payloads, sender, receiver
):
    command = interpreters()[receiver]
    told = fresh_process.run_script(RECEIVER, command=command, given=payloads[sender])
    answers = json.loads(told)

    refused = {name for name, message in answers.items() if message}
    for_all = {"data", "shared", "compressed", "source"}
    assert refused == (set() if sender == receiver else answers.keys() - for_all)
    for name in refused:
        assert f"{sender} (bytecode" in answers[name]
        assert f"{receiver} (bytecode" in answers[name]


@pytest.mark.cross
def test_data_gives_the_same_bytes_in_every_version_but_for_the_header(payloads):
    bodies = set()
    for lines in payloads.values():
        data = bytes.fromhex(dict(line.split() for line in lines.splitlines())["data"])
        section = waybill.inspect(data)["sections"]["payload"]
        bodies.add(data[section["offset"] : section["offset"] + section["size"]])

    assert len(bodies) == (1 if payloads else 0)
