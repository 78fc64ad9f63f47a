"""Loads spoiled payloads, and prints the outcomes. A crash is what the tests look for.

    python mutation_worker.py KIND PAYLOAD PROGRESS

KIND  cut         cut at each length
      flip        each byte changed in three ways
      reseal      the same, with a digest that fits again; with WAYBILL_REPEATS fewer
      reseal-all  each byte set to every value, with a digest that fits
      splice      stretches copied, moved and dropped at random, with one that fits
      code        bytes of the code and of its places changed at random, with one that
                  fits

Loaded objects are never called; the positions of code objects are read. The file
PROGRESS names the current case.
"""

import collections
import gc
import itertools
import os
import random
import resource
import sys
import types
from pathlib import Path

import repeats
import waybill

MASKS = (1, 0x80, 0xFF)
#: Only every RESEALED_STEP-th change is tried: every eleventh for a share of 0.3.
RESEALED_STEP = round(repeats.SHARE**-2)
SPLICES = 100_000
CODE_CHANGES = repeats.times(20_000)
DIGEST_SIZE = 10  # 0xc4, 8, and eight bytes.


def flipped(data, end, masks=MASKS, step=1):
    every_way = itertools.product(range(end), masks)
    for position, mask in itertools.islice(every_way, 0, None, step):
        spoiled = bytearray(data)
        spoiled[position] ^= mask
        yield f"byte {position} ^ {mask:#x}", bytes(spoiled)


def code_that_runs(path, data):
    """Positions of the code of a payload that calls a function of its own when it is
    loaded, the __new__ of a named tuple.

    Sound code that takes too much from the stack may crash when it runs, or later.
    """
    if not Path(path).stem.startswith("source-"):
        return range(0)
    section = waybill.inspect(data)["sections"]["code"]
    return range(section["offset"], section["offset"] + section["size"])


def spliced(data, end):
    """Whole envelopes without valid digests. `end`: the offset of the digest of
    `data`."""
    chance = random.Random(end)
    for number in range(SPLICES):
        body = bytearray(data[:end])
        for _ in range(chance.randint(1, 4)):
            start, length = chance.randrange(11, len(body)), chance.randint(1, 12)
            piece = body[start : start + length]
            target = chance.randrange(11, len(body))
            cut = chance.choice((0, len(piece), chance.randint(0, 4)))
            body[target : target + cut] = piece
        yield f"splice {number}", bytes(body) + bytes(DIGEST_SIZE) + data[-1:]


def changed_in_code(data, end):
    """Envelopes without valid digests, with other bytes in code or debug
    information."""
    chance = random.Random(end)
    sections = waybill.inspect(data)["sections"]
    inside = [
        position
        for section in (sections["code"], sections["debug_info"])
        for position in range(section["offset"], section["offset"] + section["size"])
    ]
    for number in range(CODE_CHANGES):
        body = bytearray(data)
        for _ in range(chance.randint(1, 3)):
            at = chance.choice(inside)
            # A value near the old one, any value, or a byte from elsewhere in the code.
            body[at] = chance.choice(
                (body[at] ^ 1, (body[at] + 1) % 256, chance.randrange(256))
                + (body[chance.choice(inside)],)
            )
        yield f"change {number}", bytes(body)


def read_positions(value):
    """Makes the interpreter read the line tables of all loaded code."""
    count = 0
    todo = [value]
    while todo:
        code = todo.pop()
        if isinstance(code, types.FunctionType):
            todo.append(code.__code__)
        elif isinstance(code, types.CodeType):
            collections.deque(code.co_positions(), 0)
            collections.deque(code.co_lines(), 0)
            todo += code.co_consts
            count += 1
    return count


def resealed(data, at):
    """`data` with a computed digest at the offset `at`."""
    import xxhash

    digest = xxhash.xxh3_64_digest(data[:at])  # Canonical: big-endian.
    return data[:at] + b"\xc4\x08" + digest + data[at + DIGEST_SIZE :]


def sealed(payload):
    """An envelope with this payload, of this Python."""
    empty = waybill.dumps(None)
    at = waybill.inspect(empty)["sections"]["payload_length"]["offset"]
    whole = empty[:at] + with_length(payload) + empty[at + 2 :]
    return resealed(whole, len(whole) - DIGEST_SIZE - 1)


def with_length(payload):
    """The length of a payload, as an envelope has it, and the payload."""
    return b"\xce" + len(payload).to_bytes(4, "big") + payload


def attempt(data, intact, tally, policy=None):
    """Tries to load `data`; False if the outcome is not allowed."""
    try:
        value = waybill.loads(data, policy=policy)
    except waybill.DecodeError as error:
        tally[f"DecodeError {error.code}"] += 1
        return 0 <= error.offset <= len(data)
    except waybill.Error as error:
        tally[type(error).__name__] += 1
        return True
    except MemoryError:
        tally["MemoryError"] += 1
        return intact is None
    except SystemError:
        tally["SystemError"] += 1
        return False
    except Exception as error:
        tally[type(error).__name__] += 1
        return intact is None
    tally["loaded"] += 1
    tally["code objects"] += read_positions(value)
    return intact is None or waybill.dumps(value) == intact


def main():
    kind, path, progress_file = sys.argv[1:]
    data = Path(path).read_bytes()
    if not os.environ.get("WAYBILL_SANITIZED"):  # Sanitizers reserve terabytes.
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    intact = waybill.dumps(waybill.loads(data))
    at = waybill.inspect(data)["sections"]["digest"]["offset"]
    if kind == "cut":
        cases = ((f"cut at {size}", data[:size]) for size in range(len(data)))
    elif kind == "flip":
        cases = flipped(data, len(data))
    else:
        intact = None  # A changed payload that is sound gives a changed object.
        if kind == "splice":
            spoiled = spliced(data, at)
        elif kind == "code":
            spoiled = changed_in_code(data, at)
        elif kind == "reseal":
            spoiled = flipped(data, at, step=RESEALED_STEP)
        else:
            spoiled = flipped(data, at, masks=range(1, 256))
        cases = ((what, resealed(d, len(d) - DIGEST_SIZE - 1)) for what, d in spoiled)
    # Code that runs is verified, and not built.
    running = code_that_runs(path, data) if kind.startswith("reseal") else ()
    tally, wrong = collections.Counter(), []
    progress = os.open(progress_file, os.O_WRONLY | os.O_CREAT)
    for what, spoiled in cases:
        os.pwrite(progress, what.ljust(40).encode(), 0)  # Read after a crash.
        is_run = running and int(what.split()[1]) in running
        if not attempt(spoiled, intact, tally, waybill.DATA_ONLY if is_run else None):
            wrong.append(what)
    gc.collect()
    print(repr({"tally": dict(tally), "wrong": wrong}))


if __name__ == "__main__":
    main()
