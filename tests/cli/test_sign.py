"""`waybill keygen`, `waybill sign`, and what `waybill verify` says of signatures."""

import json
import os
import resource
import subprocess
import sys

import pytest
import waybill
from command import error_of, needs_binary, run
from terminals import open_terminal

pytestmark = needs_binary

PAYLOAD = waybill.dumps([1])


@pytest.fixture(params=[(), ("--mac",)], ids=["ed25519", "mac"])
def key_files(request, tmp_path):
    """The file to sign with, and the one to check with."""
    made = run("keygen", *request.param, "--out", tmp_path / "sender")
    assert made.returncode == 0, made.stderr
    secret = tmp_path / "sender.key"
    return secret, secret if request.param else tmp_path / "sender.pub"


def test_keygen_writes_a_pair_and_prints_nothing_secret(tmp_path):
    made = run("keygen", "--out", tmp_path / "a")

    key = waybill.security.SigningKey.from_file(tmp_path / "a.key")
    assert made.stdout.decode() == f"{key.id}\n{key.public_text}\n"
    assert (tmp_path / "a.pub").read_text() == key.public_text + "\n"
    assert (tmp_path / "a.key").stat().st_mode & 0o777 == 0o600


def test_keygen_of_a_mac_prints_its_id_alone(tmp_path):
    made = run("keygen", "--mac", "--out", tmp_path / "a", "--json")

    key = waybill.security.SigningKey.from_file(tmp_path / "a.key")
    assert key.algorithm == "mac"
    assert json.loads(made.stdout) == {"ok": True, "key": key.id, "public": None}
    assert not (tmp_path / "a.pub").exists()


@pytest.mark.parametrize("there", ["a.key", "a.pub"])
def test_keygen_overwrites_nothing_and_leaves_no_half(tmp_path, there):
    (tmp_path / there).write_text("precious")

    made = run("keygen", "--out", tmp_path / "a")

    assert made.returncode == 4
    assert [path.name for path in tmp_path.iterdir()] == [there]
    assert (tmp_path / there).read_text() == "precious"


@pytest.mark.parametrize("options", [(), ("--mac",), ("--json",)])
def test_keygen_that_cannot_tell_of_the_key_leaves_none(tmp_path, options):
    with open("/dev/full", "wb") as full:
        made = run("keygen", *options, "--out", tmp_path / "a", stdout=full)

    assert made.returncode == 2
    assert made.stderr == b"waybill: stdout: No space left on device\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["verify", "cat", "run"])
def test_bad_key_file_is_told_with_its_line_and_without_a_byte(tmp_path, command):
    file = tmp_path / "known.pub"
    file.write_text("# a comment\n\nnonsense\n")
    expected = (
        f"line 3 of the key file {file}: a key starts with waybill-ed25519-private:, "
        "waybill-ed25519-public: or waybill-mac:"
    )

    ended = run(
        *(command, "--key", file, "-", "--json"),
        data=PAYLOAD,
        env={"WAYBILL_PYTHON": sys.executable},
    )

    assert ended.returncode == 4
    assert error_of(ended) == {"code": "bad_key", "detail": expected}
    assert ended.stderr.decode() == f"waybill: bad_key: {expected}\n"


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda key: "", "there is no key in the key file"),
        (lambda key: key.replace("private", "public"), "line 1 of the key file"),
        (lambda key: "\n" + key + key, "line 3 of the key file"),
    ],
)
def test_file_that_has_no_key_to_sign_with_is_named(tmp_path, spoil, words):
    run("keygen", "--out", tmp_path / "a")
    file = tmp_path / "a.key"
    file.write_text(spoil(file.read_text()))

    ended = run("sign", "--key", file, "-", data=PAYLOAD)

    assert ended.returncode == 4
    assert f"bad_key: {words} {file}" in ended.stderr.decode()


