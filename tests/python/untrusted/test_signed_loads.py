"""With keys, what nobody signed is refused before any other byte is looked at."""

import io
import re

import fresh_process
import pytest
import waybill
from waybill import DATA_ONLY
from waybill.security import KeyRing, SigningKey

KEY, OTHER = SigningKey.generate(), SigningKey.generate()
MAC = SigningKey.generate("mac")


def refused(data, keys, **options):
    """What is said of a payload that is neither loaded nor found to be signed."""
    with pytest.raises(waybill.SignatureError) as caught:
        waybill.loads(data, keys=keys, **options)
    assert caught.value.code == "bad_signature"
    with pytest.raises(waybill.SignatureError, match=re.escape(str(caught.value))):
        waybill.security.verify(data, keys)
    return str(caught.value)


@pytest.mark.parametrize("key", [KEY, MAC], ids=["ed25519", "mac"])
@pytest.mark.parametrize("obj", [{"a": [1, (2,)]}, 7, "text"], ids=repr)
def test_signed_payload_loads_with_its_key(key, obj):
    data = waybill.dumps(obj, key=key)

    assert waybill.loads(data, keys=KeyRing(OTHER, key)) == obj
    assert waybill.loads(data) == obj  # Who asks for no signature gets none checked.


def test_signed_function_loads_and_runs():
    data = waybill.dumps(lambda x: x + 1, key=KEY)

    for _ in range(3):
        assert waybill.loads(data, keys=KeyRing(KEY))(1) == 2


@pytest.mark.parametrize("key", [KEY, MAC], ids=["ed25519", "mac"])
def test_any_flipped_bit_is_refused(key):
    data = waybill.dumps(lambda: [1, 2.5, "x"], key=key, application=b"nonce")
    keys = KeyRing(key)

    for position in range(len(data)):
        for bit in range(8):
            spoiled = bytearray(data)
            spoiled[position] ^= 1 << bit
            refused(bytes(spoiled), keys)


def test_unsigned_payload_is_refused_where_a_key_is_given():
    for keys in (KeyRing(KEY), KeyRing(MAC)):
        assert "not signed" in refused(waybill.dumps(1), keys)


def test_payload_of_another_key_is_refused():
    assert OTHER.id in refused(waybill.dumps(1, key=OTHER), KeyRing(KEY))


def test_what_is_no_payload_at_all_is_refused_for_its_signature():
    for data in b"", b"\xc1", b"x" * 1000, waybill.dumps(1)[:-1]:
        refused(data, KeyRing(KEY))


def test_signature_is_checked_before_policy_and_limits():
    data = waybill.dumps(lambda: 1)

    refused(
        data,
        KeyRing(KEY),
        policy=DATA_ONLY,
        limits=waybill.security.Limits(max_bytes=1),
    )
    with pytest.raises(waybill.PolicyError):
        waybill.loads(
            waybill.security.sign(data, KEY), keys=KeyRing(KEY), policy=DATA_ONLY
        )


def test_ring_without_keys_lets_nothing_in():
    refused(waybill.dumps(1), KeyRing())
    refused(waybill.dumps(1, key=KEY), KeyRing())


def test_streams_of_signed_payloads():
    file, shared = io.BytesIO(), [1]
    pickler = waybill.Pickler(file, key=KEY)
    pickler.dump(shared)
    pickler.dump([shared])
    file.write(waybill.dumps(2))
    file.seek(0)
    unpickler = waybill.Unpickler(file, keys=KeyRing(KEY))

    first, second = unpickler.load(), unpickler.load()

    assert second[0] is first
    with pytest.raises(waybill.SignatureError, match="not signed"):
        unpickler.load()


def test_load_and_save_take_keys(tmp_path):
    path = tmp_path / "payload"
    waybill.save([1], path, key=KEY)

    assert waybill.load(path, keys=KeyRing(KEY)) == [1]
    with path.open("rb") as file:
        assert waybill.load(file, keys=KeyRing(KEY)) == [1]
    with pytest.raises(waybill.SignatureError):
        waybill.load(path, keys=KeyRing(OTHER))


def test_process_that_demands_a_signature_demands_it_of_all():
    program = f"""
ring = waybill.security.KeyRing.from_text({KEY.public_text!r})
other = waybill.security.KeyRing.from_text({OTHER.public_text!r})
waybill.restrict(keys=ring)
ring.add({OTHER.public_text!r})  # Comes too late.
answer = []
for options in {{}}, {{"keys": ring}}, {{"keys": other}}:
    for payload in data, waybill.dumps(1), sys.argv[0].encode():
        try:
            answer.append(waybill.loads(payload, **options))
        except waybill.SignatureError:
            answer.append("refused")
"""
    data = waybill.dumps([7], key=KEY)

    answer = fresh_process.execute(program, data)

    no = "refused"
    assert answer == [[7], no, no, [7], no, no, no, no, no]


def test_keys_of_the_process_are_those_it_had_when_it_was_restricted():
    program = f"""
ring = waybill.security.KeyRing.from_text({KEY.public_text!r})
waybill.restrict(keys=ring)
ring.add({OTHER.public_text!r})
try:
    answer = waybill.loads(data)
except waybill.SignatureError as error:
    answer = str(error)
"""

    answer = fresh_process.execute(program, waybill.dumps(1, key=OTHER))

    assert "bad_signature" in answer


@pytest.mark.parametrize(
    "keys",
    [KEY, "ring", KEY.public_text, [KEY]],
    ids=["a key to sign with", "no key", "a key as text", "a list"],
)
def test_keys_are_a_ring(keys):
    with pytest.raises(TypeError):
        waybill.loads(waybill.dumps(1), keys=keys)
