# The extension, python_ext/module.cpp. All of it is for the other files of this
# package; dumps and loads, whose docstrings tell the options, are what it exports.

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

from typing_extensions import Buffer

from waybill._api.configuration import Compress, MapLocation, RenameRules, Source
from waybill._api.load_options import LoadOptions
from waybill._environment.renames import Renames
from waybill._kinds.opaque import Payload
from waybill._modules.by_value import ByValue
from waybill.security import KeyRing, Limits, Policy, SigningKey

#: What tells Python's version and implementation, the platform, and the distributions
#: that modules of these names belong to: environment_of of distributions.py.
EnvironmentTeller = Callable[
    [list[str]], tuple[str, str, str, list[tuple[str, str, list[str]]]]
]

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

#: What encoding takes besides the object, as encode_options() gives it.
EncodeOptions = tuple[
    # The hooks of a Pickler: persistent_id, reducer_override, dispatch_table,
    # buffer_callback.
    Callable[[Any], Any] | None,
    Callable[[Any], Any] | None,
    Mapping[type, Callable[[Any], Any]] | None,
    Callable[[Any], object] | None,
    # What a PicklerMemo has: objects, and how many payloads.
    dict[int, tuple[int, int, object]] | None,
    int,
    # Names of modules by value; the application field.
    set[str] | None,
    Buffer,
    # Replacements; the handle of a SigningKey.
    Callable[[object], tuple[str, Any] | None] | None,
    object,
    # The level of zstd, 0 for none. Source: 0 for none, 1 where it is proven, 2 to
    # demand it.
    int,
    int,
    EnvironmentTeller | None,
]

#: What decoding takes besides the data, as decode_options() gives it.
DecodeOptions = tuple[
    # The hooks of an Unpickler: persistent_load, find_class.
    Callable[[Any], Any] | None,
    Callable[[str, str], Any] | None,
    # Buffers out of band; what gets the objects of this payload.
    Iterator[Buffer] | None,
    list[dict[int, object]] | None,
    # reset_classes, class_state, and whether modules that are missing are left out.
    bool,
    str | None,
    bool,
    MapLocation | None,
    Renames | None,
    # What makes the stand-ins of code="opaque".
    Payload | None,
    LoadOptions | None,
]

def encode(obj: object, options: EncodeOptions, /) -> bytes: ...

#: The same as bytes-like objects whose bytes one after the other are the payload.
#: Large buffers are not copied, and must not change until they have been written.
def encode_chunks(obj: object, options: EncodeOptions, /) -> list[Buffer]: ...

class PreparedCall:
    digest: bytes
    function: Callable[..., object]
    def __new__(
        cls,
        function: Callable[..., object],
        options: EncodeOptions,
        warn_above: int = ...,
        warn: Callable[[int, tuple[object, ...], dict[str, object]], None] = ...,
        /,
    ) -> PreparedCall: ...
    def dumps(self, /, *args: object, **kwargs: object) -> bytes: ...
    def refresh(self, /) -> None: ...

def decode(data: Buffer, options: DecodeOptions, /) -> Any: ...

#: decode(), where `data` is the head, or the whole payload, and the stored buffers are
#: `stored`, or parts of `memory`, which arrays become views of. With `checks_stored`,
#: their digests are compared.
def decode_head(
    data: Buffer,
    stored: list[Buffer] | None,
    memory: memoryview | None,
    checks_stored: bool,
    options: DecodeOptions,
    /,
) -> Any: ...

#: (module, time, chain, function, file, line) of each import of a payload of `obj`.
def imports(
    obj: object, by_value: bool, /
) -> list[tuple[str, str, str, str, str, int]]: ...

#: The hash of an object's content, 16 bytes. With `passes_over`, what cannot travel is
#: left out and no error. With `names_classes`, classes by value count as their ids.
def content_hash(obj: object, passes_over: bool, names_classes: bool, /) -> bytes: ...

#: What all versions of Python agree on; None where code has no source.
def source_hash(obj: object, /) -> bytes | None: ...

