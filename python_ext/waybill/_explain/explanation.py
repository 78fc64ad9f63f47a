"""Explanations: what a payload of live objects would be made of, and what cannot
travel. Tested by tests/python/explain."""

from __future__ import annotations

import sys

from waybill import _core
from waybill._api.functions import encode_options
from waybill._api.named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

#: Packages whose objects tell how large they are by a shape that is an attribute.
_HAVE_SHAPES = frozenset(
    ("numpy", "pandas", "polars", "torch", "scipy", "cupy", "jax", "jaxlib", "pyarrow")
)


def explain(
    obj: object,
    *,
    versions: Mapping[str, str] | None = None,
    progress: Callable[[int, int], object] | None = None,
    **options: Any,
) -> Explanation:
    """What ``dumps(obj, **options)`` would send, why, and what cannot travel.

    Walks everything in one pass, makes no payload, and goes on past what cannot travel,
    so all of that is reported at once. Reducers and ``__getstate__`` are called as by
    ``dumps``. ``versions``, what ``waybill.environment.versions`` gave in a worker, or
    its modules with any value, marks imports that are missing there; without it, those
    that are missing here are marked. Takes at most three times what ``dumps`` takes
    without caches; memory for at most some 20,000 parts, of which the smallest are
    summed up. ``progress`` is called every 65,536 objects with how many were walked and
    the bytes that they bring; what it raises ends the walk.
    """
    for name in ("protocol", "warn_above"):
        options.pop(name, None)
    handle = _core.explain(obj, encode_options(**options), progress)
    return Explanation(handle, versions)


class Import(NamedTuple):
    """A module that is needed: what ImportRecord tells, and whether it is there."""

    module: str
    time: str
    chain: str
    function: str
    file: str
    line: int
    #: Whether the environment that was asked about lacks it.
    missing: bool


class Blocker(NamedTuple):
    """An object that cannot travel: what EncodeError tells of it, for the first path on
    which it was met, and how many paths there are."""

    path: str
    short: str
    evaluates: bool
    #: One for each object that refers to it, at most 100; and how many there are.
    paths: tuple[str, ...]
    path_count: int
    type: str
    reason: str
    remedy: str
    file: str
    line: int
    expression: str
    function: str


class Source(NamedTuple):
    """The source that travels beside code, for other versions of Python."""

    #: As it is sent; no part has these.
    bytes: int
    #: How many have source.
    functions: int
    #: Name, file and line of those that have none: other versions refuse the payload.
    without: tuple[tuple[str, str, int], ...]


class Part:
    """An object that travels, in the tree of all that do. Attributes:

    ``path``, ``short``, ``evaluates``: as of a Blocker. ``type``; ``detail``: how much
    is in it, such as "of 3" or "300000x20", or the name of what goes by reference.
    ``bytes``: of the payload, with all that is below; ``own``: without. ``kind``:
    "value", "reference", "module" or "out of band". ``shared``: whether something else
    refers to it, too; it counts once. ``file``, ``line``, ``expression``, ``function``:
    the code that brought it. ``children``: the largest first. ``parent``: or None.
    """

    __slots__ = (
        "_children",
        "_hash",
        "_step",
        "_step_evaluates",
        "_variable",
        "bytes",
        "detail",
        "expression",
        "file",
        "function",
        "kind",
        "line",
        "own",
        "parent",
        "shared",
        "type",
    )

    def __init__(self, parent: Part | None, row: tuple[Any, ...]) -> None:
        self.parent = parent
        self._children: list[Part] = []
        (
            self._step,
            self._variable,
            step_evaluates,
            self.type,
            self.detail,
            self.kind,
            shared,
            self.bytes,
            self.own,
            self._hash,
            (self.file, self.line, self.expression, self.function),
        ) = row[1:]
        self._step_evaluates = bool(step_evaluates)
        self.shared = bool(shared)

    def _chain(self) -> list[Part]:
        """The parts from the root to this one."""
        chain = [self]
        while (parent := chain[-1].parent) is not None:
            chain.append(parent)
        return chain[::-1]

    @property
    def path(self) -> str:
        return "".join(part._step for part in self._chain())

    @property
    def short(self) -> str:
        short = ""
        for part in self._chain():
            short = part._variable or short + part._step
        return short

    @property
    def evaluates(self) -> bool:
        return all(part._step_evaluates for part in self._chain())

    @property
    def children(self) -> tuple[Part, ...]:
        return tuple(sorted(self._children, key=lambda part: -part.bytes))

    def walk(self) -> Iterator[Part]:
        """This part and all below it, in the order of the payload."""
        waiting = [self]
        while waiting:
            part = waiting.pop()
            yield part
            waiting.extend(reversed(part._children))

    def __repr__(self) -> str:
        return f"<Part {self.path} ({self.type}) of {self.bytes} bytes>"


