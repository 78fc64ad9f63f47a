"""The seeds of the fuzz harnesses are made anew when the format changes."""

import re

from pages import ROOT

FUZZ = ROOT / "fuzz"
ADVICE = "run python fuzz/make_seeds.py"


def test_the_seeds_of_golden_payloads_are_the_golden_payloads():
    golden = sorted((ROOT / "tests" / "golden").rglob("*.waybill"))
    assert golden
    for path in golden:
        seed = FUZZ / "corpus" / "loads" / path.stem
        assert seed.read_bytes() == path.read_bytes(), f"{seed}: {ADVICE}"


def test_the_dictionary_names_each_node_tag():
    text = (ROOT / "src" / "wire" / "format.h").read_text()
    tags = re.search(r"enum class NodeTag.*?{(.*?)};", text, re.DOTALL)[1]
    named = (FUZZ / "payload.dict").read_text()
    names = re.findall(r"^\s*(k\w+) =", tags, re.MULTILINE)
    assert names
    assert [name for name in names if f"node_{name}=" not in named] == [], ADVICE
