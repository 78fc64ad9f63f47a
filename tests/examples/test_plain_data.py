"""docs/examples/plain_data: both sides, each in a process of its own."""

import json
import subprocess
import sys

import pytest
import waybill
from running import BUILT, EXAMPLES

FOLDER = EXAMPLES / "plain_data"
SIMULATE = BUILT / "plain_data" / "simulate"

pytestmark = pytest.mark.skipif(
    not SIMULATE.exists(), reason="the example is not built"
)


def simulate(*arguments, data=None):
    return subprocess.run([SIMULATE, *arguments], input=data, capture_output=True)


def read(*arguments):
    return subprocess.run(
        [sys.executable, FOLDER / "read.py", *arguments], capture_output=True, text=True
    )


@pytest.fixture
def key(tmp_path):
    made = waybill.security.SigningKey.generate()
    made.save(tmp_path / "sender.key")
    (tmp_path / "sender.pub").write_text(made.public_text)
    return tmp_path / "sender.key", tmp_path / "sender.pub"


def test_python_reads_what_cpp_wrote(tmp_path):
    written = simulate("write", tmp_path / "results")
    shown = read(tmp_path / "results")

    assert written.returncode == 0, written.stderr
    assert shown.returncode == 0, shown.stderr
    results = json.loads(shown.stdout)
    assert (results["run"], results["steps"]) == ("oscillator-7", 1000)
    assert results["parameters"]["range"] == [-1.0, 1.0]
    assert [record["time"] for record in results["records"]] == list(range(10))
    assert results["trace"][:2] == [255, 255]


def test_cpp_reads_what_python_wrote(tmp_path):
    written = read(tmp_path / "results", "--write")
    summary = simulate("summary", tmp_path / "results")

    assert written.returncode == 0, written.stderr
    assert summary.stdout == b"by hand: 4 records, last energy 0.5\n"


def test_stdout_of_one_is_stdin_of_the_other():
    written = simulate("write", "-")
    summary = simulate("summary", "-", data=written.stdout)

    assert summary.stdout.startswith(b"oscillator-7: 10 records, last energy ")


def test_signatures_are_demanded_on_both_sides(tmp_path, key):
    secret, public = key
    by_cpp, by_python = tmp_path / "by_cpp", tmp_path / "by_python"
    simulate("write", by_cpp, "--key", secret)
    read(by_python, "--write", "--key", secret)

    assert read(by_cpp, "--key", public).returncode == 0
    assert simulate("summary", by_python, "--key", public).returncode == 0
    by_cpp.write_bytes(waybill.dumps(waybill.loads(by_cpp.read_bytes())))
    assert "SignatureError" in read(by_cpp, "--key", public).stderr
    assert b"bad_signature" in simulate("summary", by_cpp, "--key", public).stderr


def test_functions_are_refused():
    refused = simulate("summary", "-", data=waybill.dumps(json.loads))

    assert refused.returncode == 1
    assert b"refused at byte" in refused.stderr


def test_the_bytes_are_those_of_python(tmp_path):
    simulate("write", tmp_path / "results")
    data = (tmp_path / "results").read_bytes()

    again = waybill.dumps(waybill.loads(data, policy=waybill.DATA_ONLY))

    # Headers name the Python, or none; digests follow from that.
    assert payload(data) == payload(again)


def payload(data):
    return data[data.index(b"\x80\x90\x90") : -11]
