"""A filter for Doxygen: makes of plain `//` comments what Doxygen reads.

    python3 cmake/doxygen_comments.py <header>

The first comment of a header is about the file; those behind a declaration are about
that; what is indented in a comment is code. Lines keep their numbers.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ABOVE = re.compile(r"^(\s*)// ?(.*)$")
BEHIND = re.compile(r"^(\s*[^/\s].*[;,{}]\s+)// (.*)$")
# What Doxygen would take for commands, tags and references.
SPECIAL = re.compile(r"([<>@\\#%])")


def escaped(words: str) -> str:
    if words.startswith("  "):
        return "    " + words
    return SPECIAL.sub(r"\\\1", words)


def filtered(lines: list[str]) -> list[str]:
    result = []
    for line in lines:
        if above := ABOVE.match(line):
            result.append(f"{above[1]}/// {escaped(above[2])}")
        elif behind := BEHIND.match(line):
            result.append(f"{behind[1]}///< {escaped(behind[2])}")
        else:
            result.append(line)
    for number, line in enumerate(result[:-1]):
        if line.startswith("#pragma once") and not result[number + 1]:
            result[number + 1] = "/// @file"
            break
    return result


if __name__ == "__main__":
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    print("\n".join(filtered(text.splitlines())))
