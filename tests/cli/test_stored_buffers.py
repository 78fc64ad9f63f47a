"""Commands on an envelope with buffers behind its head."""

import base64
import json

import pytest
from command import ROOT, error_of, needs_binary, run

pytestmark = needs_binary

SAMPLE = ROOT / "fuzz/corpus/envelope/buffers.waybill"
LAST_BUFFER = 192


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
    assert error_of(refused)["code"] == code


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


COMPRESSED = SAMPLE.with_name("compressed.waybill")
TEXT = b"".join(b"line %d\n" % i for i in range(9000))


def test_inspect_tells_compressions():
    shown = json.loads(run("inspect", COMPRESSED, "--json").stdout)["buffers"]

    assert [row["length"] for row in shown] == [len(TEXT), 80_000]
    assert shown[1]["compression"]["method"] == "zstd"
    assert shown[1]["compression"]["item_size"] == 8
    assert shown[1]["compression"]["stored_length"] < 1_000
    stored = shown[0]["compression"]["stored_length"]
    text = run("inspect", COMPRESSED).stdout.decode()
    assert f"{len(TEXT)} bytes, {stored} by zstd at" in text


def test_cat_decompresses():
    first, _ = json.loads(run("cat", COMPRESSED).stdout)

    assert base64.b64decode(first["$bytes"]) == TEXT


def test_verify_checks_compressed_ones_by_their_digests():
    assert run("verify", COMPRESSED).returncode == 0
    data = bytearray(COMPRESSED.read_bytes())
    data[300] ^= 1

    assert b"digest_mismatch" in run("verify", "-", data=bytes(data)).stderr


def test_signature_covers_compressed_ones(tmp_path):
    key = make_key(tmp_path)
    signed = tmp_path / "signed"
    assert run("sign", "--key", key, COMPRESSED, "-o", signed).returncode == 0

    assert run("verify", "--key", key, signed).returncode == 0
    assert run("cat", "--key", key, signed).stdout == run("cat", COMPRESSED).stdout


def test_diff_looks_at_what_is_compressed(tmp_path):
    waybill = pytest.importorskip("waybill")
    value = waybill.load(COMPRESSED)
    paths = [tmp_path / name for name in ("plain", "high", "other")]
    waybill.save(value, paths[0])
    waybill.save(value, paths[1], compress=("zstd", 19))
    waybill.save([value[0], bytes(80_000)], paths[2], compress="zstd")

    assert b"payload" not in run("diff", COMPRESSED, paths[0]).stdout
    assert b"payload" not in run("diff", COMPRESSED, paths[1]).stdout
    assert b"payload" in run("diff", COMPRESSED, paths[2]).stdout