def test_what_is_signed_is_verified(key_files, tmp_path):
    secret, known = key_files
    key = waybill.security.SigningKey.from_file(secret)
    (tmp_path / "in").write_bytes(waybill.dumps([1]))

    signed = run("sign", "--key", secret, tmp_path / "in", "-o", tmp_path / "out")
    text = run("verify", "--key", known, tmp_path / "out")
    as_json = run("verify", "--key", known, tmp_path / "out", "--json")

    assert (signed.returncode, signed.stdout) == (0, b""), signed.stderr
    data = (tmp_path / "out").read_bytes()
    assert data == waybill.dumps([1], key=key)
    assert f"signed by the {key.algorithm} key {key.id}" in text.stdout.decode()
    assert json.loads(as_json.stdout) == {
        "ok": True,
        "size": len(data),
        "imports": 0,
        "code": 0,
        "signature": {"algorithm": key.algorithm, "key": key.id},
    }


@pytest.mark.parametrize("field", ["task 7 ☂", ""])
def test_application_field_is_put_in(key_files, field):
    secret, _ = key_files
    key = waybill.security.SigningKey.from_file(secret)
    data = waybill.dumps([1], application=b"what was there")

    signed = run("sign", "--key", secret, "--application", field, "-", data=data)

    assert signed.returncode == 0, signed.stderr
    assert signed.stdout == waybill.dumps([1], key=key, application=field.encode())


def test_signing_in_place_keeps_permissions_and_links(key_files, tmp_path):
    secret, _ = key_files
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").write_bytes(waybill.dumps([1]))
    (folder / "file").chmod(0o640)
    (tmp_path / "link").symlink_to("folder/file")

    signed = run("sign", "--key", secret, tmp_path / "link", "-o", tmp_path / "link")

    key = waybill.security.SigningKey.from_file(secret)
    assert signed.returncode == 0, signed.stderr
    assert (tmp_path / "link").is_symlink()
    assert (folder / "file").read_bytes() == waybill.dumps([1], key=key)
    assert (folder / "file").stat().st_mode & 0o777 == 0o640
    assert os.listdir(folder) == ["file"]


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_new_file_has_the_permissions_of_any_new_file(key_files, tmp_path, mask):
    before = os.umask(mask)
    try:
        run("sign", "--key", key_files[0], "-", "-o", tmp_path / "new", data=PAYLOAD)
    finally:
        os.umask(before)

    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o666 & ~mask


def test_signing_in_place_on_a_full_disk_leaves_the_old_file(key_files, tmp_path):
    secret, _ = key_files
    folder = tmp_path / "folder"
    folder.mkdir()
    data = waybill.dumps(os.urandom(20_000))
    (folder / "file").write_bytes(data)

    signed = run(
        *("sign", "--key", secret, "file", "-o", "file", "--json"),
        cwd=folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
    )

    assert signed.returncode == 2
    assert error_of(signed)["detail"] == "file: File too large"
    assert (folder / "file").read_bytes() == data
    assert os.listdir(folder) == ["file"]


def test_pipes_are_written_to_and_stay(key_files, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)

    into_pipe = run(
        "sign", "--key", key_files[0], "-", "-o", tmp_path / "pipe", data=PAYLOAD
    )
    to_stdout = run(
        "sign", "--key", key_files[0], "-", "-o", "/dev/stdout", data=PAYLOAD
    )

    assert into_pipe.returncode == 0, into_pipe.stderr
    assert reader.communicate(timeout=60)[0] == to_stdout.stdout != b""
    assert (tmp_path / "pipe").is_fifo()


