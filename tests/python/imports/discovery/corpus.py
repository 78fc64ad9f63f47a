"""Reads shapes/*.txt: small programs, each with the imports that it needs.

A shape is a line `=== name`, header lines `key: value`, an empty line and the source
text, which defines `f`. Keys:

    load    modules that loads() must import, by their real names; exact
    may     modules that a careful may-analysis can add to `load`
    call    import statements in bodies; `?x` is optional, `x|y` is one of them
    lazy    lazy imports (PEP 810), spelled as `call`
    args    arguments of f, as Python text
    run     what to evaluate instead of f(*args); knows f, NS and drive
    gives   the value expected, as a Python literal; `?` if the shape is not run
    python  the first version that has the syntax
    until   the last version that the shape is about
    watch   names outside of the synthetic packages that are compared as well
    sender  `bare`: nothing is preloaded; `norun`: f cannot run in the sender
    why     for the reader

The source may call dump(obj) for an earlier dumps, and check(obj, "modules") for a
claim about another object than f.
"""

import ast
import textwrap
from dataclasses import dataclass
from pathlib import Path

SHAPES_FOLDER = Path(__file__).with_name("shapes")
NOT_RUN = "?"
_KEYS = frozenset(
    "load may call lazy args run gives python until watch sender why".split()
)


@dataclass(frozen=True)
class Shape:
    category: str
    name: str
    source: str
    load: frozenset
    may: frozenset
    call: tuple
    lazy: tuple
    run: str
    gives: str
    python: tuple
    until: tuple
    watch: frozenset
    sender: frozenset

    @property
    def id(self):
        return f"{self.category}.{self.name}"

    @property
    def is_run(self):
        return self.gives != NOT_RUN

    def exists_on(self, version):
        return self.python <= version <= self.until

    def as_task(self):
        """What the sending and the receiving process must know, for marshal."""
        return {
            "id": self.id,
            "source": self.source,
            "run": self.run if self.is_run else "",
            "watch": sorted(self.watch),
            "sender": sorted(self.sender),
        }


def _version(text):
    return tuple(map(int, text.split(".")))


def _parse_shape(category, text):
    head, _, source = text.partition("\n\n")
    name, *lines = head.splitlines()
    header = {}
    for line in lines:
        key, separator, value = line.partition(":")
        if key not in _KEYS or not separator or key in header:
            raise ValueError(f"{category}.{name.strip()}: bad header line {line!r}")
        header[key] = value.strip()

    def names(key):
        return header.get(key, "").split()

    gives = header["gives"]
    return Shape(
        category=category,
        name=name.strip(),
        source=textwrap.dedent(source).strip("\n") + "\n",
        load=frozenset(names("load")),
        may=frozenset(names("may")),
        call=tuple(names("call")),
        lazy=tuple(names("lazy")),
        run=header.get("run", f"f({header.get('args', '')})"),
        gives=gives if gives == NOT_RUN else repr(ast.literal_eval(gives)),
        python=_version(header.get("python", "3.11")),
        until=_version(header.get("until", "3.99")),
        watch=frozenset(names("watch")),
        sender=frozenset(names("sender")),
    )


def read_shapes():
    shapes = []
    for path in sorted(SHAPES_FOLDER.glob("*.txt")):
        sections = ("\n" + path.read_text()).split("\n=== ")[1:]
        shapes += [_parse_shape(path.stem, section) for section in sections]
    repeated = {shape.id for shape in shapes if shapes.count(shape) > 1}
    identifiers = [shape.id for shape in shapes]
    repeated |= {name for name in identifiers if identifiers.count(name) > 1}
    if repeated:
        raise ValueError(f"shapes defined twice: {sorted(repeated)}")
    return shapes


def unmet(expected, listed):
    """Why `listed` is not what `expected`, spelled as in the headers, allows."""
    allowed, reasons = set(), []
    for item in expected:
        choices = item.removeprefix("?").split("|")
        allowed.update(choices)
        if not item.startswith("?") and not listed.intersection(choices):
            reasons.append(f"{item} is missing")
    reasons += [f"{name} is too much" for name in sorted(listed - allowed)]
    return reasons