class Explanation:
    """What a payload is made of. ``str()`` of it is a page for a terminal.

    ``total``: bytes of the payload, or of what travels of it. ``blockers``: all that
    cannot travel. ``parts``: the root of the tree of what does; what its bytes lack to
    the total are the header, the manifest, source and its places, tables and padding.
    ``imports``: what is needed, at load and when called. ``source``: what travels for
    other versions of Python; None if nothing does and it was not asked for.
    ``summed_up``: parts that are too small to be listed, whose bytes count as their
    holder's own. Holds none of the objects.
    """

    def __init__(
        self, handle: object, versions: Mapping[str, str] | None = None
    ) -> None:
        self._handle = handle
        self._versions = versions
        self._is_marked = False
        self.total, self.summed_up = _core.explanation_total(handle)
        self._parts: list[Part] = []

    def _with_missing(self) -> object:
        """The explanation of the extension, with missing imports marked: they are
        looked for when somebody asks."""
        if not self._is_marked:
            from waybill.environment import _find_missing

            names = [row[0] for row, _ in _core.explanation_imports(self._handle)]
            _core.mark_missing(self._handle, _find_missing(names, self._versions))
            self._is_marked = True
        return self._handle

    @property
    def parts(self) -> Part:
        if not self._parts:
            for row in _core.explanation_parts(self._handle):
                parent = self._parts[row[0]] if self._parts else None
                part = Part(parent, row)
                if parent is not None:
                    parent._children.append(part)
                self._parts.append(part)
        return self._parts[0]

    @property
    def blockers(self) -> tuple[Blocker, ...]:
        found = []
        for row in _core.explanation_blockers(self._handle):
            path, short, evaluates, paths, *rest, place = row
            fields = (path, short, bool(evaluates), tuple(paths), *rest, *place)
            found.append(Blocker(*fields))
        return tuple(found)

    @property
    def imports(self) -> tuple[Import, ...]:
        rows = _core.explanation_imports(self._with_missing())
        return tuple([Import(*row, bool(missing)) for row, missing in rows])

    @property
    def source(self) -> Source | None:
        source = _core.explanation_source(self._handle)
        if source is None:
            return None
        size, functions, without = source
        return Source(size, functions, tuple(without))

    def changes(self, other: Explanation) -> tuple[Change, ...]:
        """What is different in ``other``, the largest first: why its payload is new.

        Parts are compared by their paths: by type, size, and their own bytes. Those of
        code are compared without file names and line numbers.
        """
        ours = {part.path: part for part in self.parts.walk()}
        theirs = {part.path: part for part in other.parts.walk()}
        found = [
            change
            for path, part in ours.items()
            if path in theirs
            and (change := _compare(path, part, theirs[path])) is not None
        ]
        for part in _only_in(ours, theirs):
            found.append(Change(part.path, "removed", part.type, part.bytes, "", 0))
        for part in _only_in(theirs, ours):
            found.append(Change(part.path, "added", "", 0, part.type, part.bytes))
        found.sort(key=lambda change: -max(change.bytes, change.other_bytes))
        return tuple(found)

    def to_text(self, top: int = 10, columns: int = 80, colours: bool = False) -> str:
        """The page for a terminal, with the ``top`` largest parts."""
        return _core.explanation_text(self._with_missing(), top, columns, colours)

    def to_json(self) -> str:
        """All of it as JSON; docs/explain.md tells the keys."""
        return _core.explanation_json(self._with_missing())

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Writes a picture of it: one file for a browser that needs nothing else."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._page())

    def _page(self) -> str:
        return _core.explanation_html(self._with_missing(), self.parts._step)

    def _repr_html_(self) -> str:
        """The picture in a notebook, in a frame of its own."""
        from html import escape

        page = escape(self._page(), quote=True)
        style = "width:100%;height:32em;border:0"
        return (
            f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'
        )

    def __str__(self) -> str:
        return self.to_text(colours=_has_colours())

    def __repr__(self) -> str:
        count = len(self.blockers)
        name = self.parts._step
        return f"<Explanation of {name}: {self.total} bytes, {count} cannot travel>"


class Change(NamedTuple):
    """A part that is different in another explanation."""

    path: str
    #: "added", "removed", "type", "size" or "content".
    what: str
    type: str
    bytes: int
    other_type: str
    other_bytes: int

    def __str__(self) -> str:
        if self.what == "added":
            return f"{self.path} ({self.other_type}): added, {self.other_bytes} bytes"
        if self.what == "removed":
            return f"{self.path} ({self.type}): removed, {self.bytes} bytes"
        if self.what == "type":
            return f"{self.path}: {self.type}, and {self.other_type} in the other"
        if self.what == "size":
            sizes = f"{self.bytes} bytes, and {self.other_bytes} in the other"
            return f"{self.path} ({self.type}): {sizes}"
        return f"{self.path} ({self.type}): other content"


def _compare(path: str, ours: Part, theirs: Part) -> Change | None:
    if ours.type != theirs.type:
        what = "type"
    elif ours.own != theirs.own:
        what = "size"
    elif ours._hash != theirs._hash or ours.detail != theirs.detail:
        what = "content"
    else:
        return None
    return Change(path, what, ours.type, ours.bytes, theirs.type, theirs.bytes)


def _only_in(ours: dict[str, Part], theirs: dict[str, Part]) -> Iterator[Part]:
    """The parts that only the first has, without those below such a part."""
    for path, part in ours.items():
        parent = part.parent
        if path not in theirs and (parent is None or parent.path in theirs):
            yield part


def shape_of(obj: object) -> str:
    """ "300000x20" of an array, a frame and the like; "" of all else."""
    kind = type(obj)
    if kind.__module__.partition(".")[0] not in _HAVE_SHAPES:
        return ""
    shape = getattr(obj, "shape", None)
    if not isinstance(shape, tuple) or not shape:
        return ""
    return "x".join(str(int(length)) for length in shape)


def _has_colours() -> bool:
    import os

    if os.environ.get("NO_COLOR"):
        return False
    out = sys.stdout
    return out is not None and hasattr(out, "isatty") and out.isatty()
