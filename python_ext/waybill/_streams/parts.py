"""Parts of a file: described without building them, and loaded one by one. Tested by
tests/python/api/test_open.py."""

from __future__ import annotations

import io
import os

from waybill import _core
from waybill._api.functions import head_of, resolve_decode_options
from waybill._streams.files import map_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Literal, Self

    _Description = tuple[str, int, int, str, str | None, tuple[int, ...] | None]

#: When the digests of stored buffers are compared, as numbers of the extension.
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
    until a part is loaded. Arrays are views of the file. With ``mmap=True`` they are
    read-only; with ``"copy"`` they are writable, and each ``load()`` has its own copy
    of the pages that are written. The file must not be truncated or overwritten as long
    as one of these arrays lives.

    ``check`` says when the digest of a large buffer is compared: ``"lazy"``, before it
    is used for the first time; ``"now"``, which reads the whole file; ``"never"``.

    ``damaged=True`` also opens a file that was truncated after its head: parts can be
    loaded unless one of their buffers is missing. ``waybill salvage`` lists them.

    Options are those of ``load``. A signature is checked at once. The policy and limits
    apply to the parts that are built; only ``max_values``, ``max_depth`` and, for the
    head, ``max_bytes`` apply to the file as a whole. Raises OSError, and DecodeError
    for a file that is not a payload.
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
        opened = _OpenFile(file, mmap == "copy", check, damaged, options)
    except BaseException:
        file.close()
        raise
    return File(opened, name)


class _OpenFile:
    """A mapped file, shared by all of its parts."""

    __slots__ = ("_file", "_handle", "_memory", "_options")

    def __init__(
        self,
        file: io.FileIO,
        copies: bool,
        check: str,
        damaged: bool,
        given: dict[str, Any],
    ) -> None:
        self._memory = map_file(file, False)
        options = resolve_decode_options(self._memory, **given)
        self._file = file if copies else None
        if not copies:
            file.close()
        # The end of the file holds the size of the head, but is missing if truncated.
        head = None if damaged else bytes(head_of(self._memory))
        self._handle = _core.open_parts(
            head, self._memory, _CHECKS[check], options["load_options"]
        )
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
        # A new mapping for each load: digests must not see writes to an earlier copy.
        memory = self._memory if self._file is None else map_file(self._file, True)
        return _core.load_part(handle, offset, memory, is_whole, self._options)


