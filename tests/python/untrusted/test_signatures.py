"""Signed payloads: what is accepted, what is refused, and who learns of keys."""

import base64
import copy
import hashlib
import io
import os
import pickle
import traceback

import fresh_process
import pytest
import waybill
from refusals import refused_as
from waybill.security import KeyRing, SigningKey

PRIVATE = "waybill-ed25519-private:nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"
PUBLIC = "waybill-ed25519-public:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
MAC = "waybill-mac:" + base64.urlsafe_b64encode(bytes(range(32))).decode().rstrip("=")


@pytest.fixture(params=["ed25519", "mac"])
def key(request):
    return SigningKey.generate(request.param)


def ring_of(*keys):
    ring = KeyRing()
    for key in keys:
        ring.add(key)
    return ring


def test_key_ring_takes_its_keys_at_once(key):
    text = key.public_text if key.algorithm == "ed25519" else MAC

    assert KeyRing(key).ids == (key.id,)
    assert KeyRing(text).ids == KeyRing.from_text(text).ids
    assert KeyRing(key, text).ids == ring_of(key, text).ids
    with pytest.raises(TypeError):
        KeyRing(5)
    with pytest.raises(waybill.SignatureError):
        KeyRing(PRIVATE)


def test_payload_that_was_signed_is_verified_and_loads(key):
    data = waybill.dumps({"answer": [42]}, key=key)

    assert waybill.security.verify(data, ring_of(key)) is None
    assert waybill.loads(data) == {"answer": [42]}
    expected = {"algorithm": key.algorithm, "key": key.id}
    assert waybill.inspect(data)["signature"] == expected


def test_function_that_was_sent_before_is_signed_too(key):
    def function(x):
        return os.path.join("/", x)

    plain = [waybill.dumps(function) for _ in range(3)][-1]

    data = waybill.dumps(function, key=key)

    waybill.security.verify(data, ring_of(key))
    assert data == waybill.security.sign(plain, key)
    assert waybill.dumps(function) == plain


def test_signing_again_changes_nothing(key):
    data = waybill.dumps([1, 2], key=key)

    assert waybill.security.sign(data, key) == data
    assert waybill.security.sign(bytearray(waybill.dumps([1, 2])), key) == data


def test_large_payload_is_signed_in_place(key):
    large = os.urandom(1 << 20)

    data = waybill.dumps([large, large], key=key, application=b"x" * 300)

    waybill.security.verify(data, ring_of(key))
    assert waybill.loads(data) == [large, large]


def test_payload_of_an_unknown_key_names_that_key_and_the_known_ones(key):
    known = SigningKey.generate(), SigningKey.generate("mac")

    with pytest.raises(waybill.SignatureError) as caught:
        waybill.security.verify(waybill.dumps(1, key=key), ring_of(*known))

    assert all(each.id in str(caught.value) for each in [key, *known])


def test_old_and_new_key_are_accepted_while_both_are_known(key):
    new = SigningKey.generate()
    ring = ring_of(key, new)

    assert len(ring) == 2 and ring.ids == (key.id, new.id)
    waybill.security.verify(waybill.dumps(1, key=key), ring)
    waybill.security.verify(waybill.dumps(1, key=new), ring)


def test_form_is_checked_after_the_signature(key):
    data = waybill.security.sign(waybill.dumps([waybill]), key)
    waybill.security.verify(data, ring_of(key))

    with refused_as("not_an_envelope"):
        waybill.security.sign(b"\x80\x04N.", key)


def test_mac_is_the_one_of_hashlib():
    data = waybill.dumps("x", key=SigningKey.from_text(MAC))

    mac = hashlib.blake2b(data[:-32], key=bytes(range(32)), digest_size=32)
    key_id = hashlib.blake2b(b"waybill-mac:" + bytes(range(32)), digest_size=32)
    assert data[-32:] == mac.digest()
    assert data[-43:-32] == b"\xc4\x29\x02" + key_id.digest()[:8]
    assert SigningKey.from_text(MAC).id == key_id.hexdigest()[:16]


