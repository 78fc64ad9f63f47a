"""Pickler and Unpickler, to be subclassed as those of pickle are."""

from __future__ import annotations

from waybill import _core
from waybill._api.configuration import option_value
from waybill._api.functions import (
    resolve_decode_options,
    resolve_encode_options,
    size_of,
    warn_of_size,
)
from waybill._modules.by_value import with_registered
from waybill._streams.files import write_all, write_chunks, writes_synchronously
from waybill._streams.incoming import IncomingPayload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

    from typing_extensions import Buffer

    from waybill._modules.by_value import ByValue


#: Hooks that a subclass of Pickler may define.
_HOOKS = "persistent_id", "reducer_override", "dispatch_table"


class Pickler:
    """Writes payloads to a file. An object in several of them is sent once.

    Subclasses may define ``persistent_id(obj)``, ``reducer_override(obj)`` and
    ``dispatch_table``, as for pickle. Options are those of ``dumps``. Not to be used by
    two threads at once.
    """

    def __init__(
        self,
        file: BinaryIO,
        protocol: int | None = None,
        *,
        by_value: ByValue | None = None,
        warn_above: int | None = None,
        **options: Any,
    ) -> None:
        try:
            self._write = file.write
        except AttributeError:
            raise TypeError("file must have a 'write' attribute") from None
        self._takes_chunks = writes_synchronously(self._write)
        self._options = resolve_encode_options(protocol, **options)
        self._by_value = option_value("by_value", by_value)
        #: The application field of the payloads from now on.
        self.application = self._options.get("application", b"")
        self._warn_above = option_value("warn_above", warn_above)
        self._has_own_limit = warn_above is not None
        #: The objects of earlier payloads; may be passed to another Pickler.
        self.memo = PicklerMemo()

    def dump(self, obj: object) -> None:
        """Writes one object. Raises EncodeError; then nothing was written.

        If ``write`` raises, the receiver may or may not have the payload, so the next
        payload does not refer to earlier ones.
        """
        try:
            write, memo = self._write, self.memo
        except AttributeError:
            from waybill._api.errors import EncodeError

            raise EncodeError(
                f"Pickler.__init__() was not called by {type(self).__name__}.__init__()"
            ) from None
        if not callable(getattr(self, "reducer_override", write)):
            raise TypeError("reducer_override is not callable")
        objects, number = memo.begin(), memo.payloads
        encoding = self._options.copy()
        for hook in _HOOKS:
            encoding[hook] = getattr(self, hook, None)
        encoding["memo"], encoding["payload"] = objects, number
        encoding["by_value"] = with_registered(self._by_value)
        encoding["application"] = self.application
        try:
            encode = _core.encode_chunks if self._takes_chunks else _core.encode
            written = encode(obj, encoding)
            if self._warn_above:
                self._check_size(written, obj, encoding)
        except BaseException:
            memo.roll_back(objects)
            raise
        if isinstance(written, list):
            write_chunks(write, written)
        else:
            write_all(write, written)
        memo.commit(number, objects is not None)

    def _check_size(
        self, written: bytes | list[Buffer], obj: object, encoding: dict[str, Any]
    ) -> None:
        size = size_of(written) if isinstance(written, list) else len(written)
        if self._warn_above and size > self._warn_above:
            # An explanation would call hooks of the program a second time, and count
            # objects of earlier payloads, to which this one only refers.
            has_hooks = any(encoding[hook] is not None for hook in _HOOKS)
            is_plain = not has_hooks and encoding["payload"] == 0
            explained = {**encoding, "memo": None} if is_plain else None
            warn_of_size(size, obj, explained, self._has_own_limit)

    def clear_memo(self) -> None:
        """Forgets the objects; the next payload does not refer to earlier ones."""
        self.memo.clear()


