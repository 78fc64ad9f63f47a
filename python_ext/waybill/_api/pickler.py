"""Pickler and Unpickler, to be subclassed as those of pickle are."""

from __future__ import annotations

from waybill import _core
from waybill._api.configuration import chosen
from waybill._api.functions import decode_options, encode_options, size_of, warn_of_size
from waybill._modules.by_value import with_registered
from waybill._streams.files import takes_at_once, write_all, write_chunks
from waybill._streams.incoming import IncomingPayload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

    from typing_extensions import Buffer

    from waybill._core import EncodeOptions
    from waybill._modules.by_value import ByValue


class Pickler:
    """Writes payloads to a file; objects that several of them hold stay one.

    Subclasses may define ``persistent_id(obj)``, ``reducer_override(obj)`` and
    ``dispatch_table``, which mean what they mean in pickle. Options are those of
    ``dumps``. Not to be used by two threads at once.
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
        encoding = encode_options(protocol, **options)
        self._buffer_callback = encoding[3]
        self._by_value = chosen("by_value", by_value)
        #: What goes into the header of the payloads from now on.
        self.application = encoding[7]
        self._others = encoding[8:]
        self._warn_above = chosen("warn_above", warn_above)
        self._is_asked_to_warn = warn_above is not None
        #: What earlier payloads hold; may be handed to another Pickler.
        self.memo = PicklerMemo()

    def dump(self, obj: object) -> None:
        """Writes one object. Raises EncodeError; then nothing was written.

        If ``write`` raises, nobody knows what has arrived: what is dumped after that
        refers to nothing that came before.
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
        at_once = takes_at_once(write)
        encoding: EncodeOptions = (
            getattr(self, "persistent_id", None),
            getattr(self, "reducer_override", None),
            getattr(self, "dispatch_table", None),
            self._buffer_callback,
            objects,
            number,
            with_registered(self._by_value),
            self.application,
            *self._others,
        )
        try:
            encode = _core.encode_chunks if at_once else _core.encode
            written = encode(obj, encoding)
            if self._warn_above:
                self._check_size(written, obj, encoding)
        except BaseException:
            memo.give_up(objects)
            raise
        if isinstance(written, list):
            write_chunks(write, written)
        else:
            write_all(write, written)
        memo.arrived(number, objects is not None)

    def _check_size(
        self, written: bytes | list[Buffer], obj: object, encoding: EncodeOptions
    ) -> None:
        size = size_of(written) if isinstance(written, list) else len(written)
        if self._warn_above and size > self._warn_above:
            # Hooks are called once for each object. What refers to earlier payloads is
            # smaller than an explanation would have it.
            is_plain = encoding[:3] == (None,) * 3 and encoding[5] == 0
            explained = (*encoding[:4], None, *encoding[5:]) if is_plain else None
            warn_of_size(size, obj, explained, self._is_asked_to_warn)

    def clear_memo(self) -> None:
        """Forgets what was written; the next payload stands by itself."""
        self.memo.clear()


class PicklerMemo:
    """What a Pickler has written: how many payloads, and which objects are where."""

    def __init__(self) -> None:
        self.payloads = 0
        self.objects: dict[int, tuple[int, int, object]] = {}
        #: Whether ``payloads`` may be wrong: one is being written, or failed on its
        #: way. What names earlier payloads by number would then name others.
        self._is_in_doubt = False
        self._noted = 0

    def begin(self) -> dict[int, tuple[int, int, object]] | None:
        """Where a payload notes its objects; None if it has to stand by itself."""
        if self._is_in_doubt:
            return None
        self._noted = len(self.objects)
        self._is_in_doubt = True
        return self.objects

    def give_up(self, objects: dict[int, tuple[int, int, object]] | None) -> None:
        """The payload was not made, but may have begun to note objects."""
        if objects is None:
            return
        while len(objects) > self._noted:
            objects.popitem()
        self._is_in_doubt = False

    def arrived(self, number: int, is_noted: bool) -> None:
        """The payload was written; it was made when there were ``number`` others."""
        # There are more if a reducer has used the same Pickler meanwhile.
        self._is_in_doubt = not is_noted or self.payloads != number
        self.payloads += 1

    def clear(self) -> None:
        self.objects.clear()

    def copy(self) -> PicklerMemo:
        memo = PicklerMemo()
        memo.payloads = self.payloads
        memo.objects = self.objects.copy()
        memo._is_in_doubt = self._is_in_doubt
        return memo


class Unpickler:
    """Reads the payloads of a Pickler from a file, one by one.

    Subclasses may define ``persistent_load(id)`` and override
    ``find_class(module, name)``, which decides what a global name means; where it is
    overridden, modules are imported as it sees fit, and not before. Options are those
    of ``loads``, but ``copy``, and what each load takes from ``waybill.configure``:
    ``reset_classes`` and ``class_state``. Not to be used by two threads at once.
    """

    def __init__(self, file: BinaryIO, **options: Any) -> None:
        # The first is not needed; who has it not has no file that pickle takes.
        _, self._read = file.readline, file.read
        self._read_into = getattr(file, "readinto", None)
        for name in ("reset_classes", "class_state"):
            if name in options:
                raise TypeError(f"an Unpickler takes {name} from waybill.configure()")
        self._options = decode_options(**options)
        #: Objects of the payloads so far, by position, and notes on some of them; may
        #: be handed to another Unpickler.
        self.memo: list[dict[int, object]] = []
        #: The payload that is being read.
        self._arriving = IncomingPayload(self._options[-1])

    def load(self) -> Any:
        """Reads one object. Raises EOFError at the end of the file, and what loads()
        raises.

        If ``read`` raises, or has nothing yet, which is a BlockingIOError, what it gave
        before is kept, and the next call goes on from there.
        """
        try:
            read, memo, arriving = self._read, self.memo, self._arriving
        except AttributeError:
            from waybill._api.errors import DecodeError

            raise DecodeError(
                "Unpickler.__init__() was not called by "
                f"{type(self).__name__}.__init__()"
            ) from None
        overrides = type(self).find_class is not Unpickler.find_class
        find_class = self.find_class if overrides else vars(self).get("find_class")
        data = arriving.read(read, self._read_into)
        self._arriving = IncomingPayload(self._options[-1])
        decoding = (
            getattr(self, "persistent_load", None),
            find_class,
            self._options[2],
            memo,
            bool(chosen("reset_classes")),
            chosen("class_state"),
            *self._options[6:],
        )
        count = len(memo)
        try:
            return _core.decode_head(data, arriving.stored, None, True, decoding)
        except BaseException:
            # It counts for who wrote it, but what it built is not complete.
            memo[count : count + 1] = [{}]
            raise

    def find_class(self, module: str, name: str, /) -> Any:
        """What a global name means: imports the module and follows the name."""
        found: Any = __import__(module, fromlist=["*"])
        for part in name.split("."):
            found = getattr(found, part)
        return found
