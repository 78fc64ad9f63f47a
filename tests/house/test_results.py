"""Answers that nobody may overlook: the compiler tells where one is dropped."""

import re
from pathlib import Path

HEADERS = sorted((Path(__file__).parents[2] / "include" / "waybill").glob("*.h"))

# What could be done, or what is denied, or how much is missing.
ANSWERS = r"Result|std::optional|Verdict|Extent"
DECLARATION = re.compile(
    rf"^ *(\[\[nodiscard\]\] )?(?:static )?(?:{ANSWERS})\b(?:<[^()=]*>)? (\w+)\("
    r"(?![^;]*= delete;)",
    re.M,
)


def test_no_answer_of_a_public_function_can_be_dropped():
    declared = [
        (f"{path.name}: {name}", mark)
        for path in HEADERS
        for mark, name in DECLARATION.findall(path.read_text(encoding="utf-8"))
    ]

    assert len(declared) > 40
    assert not [function for function, mark in declared if not mark]
