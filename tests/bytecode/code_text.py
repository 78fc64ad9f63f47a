"""Code objects as text, for the C++ tests: code_file.h reads what this writes.

One code object is these lines; those nested in it follow, depth first:

    code NAME
    version 313
    instructions HEX
    exceptions HEX
    names WORD...
    locals WORD:KIND...
    arguments COUNT
    constants CONSTANT...

A WORD is percent-encoded, and "%" alone is the empty one. A CONSTANT is none, int:N,
text:WORD, code:NAME, other, or "(" CONSTANT... ")".
"""

import sys
import types
import urllib.parse

VERSION = sys.version_info[0] * 100 + sys.version_info[1]


def word(text):
    quoted = urllib.parse.quote(text.encode("utf-8", "surrogatepass"), safe="_.<>")
    return quoted or "%"


def constant(value):
    if value is None:
        return "none"
    if type(value) is int and abs(value) < 2**62:
        return f"int:{value}"
    if type(value) is str:
        return f"text:{word(value)}"
    if isinstance(value, types.CodeType):
        return f"code:{word(value.co_name)}"
    if type(value) is tuple:
        return " ".join(["(", *map(constant, value), ")"])
    return "other"


def locals_plus(code):
    """Names and kinds of all locals, cells and free variables, in their order."""
    kinds = [
        (name, 0x20 | (0x40 if name in code.co_cellvars else 0))
        for name in code.co_varnames
    ]
    kinds += [(name, 0x40) for name in code.co_cellvars if name not in code.co_varnames]
    return kinds + [(name, 0x80) for name in code.co_freevars]


def lines(code):
    """The lines of one code object."""
    arguments = code.co_argcount + code.co_kwonlyargcount
    arguments += bool(code.co_flags & 4) + bool(code.co_flags & 8)
    kinds = (f"{word(name)}:{kind:02x}" for name, kind in locals_plus(code))
    return [
        f"code {word(code.co_name)}",
        f"version {VERSION}",
        f"instructions {code.co_code.hex()}",
        f"exceptions {code.co_exceptiontable.hex()}",
        " ".join(["names", *map(word, code.co_names)]),
        " ".join(["locals", *kinds]),
        f"arguments {arguments}",
        " ".join(["constants", *map(constant, code.co_consts)]),
    ]


def nested(code):
    """The code object and all that are nested in it, depth first."""
    yield code
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from nested(value)
