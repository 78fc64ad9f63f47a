"""Characters that are not seen, or steer a terminal, reach none: inspect, cat, diff."""

import json
import unicodedata

import pytest
import waybill
from command import needs_binary, run

pytestmark = needs_binary

#: Default_Ignorable_Code_Point of Unicode, where that is more than the category Cf.
IGNORABLE = [
    *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0),
    *range(0x180B, 0x1810),
    *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10),
    *range(0xFFF0, 0xFFFC),
    *range(0xE0000, 0xE1000),
]

#: By the tables of this Python, which may be newer than those of the command.
INVISIBLE = sorted(
    {
        point
        for point in range(0x110000)
        if unicodedata.category(chr(point)) in ("Cc", "Cf", "Zl", "Zp")
    }.union(IGNORABLE)
)


def output(*arguments, data=None):
    ended = run(*arguments, data=data)
    return (ended.stdout + ended.stderr).decode()


def raw(text):
    """Characters of that kind, but for the ends of lines."""
    invisible = set(map(chr, INVISIBLE)) - {"\n"}
    return {f"U+{ord(c):04X}" for c in text if c in invisible}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two payloads that have each such character in a text, a key and a name."""
    folder = tmp_path_factory.mktemp("invisible")
    pieces = [
        "".join(map(chr, INVISIBLE[at : at + 20]))
        for at in range(0, len(INVISIBLE), 20)
    ]
    for name, more in (("a", 1), ("b", 2)):
        value = {piece: [piece, more] for piece in pieces}
        (folder / name).write_bytes(waybill.dumps(value))
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("cat", "a"),
        ("cat", "a", "--loose"),
        ("inspect", "a", "--items", "10000"),
        ("inspect", "a", "--json", "--items", "10000"),
        ("diff", "a", "b", "--items", "10000"),
        ("diff", "a", "b", "--json", "--items", "10000"),
        ("inspect", "a\u200b\u202e\U000e0001"),
    ],
)
def test_no_invisible_character_is_written_as_it_is(files, words):
    paths = [files / word if word[0] in "ab" else word for word in words[1:]]

    told = output(words[0], *paths)

    assert len(told) > 20
    assert raw(told) == set()


def test_json_of_cat_says_what_was_there(files):
    told = json.loads(output("cat", files / "a"))

    assert told == waybill.load(files / "a")


@pytest.mark.parametrize(
    ("text", "escaped"),
    [("\u200b", "\\u200b"), ("\ufeff", "\\ufeff"), ("\U000e0001", "\\udb40\\udc01")],
)
def test_each_is_escaped_as_json_escapes_it(text, escaped):
    data = waybill.dumps(f"a{text}b")

    assert output("cat", "-", data=data) == f'"a{escaped}b"\n'
    assert json.loads(output("cat", "-", data=data)) == f"a{text}b"


def test_errors_of_run_and_discover_escape_them_too():
    from waybill import _core

    text = "".join(map(chr, INVISIBLE))

    assert raw(_core.printable_text(text)) == set()
    assert "\n" not in _core.printable_text(text)
    assert _core.printable_text("naïve 漢字 🎉") == "naïve 漢字 🎉"


def test_letters_signs_and_emoji_stay_as_they_are():
    text = "naïve €uro 漢字 עברית ひらがな 🎉 ½ ☂"

    assert output("cat", "-", data=waybill.dumps(text)) == f'"{text}"\n'
