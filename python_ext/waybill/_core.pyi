# The extension, python_ext/module.cpp. dumps, loads, cache_info and clear_caches are
# public, and have docstrings there; all other names are for this package alone.

from collections.abc import Callable, Iterable, Mapping
from types import CodeType
from typing import Any

from typing_extensions import Buffer

from waybill._api.configuration import Compress, MapLocation, RenameRules, Source
from waybill._api.load_options import LoadOptions
from waybill._modules.by_value import ByValue
from waybill.security import KeyRing, Limits, Policy, SigningKey

def dumps(
    obj: object,
    protocol: int | None = None,
    *,
    fix_imports: bool = True,
    buffer_callback: Callable[[Any], object] | None = None,
    by_value: ByValue | None = None,
    replace: str | Mapping[type, str] | None = None,
    key: SigningKey | None = None,
    application: Buffer | None = None,
    compress: Compress | None = None,
    warn_above: int | None = None,
    source: Source | None = None,
    environment: bool | None = None,
) -> bytes: ...
def loads(
    data: Buffer,
    *,
    copy: bool = True,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    errors: str = "strict",
    buffers: Iterable[Buffer] | None = None,
    reset_classes: bool | None = None,
    class_state: str | None = None,
    missing: str | None = None,
    map_location: MapLocation | None = None,
    renames: RenameRules | None = None,
    code: str | None = None,
    policy: Policy | None = None,
    keys: KeyRing | None = None,
    limits: Limits | None = None,
) -> Any: ...

#: Options by name, as resolve_encode_options() and resolve_decode_options() return
#: them. One that is None or missing has its default. options.h of the extension lists
#: all.
Options = dict[str, Any]

def encode(obj: object, options: Options, /) -> bytes: ...

#: Returns the payload as consecutive bytes-like objects. Large buffers are not copied,
#: and must not change until they have been written.
def encode_chunks(obj: object, options: Options, /) -> list[Buffer]: ...

class PreparedCall:
    digest: bytes
    function: Callable[..., object]
    def __new__(
        cls,
        function: Callable[..., object],
        options: Options,
        warn_above: int = ...,
        warn: Callable[[int, tuple[object, ...], dict[str, object]], None] = ...,
        /,
    ) -> PreparedCall: ...
    def dumps(self, /, *args: object, **kwargs: object) -> bytes: ...
    def refresh(self, /) -> None: ...

def decode(data: Buffer, options: Options, /) -> Any: ...

#: decode() of a head, or of a whole payload. The stored buffers are `stored`, or parts
#: of `memory`, of which arrays become views. `checks_stored` compares their digests.
def decode_head(
    data: Buffer,
    stored: list[Buffer] | None,
    memory: memoryview | None,
    checks_stored: bool,
    options: Options,
    /,
) -> Any: ...

#: (module, time, chain, function, file, line) of each import of a payload of `obj`.
def imports(
    obj: object, by_value: bool, /
) -> list[tuple[str, str, str, str, str, int]]: ...

#: The hash of an object's content, 16 bytes. `skips_blockers` leaves out objects that
#: cannot be sent, instead of raising. `names_classes` hashes the ids of classes in
#: place of their content.
def content_hash(
    obj: object, skips_blockers: bool, names_classes: bool, /
) -> bytes: ...

#: A hash that all versions of Python agree on; None if some code has no source.
def source_hash(obj: object, /) -> bytes | None: ...

#: Whether an attribute of a class is a function, or a classmethod or the like around
#: functions only; whether two of these run different code.
def is_method(attribute: object, /) -> bool: ...
def has_other_code(own: object, value: object, /) -> bool: ...

#: Whether an importable module holds a class under its name.
def is_importable(cls: type, /) -> bool: ...

#: Replaces the items of `target` by those of `source`, in their order, in one step.
def replace_items(target: dict[Any, Any], source: dict[Any, Any], /) -> None: ...