class Part:
    """A value in a file. Nothing of it is built before ``load()``, or before a
    subscript of an array.

    ``part[key]`` is the part at that key of a dict, index of a list or tuple, or name
    of an attribute. For an array it is ``array[key]``, and only that is read.
    """

    __slots__ = ("_cached", "_key_steps", "_offset", "_opened", "_parent", "_step")

    def __init__(
        self, opened: _OpenFile, offset: int, parent: Part | str, step: int = 0
    ) -> None:
        self._opened = opened
        self._offset = offset
        #: The part that contains this one; or the path of this part.
        self._parent = parent
        #: The index of this part among the steps of the parent.
        self._step = step
        self._cached: _Description | None = None
        self._key_steps: dict[Any, tuple[int, int]] | None = None

    @property
    def path(self) -> str:
        """The path in the payload, as a Python expression: "['model'].layers[0]"."""
        steps, part, opened = [], self, self._opened
        while isinstance(parent := part._parent, Part):
            steps.append(_core.step_text(opened.handle, parent._offset, part._step))
            part = parent
        return parent + "".join(reversed(steps))

    @property
    def _description(self) -> _Description:
        if self._cached is None:
            self._cached = _core.describe_part(self._opened.handle, self._offset)
        return self._cached

    @property
    def type(self) -> str:
        """The name of its class, or of the callable that makes it."""
        return self._description[0]

    @property
    def nbytes(self) -> int:
        """Its size in the file, in bytes."""
        return self._description[2]

    @property
    def text(self) -> str:
        """The shortened ``repr`` of a number, text or other leaf; else empty."""
        return self._description[3]

    @property
    def dtype(self) -> str | None:
        """The name of the dtype of an array or tensor: "float64"; else None."""
        return self._description[4]

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of an array or tensor; else None."""
        return self._description[5]

    def __len__(self) -> int:
        """The number of items or attributes; of rows for an array."""
        if self.shape:
            return self.shape[0]
        return self._description[1]

    def load(self) -> Any:
        """Builds the object as if it alone had been sent.

        Each call returns a new object, which shares nothing with other parts. A part
        that contains functions or classes by value, or refers to objects outside of
        it, cannot be built alone: the whole payload is built, and the part is taken
        from it. Raises what ``loads`` raises.
        """
        return self._opened.build(self._offset, True)

    def keys(self) -> list[Any]:
        """The keys of ``part[…]`` in order: dict keys, indices or attribute names."""
        built: dict[int, Any] = {}
        keys = []
        for key, key_offset in _core.part_keys(self._opened.handle, self._offset):
            if key is None and key_offset:
                if key_offset not in built:
                    built[key_offset] = self._opened.build(key_offset, True)
                key = built[key_offset]
            keys.append(key)
        return keys

    def parts(self) -> Iterator[Part]:
        """The parts directly in it, in the order of ``keys()``."""
        steps = _core.part_steps(self._opened.handle, self._offset)
        for number, offset in enumerate(steps):
            yield Part(self._opened, offset, self, number)

    def walk(self) -> Iterator[Part]:
        """All parts below it, parents first.

        The content of a part that is reached by several paths is listed once.
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
        """The part with this path, which begins at the whole payload.

        Raises LookupError, which says up to where the path exists. The cost grows with
        the number of items in the parts along the path.
        """
        offset = _core.find_path(self._opened.handle, path)
        return Part(self._opened, offset, path)

    def __getitem__(self, key: Any) -> Any:
        if self.shape is not None:
            return self._opened.build(self._offset, False)[key]
        found = self._step_of(key)
        if found is not None:
            return Part(self._opened, found[1], self, found[0])
        if isinstance(key, int) and not self._has_keys:
            raise IndexError(f"{self!r} has {len(self)} items")
        raise KeyError(key)

    # Without this, Python would iterate by index from 0, which is wrong for dicts.
    __iter__ = None

    def __contains__(self, key: object) -> bool:
        if self.shape is not None:
            raise TypeError("an array cannot be searched in the file; load() it first")
        return self._step_of(key) is not None

    def __repr__(self) -> str:
        shape = "" if self.shape is None else f" {self.dtype} {self.shape}"
        return f"<waybill part {self.path or '(all)'}: {self.type}{shape}>"

    def _step_of(self, key: Any) -> tuple[int, int] | None:
        """The number of the step with this key, and the offset of its part."""
        handle = self._opened.handle
        if isinstance(key, str):
            found = _core.find_step(handle, self._offset, key)
            if found is not None:
                return found
        if self._has_keys:
            found = self._steps_by_key().get(key)
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
        """Whether it is a dict, or has key-value pairs like one."""
        return _core.has_keys(self._opened.handle, self._offset)

    def _steps_by_key(self) -> dict[Any, tuple[int, int]]:
        """The steps whose keys are neither strings nor indices. Keys are built once;
        one that cannot be built is left out: no key of the caller is equal to it."""
        if self._key_steps is None:
            found: dict[Any, tuple[int, int]] = {}
            offsets = _core.part_steps(self._opened.handle, self._offset)
            keys = _core.part_keys(self._opened.handle, self._offset)
            for number, (key, key_offset) in enumerate(keys):
                if key is None and key_offset:
                    try:
                        built = self._opened.build(key_offset, True)
                        found[built] = (number, offsets[number])
                    except MemoryError:
                        raise
                    except Exception:
                        continue
            self._key_steps = found
        return self._key_steps


class File(Part):
    """A file opened by ``waybill.open``; as a part, it is the whole payload.

    A context manager that closes the file. Loaded objects stay valid, and keep the file
    mapped as long as they need it.
    """

    __slots__ = ("name",)

    def __init__(self, opened: _OpenFile, name: str) -> None:
        super().__init__(opened, _core.root_part(opened.handle), "")
        #: The path given to ``waybill.open``.
        self.name = name

    def close(self) -> None:
        """Closes the file. Its parts can no longer be loaded."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._opened.is_closed:
            return f"<waybill file {self.name!r}, closed>"
        return f"<waybill file {self.name!r}: {self.type} of {len(self)}>"
