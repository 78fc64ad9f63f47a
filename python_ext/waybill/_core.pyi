# The extension, python_ext/module.cpp. All of it is for the other files of this
# package; dumps, loads and fingerprint are what the package exports.

from typing import Any

from typing_extensions import Buffer

#: The object and what it refers to, as one envelope. Raises EncodeError, with the path
#: to the culprit, for what cannot travel.
def dumps(obj: object, /) -> bytes: ...

#: The object in an envelope. Checks all bytes, then imports what the manifest says is
#: needed at load, then builds. Raises DecodeError, PythonMismatchError,
#: MissingModuleError, and what code of the payload raises while it is built.
def loads(data: Buffer, /) -> Any: ...

#: (module, time, chain, function, file, line) of each import of a payload of `obj`.
def imports(
    obj: object, by_value: bool, /
) -> list[tuple[str, str, str, str, str, int]]: ...

#: 32 hexadecimal digits that are equal for equal object graphs, whatever the file names
#: and line numbers of their code: a key for caches.
def fingerprint(obj: object, /) -> str: ...

#: The report of `waybill inspect --json`, as text.
def inspect(data: Buffer, /) -> str: ...

#: How many bytes the envelope that `data` begins misses at least; 0 if it is whole.
def measure(data: Buffer, /) -> int: ...
