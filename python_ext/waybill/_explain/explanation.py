"""Explanations: what a payload of live objects would be made of, and what cannot
travel. Tested by tests/python/explain."""

from __future__ import annotations

import os
import sys

from waybill import _core
from waybill._api.functions import resolve_encode_options
from waybill._api.named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

#: Packages whose objects state their size in a `shape` attribute.
_PACKAGES_WITH_SHAPES = frozenset(
    ("numpy", "pandas", "polars", "torch", "scipy", "cupy", "jax", "jaxlib", "pyarrow")
)


def explain(
    obj: object,
    *,
    versions: Mapping[str, str] | None = None,
    progress: Callable[[int, int], object] | None = None,
    **options: Any,
) -> Explanation:
    """Explains what ``dumps(obj, **options)`` would send, and what cannot travel.

    Makes no payload, and continues after an object that cannot travel, so one walk
    finds all of them. Calls reducers and ``__getstate__`` as ``dumps`` does.
    ``versions`` is the result of ``waybill.environment.versions`` in a worker, or a
    dict of its modules with any values: imports that are missing there are marked;
    without it, those that are missing here. Takes at most three times as long as
    ``dumps`` without caches. Lists about 20,000 parts; smaller ones count as bytes of
    their parents. ``progress`` is called every 65,536 objects with the number of
    objects visited and of bytes written; an exception from it ends the walk.
    """
    for name in ("protocol", "warn_above"):
        options.pop(name, None)
    handle = _core.explain(obj, resolve_encode_options(**options), progress)
    return Explanation(handle, versions)


class Import(NamedTuple):
    """The ImportRecord of a module that is needed, and whether it is missing."""

    module: str
    time: str
    chain: str
    function: str
    file: str
    line: int
    #: Whether the checked environment lacks the module.
    missing: bool


class Blocker(NamedTuple):
    """An object that cannot travel: the fields of its EncodeError, for the first path
    to it, and the number of paths."""

    path: str
    short: str
    evaluates: bool
    #: Paths from the objects that refer to it, at most 100, and their total number.
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
    """The source that travels with bytecode, for other versions of Python."""

    #: Its size as sent; the sizes of parts do not include it.
    bytes: int
    #: The number of functions with source.
    functions: int
    #: Name, file and line of functions without source, which other versions refuse.
    without: tuple[tuple[str, str, int], ...]


class Part:
    """An object that travels, in the tree of all such objects. Attributes:

    ``path``, ``short``, ``evaluates``: as in Blocker. ``type``; ``detail``: its length
    or shape, such as "of 3" or "300000x20", or the name of an object sent by reference.
    ``bytes``: its size in the payload with all descendants; ``own``: without them.
    ``kind``: "value", "reference", "module" or "out of band". ``shared``: whether other
    objects refer to it too; its bytes count once. ``file``, ``line``, ``expression``,
    ``function``: the code that captured it. ``children``: largest first. ``parent``:
    None for the root.
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
            self._step_evaluates,
            self.type,
            self.detail,
            self.kind,
            self.shared,
            self.bytes,
            self.own,
            self._hash,
            (self.file, self.line, self.expression, self.function),
        ) = row[1:]

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
    """The contents of a payload. ``str()`` of it is text for a terminal.

    ``total``: the size of the payload; if there are blockers, without these.
    ``blockers``: all objects that cannot travel. ``parts``: the root of the tree of
    objects that travel. Its bytes leave out the header, the manifest, source with its
    locations, tables and padding. ``imports``: the modules needed, at load and at
    calls. ``source``: the source that travels for other versions of Python; None if
    there is none and none was requested. ``omitted_parts``: the number of parts too
    small to be listed; their bytes count as their holder's own. Holds none of the
    objects.
    """

    def __init__(
        self, handle: object, versions: Mapping[str, str] | None = None
    ) -> None:
        self._handle = handle
        self._versions = versions
        self._is_marked = False
        self.total, self.omitted_parts = _core.explanation_total(handle)
        self._parts: list[Part] = []

    def _with_missing(self) -> object:
        """The extension's explanation, with missing imports marked on demand."""
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
            found.append(Blocker(path, short, evaluates, tuple(paths), *rest, *place))
        return tuple(found)

    @property
    def imports(self) -> tuple[Import, ...]:
        rows = _core.explanation_imports(self._with_missing())
        return tuple([Import(*row, missing) for row, missing in rows])

    @property
    def source(self) -> Source | None:
        source = _core.explanation_source(self._handle)
        return None if source is None else Source(*source[:2], tuple(source[2]))

    def changes(self, other: Explanation) -> tuple[Change, ...]:
        """The parts that differ in ``other``, largest first: why its payload is new.

        Parts with equal paths are compared by type, size and own bytes, and code
        without file names and line numbers.
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
        """The explanation as JSON; docs/explain.md lists the keys."""
        return _core.explanation_json(self._with_missing())

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture as one self-contained HTML file."""
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
    """A part that differs in another explanation."""

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
    """ "300000x20" of an array, a frame and the like; "" for other objects."""
    kind = type(obj)
    if kind.__module__.partition(".")[0] not in _PACKAGES_WITH_SHAPES:
        return ""
    shape = getattr(obj, "shape", None)
    if not isinstance(shape, tuple) or not shape:
        return ""
    return "x".join(str(int(length)) for length in shape)


def _has_colours() -> bool:
    is_terminal = getattr(sys.stdout, "isatty", None)
    return not os.environ.get("NO_COLOR") and is_terminal is not None and is_terminal()
