"""Commands on an envelope with buffers behind its head."""

import json
import subprocess

import pytest
from command import BINARY, ROOT, needs_binary

pytestmark = needs_binary

SAMPLE = ROOT / "fuzz/corpus/envelope/buffers.waybill"
LAST_BUFFER = 192


def run(*arguments, data=None):
    return subprocess.run([BINARY, *arguments], input=data, capture_output=True)


def altered(at):
    data = bytearray(SAMPLE.read_bytes())
    data[at] ^= 1
    return bytes(data)


def test_inspect_lists_the_buffers():
    shown = run("inspect", SAMPLE, "--json")

    buffers = json.loads(shown.stdout)["buffers"]
    kinds = [(each["kind"], each["offset"]) for each in buffers]
    assert kinds == [("bytes", 128), ("writable", LAST_BUFFER)]
    assert b"5 x 20 x 'B'" in run("inspect", SAMPLE).stdout


@pytest.mark.parametrize(
    ("at", "code"),
    [(LAST_BUFFER + 99, "digest_mismatch"), (LAST_BUFFER - 1, "malformed")],
)
def test_verify_checks_what_stands_behind_the_head(at, code):
    assert run("verify", SAMPLE).returncode == 0

    refused = run("verify", "-", "--json", data=altered(at))

    assert refused.returncode == 2
    assert json.loads(refused.stdout)["error"]["code"] == code


def test_verify_refuses_what_is_cut_or_followed():
    data = SAMPLE.read_bytes()

    assert b"truncated" in run("verify", "-", data=data[:-1]).stderr
    assert b"trailing_bytes" in run("verify", "-", data=data + b"\0").stderr


def test_cat_writes_buffers_as_bytes():
    written = json.loads(run("cat", SAMPLE).stdout)

    assert [list(item) for item in written] == [["$bytes"], ["$bytearray"], ["$bytes"]]


def test_diff_of_a_signed_copy_is_the_signature_alone(tmp_path):
    other = tmp_path / "other"
    run("sign", SAMPLE, "-o", other, "--key", make_key(tmp_path))

    differs = run("diff", SAMPLE, other)

    assert differs.returncode == 6
    assert differs.stdout.startswith(b"differ in: the signature\n")


def make_key(folder):
    assert run("keygen", "--mac", "--out", folder / "sender").returncode == 0
    return folder / "sender.key"


def test_signature_covers_the_buffers(tmp_path):
    key = make_key(tmp_path)
    signed = tmp_path / "signed"
    assert run("sign", "--key", key, SAMPLE, "-o", signed).returncode == 0
    assert run("verify", "--key", key, signed).returncode == 0
    data = bytearray(signed.read_bytes())
    data[-9] ^= 1

    refused = run("verify", "--key", key, "-", data=bytes(data))

    assert b"digest_mismatch" in refused.stderr