#: A new descriptor of a slot that a class was made with; None if it has no such slot.
def slot_descriptor(cls: type, name: str, /) -> Any: ...

#: Enables or disables the caches for repeated objects, and clears them.
def use_caches(are_used: bool, /) -> None: ...
def clear_caches() -> None: ...

#: The number of entries, hits and misses of each cache.
def cache_info() -> dict[str, dict[str, int]]: ...

#: The map_location of the innermost loads of this thread that has one.
def current_map_location() -> MapLocation | None: ...

#: The report of `waybill inspect --json`, as text.
def inspect(data: Buffer, /) -> str: ...

#: Untrusted text with characters that control terminals, or are invisible, escaped.
def printable_text(text: str, /) -> str: ...

#: Why this Python can run neither bytecode nor source of a payload; None if it can.
def python_mismatch(data: Buffer, /) -> str | None: ...

#: For each code body that a payload uses, the fields of its Unit, or None if it has no
#: source, and the code object of its bytecode, which is not run.
def sent_sources(head: Buffer, /) -> list[tuple[tuple[Any, ...] | None, CodeType]]: ...

#: A state for measure() of one envelope, which is read piece by piece.
def stream_length(load_options: LoadOptions | None, /) -> object: ...

#: How many bytes at least an incomplete envelope lacks; 0 if it is complete, or `loads`
#: refuses any continuation. `data` begins with the data of the previous call.
def measure(stream_length: object, data: bytearray, /) -> int: ...

#: The length of the head, once all of it was measured; 0 before.
def head_size(stream_length: object, /) -> int: ...

#: (kind, offset, length) of each stored buffer. Checks the signature and the head.
def stored_rows(
    head: Buffer, load_options: LoadOptions | None, /
) -> list[tuple[int, int, int]]: ...

#: An object for a stored buffer of this kind, and a writable view of its memory.
def new_buffer(kind: int, length: int, /) -> tuple[bytes | bytearray, memoryview]: ...

#: The address of a contiguous buffer. Valid as long as a reference to it exists.
def address_of(buffer: Buffer, /) -> int: ...

#: Advises the system to use large pages for memory that is about to be written.
def advise_large_pages(buffer: Buffer, /) -> None: ...

#: Copies bytes to memory of the same size that was not yet written.
def copy_buffer(target: Buffer, source: Buffer, /) -> None: ...

#: The parts of a mapped file. `head`: None if the file may be truncated. `memory`: the
#: whole file. `check`, when digests of its buffers are compared: 0 never, 1 before a
#: part that uses them is loaded, 2 now. Checks the signature and the head.
def open_parts(
    head: bytes | None,
    memory: memoryview,
    check: int,
    load_options: LoadOptions | None,
    /,
) -> object: ...

#: The offset of the whole payload. The functions below take this and what they return.
def root_part(file: object, /) -> int: ...

#: Type, number of items, bytes, text, and of an array dtype and shape.
def describe_part(
    file: object, offset: int, /
) -> tuple[str, int, int, str, str | None, tuple[int, ...] | None]: ...

#: The offsets of the parts of a part, by the numbers of the steps to them.
def part_steps(file: object, offset: int, /) -> list[int]: ...

#: For each step its key, and the offset of the key. The key is None unless it is a str
#: or an index. The offset is 0 unless it is a key of a dict.
def part_keys(file: object, offset: int, /) -> list[tuple[Any, int]]: ...

#: A step as text of a path.
def step_text(file: object, offset: int, number: int, /) -> str: ...

#: Whether a part has key-value pairs like a dict.
def has_keys(file: object, offset: int, /) -> bool: ...

#: The number of the step with this key, index or name, and the offset of its part.
def find_step(
    file: object, offset: int, key: str | int, /
) -> tuple[int, int] | None: ...

#: The offset of the part with this path. Raises LookupError if there is none.
def find_path(file: object, path: str, /) -> int: ...

