"""A filter for Doxygen: converts plain `//` comments to comments of Doxygen.

    python3 cmake/doxygen_comments.py <header>

The first comment of a header describes the file; that of waybill.h is the main page. A
comment after a declaration on the same line describes it. Indented lines of a comment
are a list of headers, or code. Line numbers do not change.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ABOVE = re.compile(r"^(\s*)// ?(.*)$")
AFTER = re.compile(r"^(\s*[^/\s].*[;,{}]\s+)// (.*)$")
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
        elif after := AFTER.match(line):
            result.append(f"{after[1]}///< {escaped(after[2])}")
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