#: Whether an attribute of a class is a function, or a classmethod and the like around
#: functions alone; whether two of these run different code.
def is_method(attribute: object, /) -> bool: ...
def has_other_code(own: object, value: object, /) -> bool: ...

#: Whether a module that can be imported holds a class under its name.
def is_importable(cls: type, /) -> bool: ...

#: Makes a dict equal to another, in its order, in one step.
def replace_items(target: dict[Any, Any], source: dict[Any, Any], /) -> None: ...

#: Whether what speeds up objects that come again is in use; what is kept is forgotten.
def use_caches(are_used: bool, /) -> None: ...
def clear_caches() -> None: ...

#: What the caches hold and how often they served.
def cache_info() -> dict[str, dict[str, int]]: ...

#: The map_location of the innermost loads of this thread that was given one.
def chosen_devices() -> MapLocation | None: ...

#: The report of `waybill inspect --json`, as text.
def inspect(data: Buffer, /) -> str: ...

#: Why this Python cannot have the code of a payload; None if it can: as it is, or from
#: source.
def python_mismatch(data: Buffer, /) -> str | None: ...

#: For each code body that a payload uses, the fields of its Unit, or None if it has no
#: source, and the code object of its bytecode, which nothing runs.
def sent_sources(head: Buffer, /) -> list[tuple[tuple[Any, ...] | None, CodeType]]: ...

#: What finds the end of one envelope that arrives piece by piece.
def stream_length(load_options: LoadOptions | None, /) -> object: ...

#: How many bytes the envelope that `data` begins misses at least; 0 if it is whole, or
#: `loads` refuses it whatever follows. `data` begins with what it was before.
def measure(stream_length: object, data: bytearray, /) -> int: ...

#: Length of the head, once all of it was measured; 0 before.
def head_size(stream_length: object, /) -> int: ...

#: (kind, offset, length) of each buffer that stands behind a head, as its bytes stand
#: there. Checks signature and head.
def stored_rows(
    head: Buffer, load_options: LoadOptions | None, /
) -> list[tuple[int, int, int]]: ...

#: An object for a stored buffer of this kind, and a view to put its bytes through.
def new_buffer(kind: int, length: int, /) -> tuple[bytes | bytearray, memoryview]: ...

#: Where the bytes of a contiguous buffer are. Valid as long as somebody holds them.
def address_of(buffer: Buffer, /) -> int: ...

#: Asks for large pages behind memory that is about to be written to.
def advise_large_pages(buffer: Buffer, /) -> None: ...

#: Copies bytes to memory of the same size that nothing was written to yet.
def copy_buffer(target: Buffer, source: Buffer, /) -> None: ...

#: A file that is mapped: its head, or None if it may have been cut; all of it; and when
#: digests of its buffers are compared: 0 never, 1 before a part is loaded that uses
#: them, 2 now. Checks signature and head.
def open_parts(
    head: bytes | None,
    memory: memoryview,
    when: int,
    load_options: LoadOptions | None,
    /,
) -> object: ...

#: The offset of the part that is all of the payload. The functions below take this, and
#: what they give for offsets themselves.
def root_part(file: object, /) -> int: ...

#: Type, count, size, text, and for an array items and shape.
def describe_part(
    file: object, offset: int, /
) -> tuple[str, int, int, str, str | None, tuple[int, ...] | None]: ...

#: Where the parts of a part stand, by the numbers of the steps to them.
def part_steps(file: object, offset: int, /) -> list[int]: ...

#: For each step its key, and where that stands. The key is None if it is no text and no
#: index. Only keys of dicts stand somewhere; it is 0 for others.
def part_keys(file: object, offset: int, /) -> list[tuple[Any, int]]: ...

#: A step as paths spell it.
def step_text(file: object, offset: int, number: int, /) -> str: ...

#: Whether a part has pairs of a dict.
def has_keys(file: object, offset: int, /) -> bool: ...

#: The number of the step with this key, index or name, and where it leads.
def find_step(
    file: object, offset: int, key: str | int, /
) -> tuple[int, int] | None: ...

