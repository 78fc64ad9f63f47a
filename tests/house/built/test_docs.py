"""Docs and code are checked against each other."""

import re
import sys
from pathlib import Path

import pytest
import waybill

ROOT = Path(__file__).resolve().parents[3]
WIRE_PAGE = ROOT / "docs" / "wire_format.md"


def enumerators(header, enum):
    """(name, number) of each enumerator, in order; the number may be implied."""
    text = re.sub(r"//[^\n]*", "", (ROOT / header).read_text(encoding="utf-8"))
    body = re.search(rf"enum class {enum}\b[^{{]*{{(.*?)}}", text, re.S).group(1)
    number = -1
    for name, given in re.findall(r"\bk(\w+)\s*(?:=\s*(-?\w+))?", body):
        number = int(given, 0) if given else number + 1
        yield name, number


def words(name):
    """FrozenSet as the page may spell it: kFrozenSet, frozen_set, FrozenSet."""
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    return {f"k{name}", name, snake, snake.replace("_", ""), snake.replace("_", " ")}


def table_rows(text):
    """The cells of each row of each table, without quotes and emphasis."""
    for line in text.splitlines():
        if line.startswith("|"):
            yield [re.sub(r"[`*]", "", cell).strip() for cell in line.split("|")[1:-1]]


@pytest.mark.parametrize(
    ("header", "enum"),
    [
        ("src/wire/format.h", "NodeTag"),
        ("src/wire/format.h", "ExtType"),
        ("src/wire/format.h", "BufferKind"),
        ("src/wire/format.h", "BufferField"),
        ("src/wire/format.h", "CompressionMethod"),
        ("include/waybill/signature.h", "SignatureAlgorithm"),
    ],
)
def test_wire_page_lists_each_number_of(header, enum):
    rows = list(table_rows(WIRE_PAGE.read_text(encoding="utf-8")))

    missing = [
        (name, number)
        for name, number in enumerators(header, enum)
        if not any(str(number) in row and words(name) & set(row) for row in rows)
    ]

    assert not missing, f"no table row with number and name of {missing}"


def test_wire_page_tells_the_sizes_of_signatures():
    header = (ROOT / "src/wire/format.h").read_text(encoding="utf-8")
    sizes = dict(re.findall(r"k(\w+)Size = (\d+);", header))
    rows = list(table_rows(WIRE_PAGE.read_text(encoding="utf-8")))

    assert any({"kEd25519", sizes["Ed25519"]} <= set(row) for row in rows)
    assert any({"kMac", sizes["Mac"]} <= set(row) for row in rows)
    assert [sizes["KeyId"], "key id"] in rows


def test_wire_page_lists_each_error_code():
    page = WIRE_PAGE.read_text(encoding="utf-8")

    missing = [
        name
        for name, _ in enumerators("include/waybill/error.h", "ErrorCode")
        if not any(f"`{word}`" in page for word in words(name))
    ]

    assert not missing


@pytest.mark.parametrize(
    "module", [waybill, waybill.calls, waybill.environment, waybill.security]
)
def test_reference_names_all_that_is_public(module):
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")

    names = [f"{module.__name__}.{name}" for name in module.__all__]
    assert [name for name in names if name not in reference] == []


def test_wire_page_shows_the_bytes_of_an_envelope():
    page = WIRE_PAGE.read_text(encoding="utf-8")
    dump = re.findall(r"^[0-9a-f]{8}: ((?:[0-9a-f]{2,4} )+)", page, re.M)
    explained = re.findall(r"^\| (\d+) \| `((?:[0-9a-f]{2} ?)+)` \|", page, re.M)

    data = bytes.fromhex("".join(dump))

    assert waybill.loads(data) == {"answer": 42}
    assert bytes.fromhex("".join(text for _, text in explained)) == data
    starts = [
        sum(len(bytes.fromhex(t)) for _, t in explained[:i])
        for i in range(len(explained))
    ]
    assert [int(at) for at, _ in explained] == starts
    if sys.version_info[:2] == (3, 11):
        assert waybill.dumps({"answer": 42}) == data
