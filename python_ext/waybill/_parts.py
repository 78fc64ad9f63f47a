"""Parts of a file: what stands where, told without building it, and one by one.

Tested by tests/python/api/test_open.py.
"""

from __future__ import annotations

import io
import os

from waybill import _core
from waybill._face import decode_options, head_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Literal, Self

    _About = tuple[str, int, int, str, str | None, tuple[int, ...] | None]
    _Step = tuple[str, Any, int, int]

#: When the digests of stored buffers are compared, as the extension counts them.
_CHECKS = {"never": 0, "lazy": 1, "now": 2}


def open(
    path: str | os.PathLike[str],
    *,
    mmap: Literal[True, "copy"] = True,
    check: Literal["lazy", "now", "never"] = "lazy",
    **options: Any,
) -> File:
    """Opens a file that ``save`` or ``dump`` wrote, to read parts of it.

    >>> import waybill
    >>> with waybill.open("run.waybill") as file:  # doctest: +SKIP
    ...     file["model"]["layer1.weight"].shape
    ...     file["model"]["layer1.weight"][:10]

    The file is mapped: its head is read and verified, and nothing is built or imported
    before a part is asked for. Arrays are views of the file. With ``mmap=True`` they
    are read-only; with ``"copy"`` they can be written to, and what is written stays in
    this process. The file must not be cut or overwritten as long as one of them lives.

    ``check`` tells when the digest of a large buffer is compared: ``"lazy"``, before
    the first part that uses it is built; ``"now"``, which reads all of the file;
    ``"never"``.

    Options are those of ``load``. A signature is checked at once. Policy and limits are
    about the parts that are built; of the file, only ``max_values``, ``max_depth``, and
    for its head ``max_bytes``. Raises OSError, and DecodeError for what is no payload.
    """
    import mmap as mapping

    if mmap is not True and mmap != "copy":
        raise ValueError("mmap must be True or 'copy'")
    if check not in _CHECKS:
        raise ValueError("check must be 'lazy', 'now' or 'never'")
    decoding = decode_options(**options)
    access = mapping.ACCESS_READ if mmap is True else mapping.ACCESS_COPY
    with io.FileIO(path) as file:
        if os.fstat(file.fileno()).st_size == 0:
            memory = memoryview(b"")  # The extension has an error for that.
        else:
            memory = memoryview(mapping.mmap(file.fileno(), 0, access=access))
    return File(_Source(memory, check, decoding), os.fspath(path))


class _Source:
    """An open file, which its parts share."""

    __slots__ = ("_handle", "_options", "checks_slices")

    def __init__(
        self, memory: memoryview, check: str, options: tuple[Any, ...]
    ) -> None:
        load_options = options[-1]
        head = bytes(head_of(memory))
        self._handle = _core.open_parts(head, memory, _CHECKS[check], load_options)
        self._options = options
        #: Who demands a signature wants no byte that it does not cover.
        self.checks_slices = load_options is not None and load_options[1] is not None

    @property
    def handle(self) -> object:
        if self._handle is None:
            raise ValueError("the file is closed")
        return self._handle

    def close(self) -> None:
        self._handle = None

    def build(self, offset: int, checks: bool) -> Any:
        return _core.load_part(self.handle, offset, checks, *self._options)


class Part:
    """A value in a file. Nothing of it is built before ``load()``, or a slice of it.

    ``part[key]`` is the part under that key of a dict, place of a list or tuple, or
    name of an object's attribute. Of an array it is what ``array[key]`` is, and no more
    than that is read.
    """

    __slots__ = ("_about", "_offset", "_source", "path")

    def __init__(self, source: _Source, offset: int, path: str) -> None:
        self._source = source
        self._offset = offset
        self._about: _About | None = None
        #: The steps from the payload to here, as Python writes them: "['m'].layers[0]".
        self.path = path

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
        return [self._key_of(step) for step in self._steps()]

    def parts(self) -> Iterator[Part]:
        """What is in it, in the order of ``keys()``."""
        for step in self._steps():
            yield self._at(step)

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

        Raises LookupError, which tells how far the path leads.
        """
        offset = _core.find_path(self._source.handle, path)
        return Part(self._source, offset, path)

    def __getitem__(self, key: Any) -> Any:
        if self.shape is not None:
            return self._source.build(self._offset, self._source.checks_slices)[key]
        is_index = isinstance(key, int)
        if is_index and key < 0 and not self._has_keys():
            key += len(self)
        if isinstance(key, str) or (is_index and key >= 0):
            step = _core.find_step(self._source.handle, self._offset, key)
            if step is not None:
                return self._at(step)
        for step in self._steps():
            if step[2] and step[1] is None and self._key_of(step) == key:
                return self._at(step)
        if is_index and not self._has_keys():
            raise IndexError(f"{self!r} has {len(self)} items")
        raise KeyError(key)

    # Python would count up from 0 otherwise, which dicts do not mean.
    __iter__ = None

    def __contains__(self, key: object) -> bool:
        if self.shape is not None:
            raise TypeError("load() the array first")
        try:
            self[key]
        except LookupError:
            return False
        return True

    def __repr__(self) -> str:
        shape = "" if self.shape is None else f" {self.dtype} {self.shape}"
        return f"<waybill part {self.path or '(all)'}: {self.type}{shape}>"

    def _steps(self) -> list[_Step]:
        return _core.part_steps(self._source.handle, self._offset)

    def _has_keys(self) -> bool:
        """Whether it is a dict, or has pairs as one."""
        return any(step[2] for step in self._steps())

    def _at(self, step: _Step) -> Part:
        return Part(self._source, step[3], self.path + step[0])

    def _key_of(self, step: _Step) -> Any:
        _, key, key_offset, _ = step
        if key is None and key_offset:
            return self._source.build(key_offset, True)
        return key


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
        if self._source._handle is None:
            return f"<waybill file {self.name!r}, closed>"
        return f"<waybill file {self.name!r}: {self.type} of {len(self)}>"
