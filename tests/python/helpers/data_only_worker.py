"""Loads spoiled payloads under DATA_ONLY, and checks what loading does.

    python data_only_worker.py COUNT SEED PAYLOAD...

Nothing may be imported or called, errors must be DecodeErrors, and memory must stay
below the multiple of the payload's size that docs/security.md states. Prints a tally.
"""

import collections
import random
import sys
from pathlib import Path

import peak_memory
import waybill
from mutation_worker import DIGEST_SIZE, resealed

MULTIPLE, CONSTANT = 256, 1 << 20  # The constant covers 512 nested values.
# Functions of waybill that loads() with options calls, and those that make its errors.
OWN_CODE = {
    *(
        "loads_with",
        "resolve_decode_options",
        "load_options_of",
        "option_value",
        "option_values",
    ),
    *("_require_options", "convert", "_handle_of"),
}

events = []
calls = set()


def watch(event, arguments):
    events.append(event)


def profile(frame, event, argument):
    if event == "call":
        calls.add(frame.f_code.co_name)


def spoiled(data, chance):
    """`data` with some bytes changed, moved or dropped, and a digest that fits."""
    body = bytearray(data[: -DIGEST_SIZE - 1])
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(11, len(body))
        kind = chance.randrange(4)
        if kind == 0:
            body[at] = chance.randrange(256)
        elif kind == 1:
            body[at] ^= 1 << chance.randrange(8)
        else:
            start, length = chance.randrange(11, len(body)), chance.randint(1, 12)
            piece = body[start : start + length]
            body[at : at + (0 if kind == 2 else length)] = piece
    at = len(body)
    return resealed(bytes(body) + bytes(DIGEST_SIZE) + b"\xc0", at)


def attempt(data, tally):
    """Loads `data`. Returns the audit events meanwhile."""
    del events[:]
    try:
        waybill.loads(data, policy=waybill.DATA_ONLY)
    except waybill.DecodeError as error:
        seen = events[:]
        tally[error.code] += 1
    else:
        seen = events[:]
        tally["loaded"] += 1
    return seen


def main():
    peak_memory.start_again_with_counter()
    count, seed, *paths = sys.argv[1:]
    sources = [Path(path).read_bytes() for path in paths]
    chance, tally = random.Random(int(seed)), collections.Counter()
    # Set up now what is set up once: the first error makes the classes of errors, and
    # the first unhashable key an error of Python to compare with.
    body = waybill.dumps({5: 1})[: -DIGEST_SIZE - 1].replace(b"\x81\x05", b"\x81\x90")
    unhashable = resealed(body + bytes(DIGEST_SIZE) + b"\xc0", len(body))
    for data in (*sources, b"", unhashable):
        attempt(data, tally)
    tally.clear()
    worst = 0
    sys.addaudithook(watch)
    for number in range(int(count)):
        data = spoiled(sources[number % len(sources)], chance)
        with peak_memory.watch() as peak:
            is_profiled = number % 16 == 0
            if is_profiled:  # Profiling is an audit event itself.
                sys.setprofile(profile)
            seen = attempt(data, tally)
            sys.setprofile(None)
        if seen and not is_profiled:
            raise SystemExit(f"{data!r}: {seen}")
        if peak.bytes > MULTIPLE * len(data) + CONSTANT:
            raise SystemExit(f"{data!r}: {peak.bytes} bytes")
        worst = max(worst, peak.bytes / len(data))
    if not calls - OWN_CODE <= {"attempt", "__missing__"}:
        raise SystemExit(f"called: {calls}")
    print(repr({"tally": dict(tally), "worst": round(worst, 1)}))


if __name__ == "__main__":
    main()