#: Builds a part, with arrays that are views of `memory`, a mapping of the same file.
#: With `is_whole`, digests are compared; without, only if a signature is required.
def load_part(
    file: object, offset: int, memory: memoryview, is_whole: bool, options: Options, /
) -> Any: ...

# For waybill.explain(). An `explanation` is a capsule.

#: `progress` is called with objects and bytes at intervals.
def explain(
    obj: object, options: Options, progress: Callable[[int, int], object] | None, /
) -> object: ...

#: Bytes of the payload, and the number of parts that are only counted in their parents.
def explanation_total(explanation: object, /) -> tuple[int, int]: ...

#: For each part the index of its parent, and the fields of a Part; a place is file,
#: line, expression and function.
def explanation_parts(explanation: object, /) -> list[tuple[Any, ...]]: ...

#: The fields of each Blocker, and its place.
def explanation_blockers(explanation: object, /) -> list[tuple[Any, ...]]: ...

#: The fields of each ImportRecord, and whether the module is missing.
def explanation_imports(
    explanation: object, /
) -> list[tuple[tuple[str, str, str, str, str, int], bool]]: ...

#: Bytes of source, the number of functions with source, and name, file and line of
#: those without; None if no source is sent and none was requested.
def explanation_source(
    explanation: object, /
) -> tuple[int, int, list[tuple[str, str, int]]] | None: ...

#: Marks imports of these modules as missing, and all others as present.
def mark_missing(explanation: object, modules: set[str], /) -> None: ...
def explanation_text(
    explanation: object, top: int, columns: int, colours: bool, /
) -> str: ...
def explanation_json(explanation: object, /) -> str: ...

#: The significant parts, by their numbers, with bytes of each; no byte counts twice.
def explanation_largest(
    explanation: object, max_count: int, /
) -> list[tuple[int, int]]: ...
def size_text(size: int, /) -> str: ...
def explanation_html(explanation: object, title: str, /) -> str: ...

#: The default and the strict limits, as fields of Limits; None: unlimited.
LIMITS: tuple[int | None, ...]
STRICT_LIMITS: tuple[int | None, ...]
#: The rules of the preset of this name.
STANDARD_TYPES: str

#: A handle of a policy. Raises ValueError for invalid text.
def policy(rules: str, /) -> object: ...

#: A sentence for each rule that denies a name which a later rule allows by a wildcard.
def policy_warnings(policy: object, /) -> list[str]: ...

#: Whether a policy allows a request, and the rule that decided.
def ask(
    policy: object, request: str, module: str, name: str, /
) -> tuple[bool, str | None]: ...

#: Applies these options to all later loads, too.
def restrict_process(load_options: LoadOptions, /) -> None: ...

#: The number of calls of restrict_process() in this process, from Python and C++.
def restrictions() -> int: ...

# For waybill.security. A `key` or `ring` is a capsule; `source` is "text", "file" or
# "environment". All but generate_key() and key_ring() may raise SignatureError.

def generate_key(algorithm: str, /) -> object: ...
def read_key(source: str, value: str | bytes, /) -> object: ...

#: Algorithm and id.
def describe_key(key: object, /) -> tuple[str, str]: ...
def public_text(key: object, /) -> str: ...
def save_key(key: object, path: bytes, /) -> None: ...
def key_ring() -> object: ...
def add_keys(ring: object, source: str, value: str | bytes, /) -> None: ...
def add_key(ring: object, key: object, /) -> None: ...
def key_ids(ring: object, /) -> list[str]: ...
def sign(data: Buffer, key: object, /) -> bytes: ...
def with_application(data: Buffer, application: Buffer, /) -> bytes: ...
def verify(data: Buffer, ring: object, /) -> None: ...

#: The application field; None if there is none. A ring checks the signature.
def application(data: Buffer, ring: object | None, /) -> bytes | None: ...