def test_id_of_a_pair_is_the_hash_of_its_public_key():
    raw = base64.urlsafe_b64decode(PUBLIC.partition(":")[2] + "=")

    key_id = hashlib.blake2b(b"waybill-ed25519-public:" + raw, digest_size=32)

    assert SigningKey.from_text(PRIVATE).id == key_id.hexdigest()[:16]
    assert KeyRing.from_text(PUBLIC).ids == (key_id.hexdigest()[:16],)
    assert SigningKey.from_text(PRIVATE).public_text == PUBLIC


def test_application_field_is_read_without_loading(key):
    data = waybill.dumps([1], key=key, application=bytearray(b"task 7"))

    assert waybill.security.application(data) == b"task 7"
    assert waybill.security.application(data, ring_of(key)) == b"task 7"
    assert waybill.loads(data) == [1]
    expected = {"size": 6, "start": b"task 7".hex(), "text": "task 7"}
    assert waybill.inspect(data)["application"] == expected
    assert waybill.security.application(waybill.dumps([1])) is None
    assert waybill.dumps([1], application=b"") == waybill.dumps([1])


def test_application_field_is_put_in_when_others_sign(key):
    data = waybill.dumps(len, key=SigningKey.generate())

    signed = waybill.security.sign(data, key, application=b"task 7")

    assert signed == waybill.dumps(len, key=key, application=b"task 7")
    assert waybill.security.sign(signed, key) == signed
    assert waybill.security.sign(signed, key, b"") == waybill.dumps(len, key=key)
    with pytest.raises(TypeError):
        waybill.security.sign(data, key, "task 7")


def test_application_field_of_others_is_not_told(key):
    data = waybill.dumps([1], key=SigningKey.generate(), application=b"x")

    with pytest.raises(waybill.SignatureError):
        waybill.security.application(data, ring_of(key))


def test_functions_with_an_application_field_load(key):
    def function(x, by=[3]):
        return os.path.join("/", x * by[0])

    for nonce in (b"1", b"2", b"1"):
        data = waybill.dumps(function, key=key, application=nonce)
        assert waybill.loads(data)("a") == "/aaa"


def test_pickler_and_dump_sign(key):
    file = io.BytesIO()
    pickler = waybill.Pickler(file, key=key, application=b"first")
    shared = [1]
    pickler.dump(shared)
    start = file.tell()
    pickler.application = b"second"
    pickler.dump([shared])
    first, second = file.getvalue()[:start], file.getvalue()[start:]

    assert waybill.security.application(first, ring_of(key)) == b"first"
    assert waybill.security.application(second, ring_of(key)) == b"second"
    other = io.BytesIO()
    waybill.dump(shared, other, key=key, application=b"first")
    assert other.getvalue() == first


def test_other_process_reads_its_keys_from_file_and_environment(tmp_path, key):
    key.save(tmp_path / "key")
    (tmp_path / "pub").write_text(
        key.public_text if key.algorithm == "ed25519" else "# none\n" + PUBLIC
    )
    other = SigningKey.generate()
    data = waybill.dumps(other.id, key=key)
    source = "pub" if key.algorithm == "ed25519" else "key"

    told = fresh_process.execute(
        f"""
ring = waybill.security.KeyRing.from_file({str(tmp_path / source)!r})
waybill.security.verify(data, ring)
key = waybill.security.SigningKey.from_file({str(tmp_path / "key")!r})
more = waybill.security.KeyRing.from_environment("KEYS").ids
answer = (ring.ids, more, key.id, waybill.dumps(waybill.loads(data), key=key) == data)
""",
        data,
        env={**os.environ, "KEYS": other.public_text},
    )

    assert told == ((key.id,), (other.id,), key.id, True)


def test_key_is_saved_for_its_owner_and_never_overwritten(tmp_path, key):
    file = tmp_path / "key"
    key.save(file)

    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(waybill.SignatureError, match="exists"):
        SigningKey.generate().save(file)
    assert SigningKey.from_file(str(file)).id == key.id


