"""Names and comments use the terms of the glossary, not the old words of this tree."""

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("src", "include", "python_ext", "fuzz")

#: A part of an identifier, and what to say for it.
OLD_PARTS = {
    "arrival": "received object",
    "arrivals": "received definitions",
    "arrive": "is received",
    "arrived": "received",
    "brought": "added",
    "came": "received",
    "fact": "target, metadata",
    "facts": "points-to set, metadata",
    "kept": "cached, stored",
    "met": "visited, found",
    "note": "remark, record",
    "noted": "recorded",
    "notes": "remarks, records",
    "said": "sent, recorded",
    "told": "reported, described",
    "word": "text, label, snapshot, home state",
    "words": "texts, labels, snapshots",
}

#: Names of others, and names that payloads and pickles hold.
ALLOWED = {"add_note", "__notes__", "COMP_WORDS", "COMP_CWORD", "Arrived", "LastWord"}

#: A word of 64 bits, of a shell, or of a text that is broken into lines.
WITH_WORDS = {
    "src/bytecode/control_flow.cpp",
    "src/bytecode/control_flow.h",
    "src/bytecode/soundness.cpp",
    "src/cli/completion.cpp",
    "src/explain/explanation_text.cpp",
    "src/python/decode/str_maker.cpp",
    "src/wire/lead.h",
    "src/wire/number.h",
    "src/wire/utf8.cpp",
    "src/wire/utf8.h",
}

OLD_PHRASES = (
    "has a say",
    "have a say",
    "has no say",
    "have no say",
    "what came",
    "nobody's code",
    "go on after",
)


def files():
    for folder in PRODUCT:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".cpp", ".h", ".py", ".pyi"}:
                yield path


def code_of(path):
    """The text of a file without comments and strings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in {".py", ".pyi"}:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return " ".join(t.string for t in tokens if t.type == tokenize.NAME)
    left_out = r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'|#[^\n]*"""
    return re.sub(left_out, "", text, flags=re.S)


def place_of(path):
    return path.relative_to(ROOT).as_posix()


def parts_of(name):
    """`kKeptHead` and `kept_head_` both have the parts kept and head."""
    return [p.lower() for p in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def test_parts_of_identifiers_are_found():
    assert parts_of("kKeptHead") == ["k", "kept", "head"]
    assert parts_of("was_told_") == ["was", "told"]
    assert parts_of("HTMLWord") == ["html", "word"]


def test_identifiers_have_no_old_word_in_them():
    found = sorted(
        f"{place_of(path)}: {name}: say {OLD_PARTS[part]}"
        for path in files()
        for name in set(re.findall(r"[A-Za-z_]\w*", code_of(path))) - ALLOWED
        for part in parts_of(name)
        if part in OLD_PARTS
        and not (part.startswith("word") and place_of(path) in WITH_WORDS)
    )

    assert not found, "\n".join(found)


@pytest.mark.parametrize("phrase", OLD_PHRASES)
def test_text_has_no_old_phrase(phrase):
    pages = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")]

    found = [
        place_of(path)
        for path in [*files(), *pages]
        if phrase in " ".join(path.read_text(encoding="utf-8").split()).lower()
    ]

    assert not found
