"""Parts of a file: what stands where, told without building it, and one by one.

Tested by tests/python/api/test_open.py.
"""

from __future__ import annotations

import io
import os

from waybill import _core
from waybill._api.functions import decode_options, head_of
from waybill._streams.files import mapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Literal, Self

    _About = tuple[str, int, int, str, str | None, tuple[int, ...] | None]

#: When the digests of stored buffers are compared, as the extension counts them.
_CHECKS = {"never": 0, "lazy": 1, "now": 2}


def open(
    path: str | os.PathLike[str],
    *,
    mmap: Literal[True, "copy"] = True,
    check: Literal["lazy", "now", "never"] = "lazy",
    damaged: bool = False,
    **options: Any,
) -> File:
    """Opens a file that ``save`` or ``dump`` wrote, to read parts of it.

    >>> import waybill
    >>> with waybill.open("run.waybill") as file:  # doctest: +SKIP
    ...     file["model"]["layer1.weight"].shape
    ...     file["model"]["layer1.weight"][:10]

    The file is mapped: its head is read and verified, and nothing is built or imported
    before a part is asked for. Arrays are views of the file. With ``mmap=True`` they
    are read-only; with ``"copy"`` they can be written to: each ``load()`` has a copy of
    its own, of the pages that it writes to. The file must not be cut or overwritten as
    long as one of them lives.

    ``check`` tells when the digest of a large buffer is compared: ``"lazy"``, before
    the first part that uses it is built; ``"now"``, which reads all of the file;
    ``"never"``.

    ``damaged=True`` opens a file that was cut behind its head, too: parts load that use
    no buffer which is missing. ``waybill salvage`` tells which these are.

    Options are those of ``load``. A signature is checked at once. Policy and limits are
    about the parts that are built; of the file, only ``max_values``, ``max_depth``, and
    for its head ``max_bytes``. Raises OSError, and DecodeError for what is no payload.
    """
    if mmap is not True and mmap != "copy":
        raise ValueError("mmap must be True or 'copy'")
    if check not in _CHECKS:
        raise ValueError("check must be 'lazy', 'now' or 'never'")
    if "buffers" in options:
        raise TypeError("open() takes no buffers: they are in the file")
    name = os.fspath(path)
    file = io.FileIO(name)
    try:
        source = _Source(file, mmap == "copy", check, damaged, options)
    except BaseException:
        file.close()
        raise
    return File(source, name)


class _Source:
    """An open file, which its parts share."""

    __slots__ = ("_file", "_handle", "_memory", "_options")

    def __init__(
        self,
        file: io.FileIO,
        copies: bool,
        check: str,
        damaged: bool,
        given: dict[str, Any],
    ) -> None:
        self._memory = mapped(file, False)
        options = decode_options(self._memory, **given)
        self._file = file if copies else None
        if not copies:
            file.close()
        # The size of the head stands at the end of the file, if that is there.
        head = None if damaged else bytes(head_of(self._memory))
        self._handle = _core.open_parts(head, self._memory, _CHECKS[check], options[-1])
        self._options = options

    @property
    def handle(self) -> object:
        if self._handle is None:
            raise ValueError("the file is closed")
        return self._handle

    @property
    def is_closed(self) -> bool:
        return self._handle is None

    def close(self) -> None:
        self._handle = None
        self._memory = memoryview(b"")
        if self._file is not None:
            self._file.close()

    def build(self, offset: int, is_whole: bool) -> Any:
        handle = self.handle
        # Digests are those of the file, whatever was written to other copies of it.
        memory = self._memory if self._file is None else mapped(self._file, True)
        return _core.load_part(handle, offset, memory, is_whole, self._options)


