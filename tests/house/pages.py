"""The pages of the docs, and the fenced blocks on them.

`python tests/house/pages.py PAGE TEXT` writes the block that holds this text: so do
scripts in .ci get what they run.
"""

import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


class Block(NamedTuple):
    line: int  # of its first line, from 1
    language: str
    lines: list[str]

    @property
    def text(self):
        return "".join(f"{line}\n" for line in self.lines)


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks(page, *languages):
    """The blocks of a page, in order; of these languages, if any are given."""
    found, inside = [], None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            if inside is None:
                inside = Block(number + 1, line[3:], [])
                found.append(inside)
            else:
                inside = None
        elif inside is not None:
            inside.lines.append(line)
    assert inside is None, f"{page}:{inside.line}: the block has no end"
    return [block for block in found if not languages or block.language in languages]


if __name__ == "__main__":
    (block,) = (b for b in blocks(ROOT / sys.argv[1]) if sys.argv[2] in b.text)
    print(block.text, end="")
