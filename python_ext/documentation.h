#pragma once

// What help() tells of dumps and loads: the contract of the package's two functions.
// The first line is for inspect.signature; tests hold it against the stub.

namespace waybill::extension {

inline constexpr char kDumpsDoc[] =
    R"(dumps($module, obj, protocol=None, *, fix_imports=True, buffer_callback=None, by_value=None, replace=None, key=None, application=None, compress=None, warn_above=None, source=None, environment=None)
--

The object and all it needs, as bytes.

by_value
    Modules and packages, or their names, that the receiver does not have: what
    they define goes along, as do local modules that they import.
replace
    What stands for locks, sockets and what else belongs to one process: "error"
    (as if not given), "fresh" or "drop", for all or by type.
key
    A SigningKey that signs the payload.
application
    Bytes of the program's own, which can be read before the payload is loaded.
compress
    "zstd", or ("zstd", level) with a level from 1 to 19, or from -7 to -1 to be faster:
    buffers of 64 KiB and more that gain by it are compressed. Else, and with False,
    they stand as in memory.
warn_above
    Bytes: a payload that is larger gives a SizeWarning, which names what is large in
    it. Buffers that buffer_callback keeps do not count. 0 is for no warning.
source
    "auto": the source of functions travels beside their code, where it is proven to
    give that code; other versions of Python compile it. True: EncodeError for a
    function without. Comments are in it. Else, and with False, code loads on the
    Python version that it was sent from.
environment
    Whether the payload tells what it was made with: versions of Python and of the
    distributions that its imports belong to, and the platform. Not, if nothing is set;
    save() does.
buffer_callback
    As pickle's: gets each PickleBuffer, and keeps it if it answers something false.
protocol, fix_imports
    Accepted for callers of pickle; there is one format. A buffer_callback needs
    protocol 5 or more, or none.

None, for the first seven, is what waybill.configure() has set, or nothing.

Raises EncodeError, with the path to the culprit, for what cannot travel, and what
reducers of the objects raise.)";

inline constexpr char kLoadsDoc[] =
    R"(loads($module, data, *, copy=True, fix_imports=True, encoding='ASCII', errors='strict', buffers=None, reset_classes=None, class_state=None, missing=None, map_location=None, renames=None, code=None, policy=None, keys=None, limits=None)
--

The object that dumps() was given. Runs code that the sender chose, unless told not to.

Checks all bytes, then imports what the payload says is needed at load, then builds.

copy
    Whether buffers that stand behind the payload are copied. If not, arrays are
    read-only views of data, which they keep alive, and it must not change.
policy
    What the payload may do: a Policy. DATA_ONLY lets nothing but data in.
keys
    A KeyRing, one of whose keys has to have signed it; checked before all else.
limits
    Limits of what it may come to. If not given: STRICT_LIMITS where the policy lets
    no code in, else Limits().
buffers
    What buffer_callback kept, in that order.
reset_classes
    Whether a class by value that is here already gets its state anew.
class_state
    Whose word alone counts for such classes: "sender" or "worker"; None: what the
    sender changed is set, all else stays.
missing
    "error": a module that cannot be imported is an error before anything is built.
    "later": it is one when code uses the module. "error", if nothing is set.
map_location
    Where tensors of PyTorch go: a device ("cpu"); a dict from devices, or kinds of
    device, to devices ({"cuda": "cpu"}); or a callable that gets the device as a str and
    returns one, or None to leave it. Without it, to the device that they were on. Holds
    for payloads inside of this one, too.
renames
    Names that are others here: a dict of {"old.module": "new.module",
    "old.package.*": "new.package.*", "old.module:Name": "new.module:Other"}, or Renames
    of waybill.environment, which tell what they did.
code
    "run": what cannot be built is an error. "opaque": it is a waybill.Opaque, which shows
    what the payload says of it: a function of another Python without source, an instance
    of a class that is not here. "run", if nothing is set.
fix_imports, encoding, errors
    Accepted for callers of pickle; without effect.

None, for all but buffers, is what waybill.configure() has set.

Raises DecodeError for what is no payload, and as PolicyError, SignatureError or
PythonMismatchError for one that is not let in; MissingModuleError; and what code of
the payload raises while it is built.)";

inline constexpr char kPreparedDoc[] =
    R"(A function that was encoded once, to be called with many arguments.

waybill.prepare() makes them. It keeps the function, and all that came with it, alive.)";

inline constexpr char kPreparedDumpsDoc[] =
    R"(dumps($self, /, *args, **kwargs)
--

What dumps_call(function, args, kwargs) gave when the function was prepared.

Takes the time of the arguments alone where these are data, or refer to what came
with the function: its classes, its helpers, itself. That is written as it was then,
even if it has changed. Raises EncodeError, as dumps() does, and warns as prepare()
was told.)";

inline constexpr char kPreparedRefreshDoc[] =
    R"(refresh($self, /)
--

Encodes the function once more, as it is now.

If that raises, the function stays as it was prepared before.)";

inline constexpr char kPreparedDigestDoc[] =
    "16 bytes that name the function as it was prepared. Equal if equal arguments "
    "would give equal payloads, but for application, key and compression.";

inline constexpr char kClearCachesDoc[] = R"(clear_caches($module, /)
--

Forgets what dumps and loads keep to be quick with what comes again.

Results are the same with caches full, empty and off (waybill.configure(caches=False)).
The state of received classes is no cache: forget_classes() forgets that.)";

inline constexpr char kCacheInfoDoc[] = R"(cache_info($module, /)
--

What the caches hold and how often they served: a dict of dicts of int.

functions
    Functions and classes by value that were sent again: "hits" went as they were kept,
    "misses" had changed. What is kept of a function dies with its code object; 256
    classes are held at most, and 512 functions and classes that came behind others. Each
    is 32 KiB at most.
received
    Payloads that came before, or begin as one did: "hits" have functions and classes that
    were not read again, "misses" are all others. 256 entries of 32 KiB at most are held,
    with the code of their functions.
code
    Code objects that were received: "entries" and "bytes" are held, of "max_entries" and
    "max_bytes".)";

}  // namespace waybill::extension
