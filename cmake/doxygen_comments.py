"""A filter for Doxygen: makes of plain `//` comments what Doxygen reads.

    python3 cmake/doxygen_comments.py <header>

The first comment of a header is about the file, and that of waybill.h is the page to
start at; those behind a declaration are about that; what is indented in a comment is a
list of headers, or code. Lines keep their numbers.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ABOVE = re.compile(r"^(\s*)// ?(.*)$")
BEHIND = re.compile(r"^(\s*[^/\s].*[;,{}]\s+)// (.*)$")
HEADER = re.compile(r"^  (\w+\.h) +(.*)$")
# What Doxygen would take for commands, tags and references.
SPECIAL = re.compile(r"([<>@\\#%])")


def escaped(words: str) -> str:
    if row := HEADER.match(words):
        return f"- {row[1]}: {escaped(row[2])}"
    if words.startswith("  "):
        return "    " + words
    return SPECIAL.sub(r"\\\1", words)


def filtered(lines: list[str], *, first: bool) -> list[str]:
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
            result[number + 1] = "/// @mainpage" if first else "/// @file"
            break
    return result


if __name__ == "__main__":
    header = Path(sys.argv[1])
    lines = header.read_text(encoding="utf-8").splitlines()
    print("\n".join(filtered(lines, first=header.name == "waybill.h")))
