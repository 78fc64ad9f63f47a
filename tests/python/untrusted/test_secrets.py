"""Where the bytes of a key are in a process that uses it, and afterwards.

The parent knows the key and looks through the memory of a child that has read it from a
file, so what it looks for is not there by the looking.
"""

import base64
import os
import subprocess
import sys

import pytest
import waybill

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or bool(os.environ.get("WAYBILL_SANITIZED")),
    reason="reads /proc/PID/mem; sanitizers keep what is freed",
)

CHILD = """
import sys, waybill
def wait(word):
    print(word, flush=True)
    sys.stdin.readline()
key = waybill.security.SigningKey.from_file(sys.argv[1])
ring = waybill.security.KeyRing()
ring.add(key)
data = waybill.dumps([1, 2], key=key)
waybill.security.verify(data, ring)
try:
    waybill.dumps(key)
except waybill.EncodeError:
    pass
wait("alive")
del key, ring
wait("gone")
"""


def count_in_memory(pid, needle):
    """How often the bytes stand in memory that the process may read."""
    found = 0
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            span, rights, *_ = line.split()
            if not rights.startswith("r") or "[v" in line:
                continue
            start, end = (int(part, 16) for part in span.split("-"))
            try:
                memory.seek(start)
                found += memory.read(end - start).count(needle)
            except OSError:
                pass  # Mapped, and not there.
    return found


@pytest.mark.parametrize("algorithm", ["ed25519", "mac"])
def test_secret_is_in_locked_memory_while_its_key_lives_and_nowhere_after(
    tmp_path, algorithm
):
    file = tmp_path / "key"
    waybill.security.SigningKey.generate(algorithm).save(file)
    text = file.read_bytes().partition(b":")[2].strip()
    secret = base64.urlsafe_b64decode(text + b"=")
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, file],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    counts = []
    try:
        for word in (b"alive\n", b"gone\n"):
            assert child.stdout.readline() == word
            try:
                counts.append(
                    [count_in_memory(child.pid, each) for each in (secret, text)]
                )
            except PermissionError:
                pytest.skip("the memory of a child may not be read here")
            child.stdin.write(b"\n")
            child.stdin.flush()
    finally:
        child.communicate()

    # The key, and of a MAC the ring's as well; never the text that it came from.
    assert counts == [[1 if algorithm == "ed25519" else 2, 0], [0, 0]]