def test_links_in_a_circle_are_an_error(key_files, tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    signed = run("sign", "--key", key_files[0], "-", "-o", tmp_path / "a", data=PAYLOAD)

    assert signed.returncode == 2
    assert (tmp_path / "a").is_symlink()


def test_keys_of_the_environment_and_stdin_and_stdout(key_files):
    secret, known = key_files
    env = {"A_KEY": secret.read_text(), "KNOWN": known.read_text()}

    signed = run("sign", "--key-env", "A_KEY", "-", data=waybill.dumps([1]), env=env)
    verified = run("verify", "--key-env", "KNOWN", "-", data=signed.stdout, env=env)

    assert verified.returncode == 0, verified.stderr


def test_one_of_several_keys_is_enough(key_files, tmp_path):
    secret, known = key_files
    run("keygen", "--out", tmp_path / "other")
    data = waybill.dumps([1], key=waybill.security.SigningKey.from_file(secret))

    both = run(
        "verify", "--key", tmp_path / "other.pub", "--key", known, "-", data=data
    )
    other = run("verify", "--key", tmp_path / "other.pub", "-", data=data)

    assert both.returncode == 0, both.stderr
    assert other.returncode == 4


@pytest.mark.parametrize(
    "spoil", [lambda d: d[:-1], lambda d: b"\0" + d[1:], lambda d: b""]
)
def test_signature_is_checked_before_the_form(key_files, spoil):
    secret, known = key_files
    data = spoil(waybill.dumps([1], key=waybill.security.SigningKey.from_file(secret)))

    result = run("verify", "--key", known, "-", "--json", data=data)

    assert result.returncode == 4
    assert error_of(result)["code"] == "bad_signature"
    assert result.stderr.startswith(b"waybill: bad_signature at byte ")


def test_bad_keys_end_with_4(key_files, tmp_path):
    secret, known = key_files
    secret.chmod(0o644)
    run("keygen", "--out", tmp_path / "other")

    for arguments in (
        ("sign", "--key", secret, "-"),
        ("sign", "--key", tmp_path / "other.pub", "-"),
        ("sign", "--key-env", "NO_SUCH_VARIABLE", "-"),
        ("verify", "--key", tmp_path / "other.key", "-"),
        ("verify", "--key", tmp_path / "absent", "-"),
    ):
        result = run(*arguments, "--json", data=waybill.dumps(1))
        assert result.returncode == 4, arguments
        assert error_of(result)["code"] == "bad_key"


@pytest.mark.parametrize("command", ["sign", "verify", "keygen", "no-such"])
@pytest.mark.parametrize("option", ["--key", "--key-env", "--out", "--none"])
def test_key_as_an_argument_is_refused_and_not_told(command, option):
    text = "waybill-mac:" + "k" * 43

    for arguments in ((option, text, "-"), (f"{option}={text}", "-"), (text,)):
        result = run(command, *arguments, data=b"")
        assert result.returncode == 1
        assert b"kkk" not in result.stdout + result.stderr


def test_signing_into_a_file_tells_size_and_key_as_json(key_files, tmp_path):
    secret, _ = key_files
    key = waybill.security.SigningKey.from_file(secret)

    signed = run(
        *("sign", "--key", secret, "-", "-o", tmp_path / "out", "--json"), data=PAYLOAD
    )

    assert json.loads(signed.stdout) == {
        "ok": True,
        "size": (tmp_path / "out").stat().st_size,
        "signature": {"algorithm": key.algorithm, "key": key.id},
    }


def test_envelope_is_not_written_to_a_terminal_unasked(key_files, tmp_path):
    (tmp_path / "in").write_bytes(PAYLOAD)
    ours, theirs = open_terminal()

    words = ["sign", "--key", key_files[0], tmp_path / "in"]
    unasked = run(*words, stdout=theirs)
    asked = run(*words, "-o", "-", stdout=theirs)

    os.close(theirs)
    os.close(ours)
    assert (unasked.returncode, asked.returncode) == (1, 0)
    assert b"give --out" in unasked.stderr


@pytest.mark.parametrize(
    "data, words", [(PAYLOAD[:-3], "was cut off"), (b"text", "nor is it an envelope")]
)
@pytest.mark.parametrize("command", ["verify", "cat"])
def test_what_is_no_whole_envelope_is_not_only_unsigned(
    key_files, command, data, words
):
    result = run(command, "--key", key_files[1], "-", data=data)

    assert result.returncode == 4
    assert words in result.stderr.decode()


def test_key_without_a_name_is_a_misunderstanding(tmp_path):
    made = run("keygen", "--out", "", cwd=tmp_path)

    assert made.returncode == 1
    assert not list(tmp_path.iterdir())