class PicklerMemo:
    """The number of payloads that a Pickler has written, and where each object is."""

    def __init__(self) -> None:
        self.payloads = 0
        self.objects: dict[int, tuple[int, int, object]] = {}
        #: Whether ``payloads`` may be wrong, since a payload is being written or its
        #: write failed. References by number might then name other payloads.
        self._is_uncertain = False
        self._count_before = 0

    def begin(self) -> dict[int, tuple[int, int, object]] | None:
        """Begins a payload. Returns the table in which it records its objects; None if
        the payload must not refer to earlier ones."""
        if self._is_uncertain:
            return None
        self._count_before = len(self.objects)
        self._is_uncertain = True
        return self.objects

    def roll_back(self, objects: dict[int, tuple[int, int, object]] | None) -> None:
        """Ends a payload that failed: removes the objects that it recorded."""
        if objects is None:
            return
        while len(objects) > self._count_before:
            objects.popitem()
        self._is_uncertain = False

    def commit(self, number: int, is_recorded: bool) -> None:
        """Ends a written payload; ``number`` is what ``payloads`` was at ``begin``."""
        # There are more payloads if a reducer has used the same Pickler meanwhile.
        self._is_uncertain = not is_recorded or self.payloads != number
        self.payloads += 1

    def clear(self) -> None:
        self.objects.clear()

    def copy(self) -> PicklerMemo:
        memo = PicklerMemo()
        memo.payloads = self.payloads
        memo.objects = self.objects.copy()
        memo._is_uncertain = self._is_uncertain
        return memo


#: The options that each load takes from ``waybill.configure``.
_CHOSEN_AT_LOAD = "reset_classes", "class_state"


class Unpickler:
    """Reads the payloads of a Pickler from a file, one by one.

    Subclasses may define ``persistent_load(id)`` and override ``find_class(module,
    name)``, which resolves global names; if it is overridden, it alone imports modules.
    Options are those of ``loads``, except ``copy``, and except ``reset_classes`` and
    ``class_state``, which each load takes from ``waybill.configure``. Not to be used by
    two threads at once.
    """

    def __init__(self, file: BinaryIO, **options: Any) -> None:
        # readline is not used, but pickle refuses a file without it.
        _, self._read = file.readline, file.read
        self._read_into = getattr(file, "readinto", None)
        for name in _CHOSEN_AT_LOAD:
            if name in options:
                raise TypeError(f"an Unpickler takes {name} from waybill.configure()")
        self._options = resolve_decode_options(**options)
        #: The objects of each payload so far, by position, and the costs of hashing
        #: some of them; may be passed to another Unpickler.
        self.memo: list[dict[int, object]] = []
        #: The payload that is being read.
        self._incoming = IncomingPayload(self._options["load_options"])

    def load(self) -> Any:
        """Reads one object. Raises EOFError at the end of the file, and what loads()
        raises.

        If ``read`` raises, or returns None, which raises BlockingIOError, the bytes
        read so far are kept, and the next call continues from there.
        """
        try:
            read, memo, incoming = self._read, self.memo, self._incoming
        except AttributeError:
            from waybill._api.errors import DecodeError

            raise DecodeError(
                "Unpickler.__init__() was not called by "
                f"{type(self).__name__}.__init__()"
            ) from None
        overrides = type(self).find_class is not Unpickler.find_class
        find_class = self.find_class if overrides else vars(self).get("find_class")
        data = incoming.read(read, self._read_into)
        self._incoming = IncomingPayload(self._options["load_options"])
        decoding = self._options.copy()
        decoding["persistent_load"] = getattr(self, "persistent_load", None)
        decoding["find_class"], decoding["history"] = find_class, memo
        for name in _CHOSEN_AT_LOAD:
            decoding[name] = option_value(name)
        count = len(memo)
        try:
            return _core.decode_head(data, incoming.stored, None, True, decoding)
        except BaseException:
            # The Pickler counts this payload, but its objects are incomplete here.
            memo[count : count + 1] = [{}]
            raise

    def find_class(self, module: str, name: str, /) -> Any:
        """The object of a global name: imports the module and resolves the name."""
        found: Any = __import__(module, fromlist=["*"])
        for part in name.split("."):
            found = getattr(found, part)
        return found