#: Where a path leads. Raises LookupError if it leads nowhere.
def find_path(file: object, path: str, /) -> int: ...

#: The object, with arrays that are views of `memory`, a mapping of the same file. With
#: `is_whole`, digests are compared; else only where a signature is demanded.
def load_part(
    file: object,
    offset: int,
    memory: memoryview,
    is_whole: bool,
    options: DecodeOptions,
    /,
) -> Any: ...

# For waybill.explain(). An `explanation` is a capsule.

#: `progress` is told of objects and bytes now and then.
def explain(
    obj: object,
    options: EncodeOptions,
    progress: Callable[[int, int], object] | None,
    /,
) -> object: ...

#: Bytes of the payload, and how many parts were summed up.
def explanation_total(explanation: object, /) -> tuple[int, int]: ...

#: The index of what holds it, and the fields of a Part; of a place file, line,
#: expression and function.
def explanation_parts(explanation: object, /) -> list[tuple[Any, ...]]: ...

#: The fields of a Blocker, and its place.
def explanation_blockers(explanation: object, /) -> list[tuple[Any, ...]]: ...

#: The fields of an ImportRecord, and whether it is missing.
def explanation_imports(
    explanation: object, /
) -> list[tuple[tuple[str, str, str, str, str, int], int]]: ...

#: Its bytes, how many functions have it, and name, file and line of those without; None
#: if no source travels and none was asked for.
def explanation_source(
    explanation: object, /
) -> tuple[int, int, list[tuple[str, str, int]]] | None: ...

#: Imports of these modules are missing, all others are not.
def mark_missing(explanation: object, modules: set[str], /) -> None: ...
def explanation_text(
    explanation: object, top: int, columns: int, colours: bool, /
) -> str: ...
def explanation_json(explanation: object, /) -> str: ...

#: The parts of which a page tells, by their numbers, and bytes of each; no byte twice.
def explanation_telling(explanation: object, most: int, /) -> list[tuple[int, int]]: ...
def size_text(size: int, /) -> str: ...
def explanation_html(explanation: object, title: str, /) -> str: ...

#: The ceilings of Limits() and of strict limits, in that order; None: none.
LIMITS: tuple[int | None, ...]
STRICT_LIMITS: tuple[int | None, ...]
#: The rules of the preset of this name.
STANDARD_TYPES: str

#: A handle of a policy. Raises ValueError for text that is none.
def policy(rules: str, /) -> object: ...

#: What is wrong with a policy: a sentence for each rule that denies by name what a
#: later one allows by a wildcard.
def doubts(policy: object, /) -> list[str]: ...

#: Whether a policy allows a request, and the rule that decided.
def ask(
    policy: object, request: str, module: str, name: str, /
) -> tuple[bool, str | None]: ...

#: All later loads apply these options too.
def restrict_process(load_options: LoadOptions, /) -> None: ...

#: How often that was called in this process, by whichever interpreter or C++ program.
def restrictions() -> int: ...

# For waybill.security. A `key` or `ring` is a capsule; `source` is "text", "file" or
# "environment". All but the first and key_ring() raise SignatureError.

def generate_key(algorithm: str, /) -> object: ...
def read_key(source: str, what: str | bytes, /) -> object: ...

#: Algorithm and id.
def describe_key(key: object, /) -> tuple[str, str]: ...
def public_text(key: object, /) -> str: ...
def save_key(key: object, path: bytes, /) -> None: ...
def key_ring() -> object: ...
def add_keys(ring: object, source: str, what: str | bytes, /) -> None: ...
def add_key(ring: object, key: object, /) -> None: ...
def key_ids(ring: object, /) -> list[str]: ...
def sign(data: Buffer, key: object, /) -> bytes: ...
def with_application(data: Buffer, application: Buffer, /) -> bytes: ...
def verify(data: Buffer, ring: object, /) -> None: ...

#: The application field; None if there is none. With a ring the signature is checked.
def application(data: Buffer, ring: object | None, /) -> bytes | None: ...
