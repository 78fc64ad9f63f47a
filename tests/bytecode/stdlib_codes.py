"""Writes all code objects of this interpreter's standard library as code_text.py does.

    python3.13 stdlib_codes.py codes.txt && summarize_codes codes.txt

summarize_codes then must meet no error, and tells the time a code object takes. Two
more lines of each code object are for the check of its soundness:

    stack SIZE
    lines HEX
"""

import pathlib
import sys
import sysconfig
import warnings

import code_text


def modules():
    """Compiled modules of the standard library."""
    warnings.simplefilter("ignore")
    for path in sorted(pathlib.Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" in path.parts or "lib2to3" in path.parts:
            continue
        try:
            yield compile(path.read_bytes(), str(path), "exec")
        except (SyntaxError, ValueError, UnicodeError):
            pass  # Test data that is no Python.


def main():
    with open(sys.argv[1], "w", encoding="ascii") as out:
        for module in modules():
            for code in code_text.nested(module):
                print(*code_text.lines(code), sep="\n", file=out)
                print(f"stack {code.co_stacksize}", file=out)
                print(f"lines {code.co_linetable.hex()}", file=out)


if __name__ == "__main__":
    main()
