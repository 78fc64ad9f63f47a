#pragma once

// The texts of help(). The first line of each is for inspect.signature; a test compares
// it with the stub.

namespace waybill::extension {

inline constexpr char kDumpsDoc[] =
    R"(dumps($module, obj, protocol=None, *, fix_imports=True, buffer_callback=None, by_value=None, replace=None, key=None, application=None, compress=None, warn_above=None, source=None, environment=None)
--

The object and all it needs, as bytes.

by_value
    Modules and packages, or their names, that the receiver does not have: they are
    sent by value, with the local modules that they import.
replace
    What replaces locks, sockets and other objects of one process: "error" (the
    default), "fresh" or "drop", for all or by type.
key
    A SigningKey that signs the payload.
application
    Bytes of the application, which can be read before the payload is loaded.
compress
    "zstd", or ("zstd", level) with a level from 1 to 19, or from -7 to -1 to be faster:
    buffers of 64 KiB and more that become smaller are compressed. False, the default:
    they are stored as they are in memory.
warn_above
    A payload of more bytes than this gives a SizeWarning, which names its large parts.
    Buffers that buffer_callback keeps do not count. 0: no warning.
source
    "auto": the source of functions is sent beside their code, where it is proven to
    give that code; other versions of Python compile it. True: EncodeError for a
    function without source. Source includes comments. False, the default: code loads
    only on the Python version that it was sent from.
environment
    Whether the payload describes its environment: the versions of Python and of the
    distributions that its imports belong to, and the platform. Default: no, except for
    save().
buffer_callback
    As pickle's: gets each PickleBuffer, and keeps it if it returns a false value.
protocol, fix_imports
    Accepted for callers of pickle; there is one format. A buffer_callback needs
    protocol 5 or more, or none.

None, for all but the last three, is the value of waybill.configure(), or the default.

Raises EncodeError, with the path to the culprit, for an object that cannot be sent, and
exceptions of the objects' reducers.)";

inline constexpr char kLoadsDoc[] =
    R"(loads($module, data, *, copy=True, fix_imports=True, encoding='ASCII', errors='strict', buffers=None, reset_classes=None, class_state=None, missing=None, map_location=None, renames=None, code=None, policy=None, keys=None, limits=None)
--

The object that dumps() was given. Runs code that the sender chose, unless the policy
forbids it.

Checks all bytes, then imports the modules that the payload needs at load, then builds.

copy
    Whether the buffers behind the payload are copied. If not, arrays are read-only
    views of data, which they keep alive, and which must not change.
policy
    What the payload may do: a Policy. DATA_ONLY admits only data.
keys
    A KeyRing: one of its keys must have signed the payload. Checked first.
limits
    Limits of the payload. Default: STRICT_LIMITS if the policy admits no code, else
    Limits().
buffers
    The buffers that buffer_callback got, in that order.
reset_classes
    Whether an existing class by value gets the state in the payload.
class_state
    The side whose state an existing class by value keeps: "sender" or "worker".
    Default: the sender's changes are applied, and all other state stays.
missing
    "error": a module that cannot be imported is an error before anything is built.
    "later": it is an error when code uses the module. Default: "error".
map_location
    Where tensors of PyTorch go: a device ("cpu"); a dict from devices, or kinds of
    device, to devices ({"cuda": "cpu"}); or a callable that gets the device as a str and
    returns one, or None for no change. Default: the device that they were on. Applies
    to payloads inside this one, too.
renames
    Names that differ in this process: a dict of {"old.module": "new.module",
    "old.package.*": "new.package.*", "old.module:Name": "new.module:Other"}, or Renames
    of waybill.environment, which record their use.
code
    "run": an object that cannot be built is an error. "opaque": it becomes a
    waybill.Opaque, which shows its content: for instance a function of another Python
    without source, or an instance of a missing class. Default: "run".
fix_imports, encoding, errors
    Accepted for callers of pickle; without effect.

None, for all but buffers, is the value of waybill.configure(), or the default.

Raises DecodeError for data that is not a payload, and its subclasses PolicyError,
SignatureError and PythonMismatchError for a payload that is refused; MissingModuleError;
and exceptions of code that runs while the payload is built.)";

inline constexpr char kPreparedDoc[] =
    R"(A function that was encoded once, to be called with many arguments.

Made by waybill.prepare(). Keeps the function, and all objects sent with it, alive.)";

inline constexpr char kPreparedDumpsDoc[] =
    R"(dumps($self, /, *args, **kwargs)
--

The result of dumps_call(function, args, kwargs), with the function as it was prepared.

Takes only the time of the arguments if these are data, or refer to objects sent with
the function: its classes, its helpers, itself. Such objects are sent in their prepared
state. Raises EncodeError, as dumps() does, and issues the warnings of prepare().)";

inline constexpr char kPreparedRefreshDoc[] =
    R"(refresh($self, /)
--

Encodes the function once more, as it is now.

If that raises, the function stays as it was prepared before.)";

inline constexpr char kPreparedDigestDoc[] =
    "16 bytes that identify the prepared state. Digests are equal if equal arguments "
    "give equal payloads, apart from application, key and compression.";

inline constexpr char kClearCachesDoc[] = R"(clear_caches($module, /)
--

Clears the caches of dumps and loads.

Results are the same with caches full, empty and off (waybill.configure(caches=False)).
The state of received classes is not a cache: forget_classes() clears it.)";

inline constexpr char kCacheInfoDoc[] = R"(cache_info($module, /)
--

The content of the caches, and their hits and misses: a dict of dicts of int.

functions
    Functions and classes by value that were sent again: "hits" were cached, "misses" had
    changed. The entry of a function is freed with its code object; at most 256 classes
    have entries. An entry has at most 16 KiB.
received
    Received payloads: "hits" are those whose functions and classes were not read again,
    "misses" are all others. At most 256 entries of 32 KiB are held, with the code of
    their functions.
code
    Code objects that were received: "entries" and "bytes" are held, of "max_entries" and
    "max_bytes".)";

}  // namespace waybill::extension