class Part:
    """A value in a file. Nothing of it is built before ``load()``, or a slice of it.

    ``part[key]`` is the part under that key of a dict, place of a list or tuple, or
    name of an object's attribute. Of an array it is what ``array[key]`` is, and no more
    than that is read.
    """

    __slots__ = ("_about", "_around", "_number", "_offset", "_others", "_source")

    def __init__(
        self, source: _Source, offset: int, around: Part | str, number: int = 0
    ) -> None:
        self._source = source
        self._offset = offset
        #: What it was reached from, and by which of its steps; or its path.
        self._around = around
        self._number = number
        self._about: _About | None = None
        self._others: dict[Any, tuple[int, int]] | None = None

    @property
    def path(self) -> str:
        """The steps from the payload to here, as Python writes them:
        "['model'].layers[0]"."""
        steps = []
        part: Part | str = self
        while isinstance(part, Part):
            around = part._around
            if isinstance(around, Part):
                steps.append(
                    _core.step_text(part._source.handle, around._offset, part._number)
                )
            part = around
        return part + "".join(reversed(steps))

    @property
    def _told(self) -> _About:
        if self._about is None:
            self._about = _core.describe_part(self._source.handle, self._offset)
        return self._about

    @property
    def type(self) -> str:
        """The name of its class, or of what makes it."""
        return self._told[0]

    @property
    def nbytes(self) -> int:
        """How much of the file it takes, in bytes."""
        return self._told[2]

    @property
    def text(self) -> str:
        """A number, text or other leaf as Python would write it, cut; else empty."""
        return self._told[3]

    @property
    def dtype(self) -> str | None:
        """Of an array or tensor, the name of its dtype: "float64". Else None."""
        return self._told[4]

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Of an array or tensor. Else None."""
        return self._told[5]

    def __len__(self) -> int:
        """How many items or attributes it has; of an array, rows."""
        if self.shape:
            return self.shape[0]
        return self._told[1]

    def load(self) -> Any:
        """The object: as ``loads`` would have built it if nothing else had been sent.

        What it shares with other parts is its own: two calls give two objects. A part
        with functions or classes by value in it, or that refers to what is around it,
        cannot be told apart; then all of the payload is built, and the part is taken
        from that. Raises what ``loads`` raises.
        """
        return self._source.build(self._offset, True)

    def keys(self) -> list[Any]:
        """What ``part[…]`` takes: keys, places, names of attributes; in their order."""
        made: dict[int, Any] = {}
        keys = []
        for key, key_offset in _core.part_keys(self._source.handle, self._offset):
            if key is None and key_offset:
                if key_offset not in made:
                    made[key_offset] = self._source.build(key_offset, True)
                key = made[key_offset]
            keys.append(key)
        return keys

    def parts(self) -> Iterator[Part]:
        """What is in it, in the order of ``keys()``."""
        steps = _core.part_steps(self._source.handle, self._offset)
        for number, offset in enumerate(steps):
            yield Part(self._source, offset, self, number)

    def walk(self) -> Iterator[Part]:
        """All that is below it, each before what is in it.

        What can be reached in several ways is looked into once.
        """
        seen = {self._offset}
        open_parts = [self.parts()]
        while open_parts:
            part = next(open_parts[-1], None)
            if part is None:
                open_parts.pop()
                continue
            yield part
            if part._offset not in seen:
                seen.add(part._offset)
                open_parts.append(part.parts())

    def find(self, path: str) -> Part:
        """The part with this path, counted from the whole payload.

        Raises LookupError, which tells how far the path leads. Cost: by what the parts
        on the way hold.
        """
        offset = _core.find_path(self._source.handle, path)
        return Part(self._source, offset, path)

    def __getitem__(self, key: Any) -> Any:
        if self.shape is not None:
            return self._source.build(self._offset, False)[key]
        found = self._step_of(key)
        if found is not None:
            return Part(self._source, found[1], self, found[0])
        if isinstance(key, int) and not self._has_keys:
            raise IndexError(f"{self!r} has {len(self)} items")
        raise KeyError(key)

    # Python would count up from 0 otherwise, which dicts do not mean.
    __iter__ = None

    def __contains__(self, key: object) -> bool:
        if self.shape is not None:
            raise TypeError("load() the array first")
        return self._step_of(key) is not None

    def __repr__(self) -> str:
        shape = "" if self.shape is None else f" {self.dtype} {self.shape}"
        return f"<waybill part {self.path or '(all)'}: {self.type}{shape}>"

    def _step_of(self, key: Any) -> tuple[int, int] | None:
        """The number of a step, and where it leads."""
        handle = self._source.handle
        if isinstance(key, str):
            found = _core.find_step(handle, self._offset, key)
            if found is not None:
                return found
        if self._has_keys:
            found = self._built_keys().get(key)
            if found is not None:
                return found
        if isinstance(key, int):
            if key < 0 and not self._has_keys:
                key += len(self)
            if 0 <= key < 1 << 62:
                return _core.find_step(handle, self._offset, int(key))
        return None

    @property
    def _has_keys(self) -> bool:
        """Whether it is a dict, or has pairs as one."""
        return _core.has_keys(self._source.handle, self._offset)

    def _built_keys(self) -> dict[Any, tuple[int, int]]:
        """Where keys lead that are no text. Built once; without those that cannot be:
        they are equal to nothing that somebody has."""
        if self._others is None:
            others: dict[Any, tuple[int, int]] = {}
            offsets = _core.part_steps(self._source.handle, self._offset)
            keys = _core.part_keys(self._source.handle, self._offset)
            for number, (key, key_offset) in enumerate(keys):
                if key is None and key_offset:
                    try:
                        made = self._source.build(key_offset, True)
                        others[made] = (number, offsets[number])
                    except MemoryError:
                        raise
                    except Exception:
                        continue
            self._others = others
        return self._others


class File(Part):
    """A file that ``waybill.open`` opened: the part that is all of its payload.

    ``close()`` ends it, and so does leaving a ``with`` block. What was loaded stays,
    and keeps the file mapped as long as it needs that.
    """

    __slots__ = ("name",)

    def __init__(self, source: _Source, name: str) -> None:
        super().__init__(source, _core.root_part(source.handle), "")
        #: The path that it was opened with.
        self.name = name

    def close(self) -> None:
        """Lets go of the file. Parts that were not loaded cannot be, any more."""
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._source.is_closed:
            return f"<waybill file {self.name!r}, closed>"
        return f"<waybill file {self.name!r}: {self.type} of {len(self)}>"