def test_key_file_that_others_may_read_is_refused(tmp_path, key):
    file = tmp_path / "key"
    key.save(file)
    file.chmod(0o640)

    with pytest.raises(waybill.SignatureError, match="chmod 600") as caught:
        SigningKey.from_file(file)

    assert caught.value.code == "bad_key"


def test_private_key_is_refused_by_those_who_check():
    with pytest.raises(waybill.SignatureError, match="the public one"):
        KeyRing.from_text(PRIVATE)


def test_mac_key_has_no_public_half():
    with pytest.raises(waybill.SignatureError, match="no public half"):
        SigningKey.from_text(MAC).public_text


@pytest.mark.parametrize("make", [SigningKey, lambda: SigningKey.generate("rsa")])
def test_keys_are_made_by_what_makes_them(make):
    with pytest.raises((TypeError, ValueError)):
        make()


@pytest.mark.parametrize(
    "use",
    [
        lambda: waybill.dumps(1, key=PRIVATE),
        lambda: waybill.security.sign(waybill.dumps(1), b"x"),
        lambda: waybill.security.verify(waybill.dumps(1), SigningKey.from_text(MAC)),
        lambda: waybill.security.application(waybill.dumps(1), MAC),
        lambda: waybill.Pickler(io.BytesIO(), key=MAC),
        lambda: waybill._core.encode(1, {"key": waybill._core.key_ring()}),
        lambda: waybill._core.key_ids(waybill._core.generate_key("mac")),
        lambda: waybill._core.sign(b"", KeyRing()),
    ],
)
def test_what_is_no_key_is_a_type_error_that_does_not_tell_it(use):
    with pytest.raises(TypeError) as caught:
        use()

    assert PRIVATE[-20:] not in str(caught.value) and MAC[-20:] not in str(caught.value)


@pytest.mark.parametrize(
    "send",
    [copy.copy, copy.deepcopy, pickle.dumps, lambda x: waybill.dumps([x])],
    ids=["copy", "deepcopy", "pickle", "waybill"],
)
def test_keys_are_neither_copied_nor_sent(send):
    for keys in (SigningKey.from_text(PRIVATE), KeyRing.from_text(MAC)):
        with pytest.raises((TypeError, waybill.EncodeError), match="neither copied"):
            send(keys)


def test_nothing_tells_a_secret(tmp_path):
    secrets = [PRIVATE.partition(":")[2], MAC.partition(":")[2]]
    said = [repr(SigningKey.from_text(PRIVATE)), repr(KeyRing.from_text(MAC))]
    for text in (PRIVATE, MAC):
        spoiled = [
            text + "A",
            "x" + text,
            text[:-1],
            text.partition(":")[2],
            PUBLIC + "\n" + text,
        ]
        for call in (SigningKey.from_text, SigningKey.from_file, KeyRing.from_file,
                     SigningKey.from_environment, KeyRing.from_environment,
                     KeyRing.from_text):  # fmt: skip
            for each in spoiled:
                try:
                    said.append(repr(call(each)))
                except waybill.SignatureError as error:
                    said.append("".join(traceback.format_exception(error)))
                    said += [repr(error), repr(vars(error))]

    pieces = {text[i : i + 6] for text in secrets for i in range(len(text) - 5)}
    raws = [base64.urlsafe_b64decode(secret + "=") for secret in secrets]
    for words in said:
        assert not any(piece in words for piece in pieces)
        assert not any(raw.hex()[:16] in words for raw in raws)


def test_name_with_a_null_is_no_name(tmp_path):
    (tmp_path / "key").write_text(PUBLIC)

    for call in (KeyRing.from_file, SigningKey.from_file):
        with pytest.raises(waybill.SignatureError, match="Invalid argument"):
            call(f"{tmp_path}/key\0more")
    with pytest.raises(waybill.SignatureError, match="no environment variable"):
        KeyRing.from_environment("PATH\0more")
