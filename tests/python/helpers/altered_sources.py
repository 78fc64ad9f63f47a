"""Loads payloads of another Python whose sources were changed, and compiles text that
was put together at random: a program of its own, since what goes wrong may end it.

    python altered_sources.py payloads
    python altered_sources.py texts <seed> <count>

Prints how many were refused and how many were not. What is loaded is never called.
"""

import random
import sys

import waybill
from other_python import as_of_another_python, sealed_again
from waybill._source.compiling import compile_unit
from waybill._source.units import DEF, LAMBDA, Unit, UnitError

MASKS = 0x01, 0x20, 0x7F, 0xFF

WORDS = """
    ( ) [ ] { } : ; , . = == := -> ** * @ ~ - + | & < ' " f' rb" {x!r:>{y}}
    def class lambda if else elif for while in is not and or async await yield from with
    try except finally match case import global nonlocal return pass del type assert
    f x y self super __class__ __x None ... 0 1j 0xfg 1_000 1e999 print(x) [x] (x,)
    {x:y} f(x) x.y x[0] *x **x #c
""".split()
WORDS += ['"""', 'f"""', "\\", "\\\n", "\n", "\n ", "\n  ", "\n    ", " ", "\t"]
WORDS += ["\r", "\r\n", "\x0c", "\x00", "\u00e9", "\u2028", "\ufeff", "\udc80"]


def sent(values, by=2):
    return [value * by for value in values]


def payload():
    sent.__module__ = "__main__"
    functions = [sent, lambda x, *y, z=1: (x, y, z)]
    return as_of_another_python(waybill.dumps(functions, source=True))


def attempt(data):
    """Whether it loads. Nothing but DecodeError is to be raised."""
    try:
        waybill.loads(data)
    except waybill.DecodeError as error:
        assert 0 <= error.offset <= len(data), error
        return False
    return True


def change_payloads(whole):
    begin = whole.index(b"def sent(") - 3
    counts = [0, 0]
    for at in range(begin, len(whole) - 11):
        for mask in MASKS:
            changed = bytearray(whole)
            changed[at] ^= mask
            counts[attempt(sealed_again(bytes(changed)))] += 1
        counts[attempt(sealed_again(whole[:at] + whole[at + 1 :]))] += 1
    return counts


def compile_texts(seed, count):
    source = random.Random(seed)
    counts = [0, 0]
    for _ in range(count):
        words = source.choices(WORDS, k=source.choice([1, 2, 3, 5, 8, 13, 40]))
        text = source.choice(["", " "]).join(words)
        is_lambda = source.random() < 0.5
        start = "lambda x: " if is_lambda else "def f(x):\n return "
        unit = Unit(
            LAMBDA if is_lambda else DEF,
            start + text if source.random() < 0.8 else text,
            "<lambda>" if is_lambda else "f",
            "f",
            source.choice([None, "C"]),
            source.randrange(16),
            source.randrange(3),
            0,
            source.randrange(4),
            source.choice([(), ("annotations",)]),
            source.choice([(), ("x",), ("__class__", "y")]),
            source.choice([(), ("x",)]),
        )
        try:
            compile_unit(unit, "job.py", 1)
        except (SyntaxError, UnitError):
            counts[0] += 1
        else:
            counts[1] += 1
    return counts


if __name__ == "__main__":
    if sys.argv[1] == "payloads":
        print(*change_payloads(payload()))
    else:
        print(*compile_texts(int(sys.argv[2]), int(sys.argv[3])))
