#pragma once

// The numbers of the format. Each stands in docs/wire_format.md too, and a test
// compares the two; a number once released is never used for anything else.

#include <cstdint>

namespace waybill::wire {

// msgpack extension types. Values that msgpack has no word for; everything else in a
// payload is the msgpack value of the same meaning.
enum class ExtType : std::int8_t {
  kNode = 0,       // 1 byte, a NodeTag: the array that starts with it is a node.
  kReference = 1,  // 1, 2, 4 or 8 bytes, k: the object of the k-th shared position.
  kModule = 2,     // 1, 2, 4 or 8 bytes, k: the module of the manifest's k-th record.
  kInteger = 3,    // An int beyond 64 bits: two's complement, shortest.
  kComplex = 4,    // 16 bytes: real, imaginary, as IEEE 754 doubles.
  kText = 5,       // A str with lone surrogates, in UTF-8 that lets them pass.
  kSingleton = 6,  // 1 byte, a Singleton.
  kCode = 7,       // 16 bytes: the code body with this hash (inside a code body).
};

enum class Singleton : std::uint8_t {
  kEllipsis = 0,
  kNotImplemented = 1,
  kEmpty = 2,  // The content of a closure cell that has none.
};

// The kinds of node. What follows the tag in the array is given in brackets.
enum class NodeTag : std::uint8_t {
  kTuple = 1,        // [items…]
  kSet = 2,          // [items…], sorted
  kFrozenSet = 3,    // [items…], sorted
  kByteArray = 4,    // [bin]
  kSlice = 5,        // [start, stop, step]
  kRange = 6,        // [start, stop, step]
  kGlobal = 7,       // [module or nil for builtins, qualified name]
  kNamespace = 8,    // [name, package, is it a package, number?]
  kCell = 9,         // [] filled by its function, or [content]
  kFunction = 10,    // [code index, namespace, [cells…], {FunctionField: value}]
  kCode = 11,        // [code index]
  kLazyImport = 12,  // [module, nil]; [module, name] for `lazy from module import name`
  kClassDict = 13,   // [class]: the class's own dict
  // What __reduce_ex__ gives; the setter of the state only if there is one.
  kObject = 14,     // [callable, [arguments…], state, [items…], {pairs…}, setter]
  kNewObject = 15,  // [class, [arguments…], {keywords…}, state, [items…], {pairs…}]
  // By value; a class with the same id may be there already.
  // [id or nil, metaclass, name, [bases…], {namespace}, {attributes}, word?]
  kClass = 16,
  kPersistent = 17,  // [id]: what the receiver has under that id
  kBuffer = 18,      // [number, is it read-only]: a buffer out of band
  kIdentified = 19,  // [id, value]: as a class, it may be there already
  kModule = 20,      // [namespace, {name: value}, is it a part]: a module by value
  kStreamReference =
      21,  // [payload, position]: an object of an earlier payload of a stream
  kReplacement = 22,  // [object], as a state: the node around it is that object
  kStored = 23,       // [number]: what the table of buffers has under that number
  // [number of shared positions, [definition…], object]: the whole payload, nothing in
  // it
  kDefinitions = 24,
  // [hash], in place of a definition that the receiver has. No reader takes it yet.
  kDefinitionHash = 25,
};

// Keys of the map in a function node. Absent means: as the code object has it.
enum class FunctionField : std::uint8_t {
  kGlobals = 0,          // {name: value} that this function adds to its namespace
  kCells = 1,            // [content…] of the cells that this function introduces
  kDefaults = 2,         // tuple
  kKeywordDefaults = 3,  // {name: value}
  kAnnotations = 4,      // {name: value}
  kAnnotate = 5,         // the function of PEP 649
  kTypeParameters = 6,   // tuple
  kAttributes = 7,       // {name: value}, the function's __dict__
  kName = 8,
  kQualifiedName = 9,
  kModule = 10,  // __module__
  kDoc = 11,
  kImports = 12,  // {name: module by value} of what its import statements find
};

// What a stored buffer means to a program; the first field of its row.
enum class BufferKind : std::uint8_t {
  kBytes = 0,      // A bytes object.
  kByteArray = 1,  // A bytearray.
  kReadOnly = 2,   // The memory of something else, such as an array.
  kWritable = 3,   // Likewise; its owner may write to it.
  // Likewise; the call that gets it makes a copy of its own, so that a view will do:
  // tensors, whose memory is that of their library, or of a device.
  kSource = 4,
};

// How the bytes of a stored buffer are compressed.
enum class CompressionMethod : std::uint8_t {
  kZstd = 1,  // A zstd frame for each block of kCompressedBlock bytes.
};
// Bytes of a block that is compressed by itself; the last of a buffer may have fewer.
inline constexpr std::uint32_t kCompressedBlock = 1 << 20;
// Bytes that one byte of zstd frames stands for at most, rounded up.
inline constexpr std::uint32_t kMostExpansion = 1 << 15;

// Fields of a row of the table of buffers.
enum class BufferField : std::uint8_t {
  kKind = 0,         // uint, a BufferKind
  kPlace = 1,        // uint: its first byte, from the start of the buffers
  kLength = 2,       // uint: bytes, before they are compressed
  kDigest = 3,       // bin: 8 bytes of XXH3-64, or 32 of BLAKE2b in what is signed
  kCompression = 4,  // nil, or [CompressionMethod, stored length, item size]
  kFormat = 5,       // str or nil: of an item, as PEP 3118 spells it
  kShape = 6,        // [uint…] or nil
  kIsFortran = 7,    // boolean: the first index varies fastest
};
inline constexpr std::uint32_t kBufferFieldCount = 8;
// Of what stands in kCompression.
inline constexpr std::uint32_t kCompressionFieldCount = 3;
// Each stored buffer starts at a multiple of this, counted from the envelope's start.
inline constexpr std::uint32_t kBufferAlignment = 64;
// What follows the last buffer: the size of the head, big-endian.
inline constexpr std::uint32_t kBufferTrailer = 8;

// Positions in the array that is an envelope. One with stored buffers has one more: the
// table of buffers, between debug information and digest.
enum class SectionIndex : std::uint8_t {
  kHeader = 0,
  kManifest = 1,
  kCode = 2,
  kShared = 3,
  kPayload = 4,
  kDebugInfo = 5,
  kDigest = 6,
  kSignature = 7,
};
inline constexpr std::uint32_t kSectionCount = 8;
inline constexpr std::uint32_t kSectionCountWithBuffers = 9;

// Positions in the array that is a code body.
enum class CodeField : std::uint8_t {
  kArgumentCount = 0,
  kPositionalOnlyCount = 1,
  kKeywordOnlyCount = 2,
  kStackSize = 3,
  kFlags = 4,
  kName = 5,
  kQualifiedName = 6,
  kInstructions = 7,     // bin, canonical co_code
  kConstants = 8,        // array of constants; a nested code object is an ext kCode
  kNames = 9,            // array of str
  kLocalNames = 10,      // array of str: co_localsplusnames
  kLocalKinds = 11,      // bin, one byte each: co_localspluskinds
  kExceptionTable = 12,  // bin
};
inline constexpr std::uint32_t kCodeFieldCount = 13;
// Tuples, frozensets and slices inside each other in a constant: deeper than any
// compiler nests them, and no depth for the C stack, on which CPython follows them.
inline constexpr int kMaxConstantDepth = 200;

// Fields of the header: all readers of version 1 know so many, the rest may be absent.
inline constexpr std::uint32_t kHeaderFieldCount = 5;
// bin: what the program adds for readers that look before they load.
inline constexpr std::uint32_t kApplicationField = 5;

// The signature section: bin 8 of algorithm, key id, and the signature itself, which
// covers all bytes before it. So a signed envelope ends in a tail of a fixed size for
// each algorithm (waybill/signature.h), and is checked without being parsed.
inline constexpr std::uint32_t kKeyIdSize = 8;
inline constexpr std::uint32_t kEd25519Size = 64;
inline constexpr std::uint32_t kMacSize = 32;

// Keys of the manifest and of the debug information.
enum class ManifestKey : std::uint8_t {
  kImports = 0,
  kFiles = 1,
  kSubstitutions = 2,
  kEnvironment = 3,
};
// In a source location that none is around: the file that was named last.
inline constexpr std::uint8_t kSameFile = 0;

enum class DebugInfoKey : std::uint8_t { kSourceLocations = 0, kSources = 1 };

// Fields of a source unit, which tells how a code body is compiled again.
enum class UnitField : std::uint8_t {
  kCode = 0,           // uint: index of the body; ascends
  kStart = 1,          // uint: its text, in bytes from the start of the texts,
  kLength = 2,         // uint: and how long that is
  kKind = 3,           // uint, a UnitKind
  kName = 4,           // str: co_name
  kQualifiedName = 5,  // str: co_qualname
  kClassName = 6,      // str, the innermost class around it; nil: that does not matter
  kFlags = 7,          // uint, of UnitFlag
  kOptimization = 8,   // uint: 0, 1 or 2, as compile() takes it
  kLines = 9,          // uint: lines of decorators above the text
  kColumn = 10,        // uint: where the text starts in its line
  kFutures = 11,       // [str…]: features of __future__
  kFreeNames = 12,     // [str…]: names of variables of functions around it
  kImports = 13,       // [str…]: names that its module binds by import
};
inline constexpr std::uint32_t kUnitFieldCount = 14;

enum class UnitKind : std::uint8_t {
  kFunction = 0,       // The text is a def without its decorators.
  kLambda = 1,         // The text is a lambda expression.
  kAnnotate = 2,       // The text is a def; the code gives its annotations (PEP 649).
  kClassAnnotate = 3,  // Likewise, of a class: the text is its annotated names.
  kGenerated = 4,      // No text: a library wrote it, and writes it anew.
};

enum class UnitFlag : std::uint8_t {
  kInClass = 1,            // It stands right in the body of the class.
  kNested = 2,             // It stands in a function.
  kNamesSuper = 4,         // Its module has a `super` of its own.
  kIterableCoroutine = 8,  // types.coroutine() has marked it.
};
// Bits that are used.
inline constexpr std::uint32_t kUnitFlags = 15;

// Bytes that all texts of an envelope may have.
inline constexpr std::uint32_t kMostSourceText = 1 << 24;

// The envelope's mark: the first element of its header.
inline constexpr char kMark[] = {'w', 'b'};

}  // namespace waybill::wire
