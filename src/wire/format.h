#pragma once

// The numbers of the format. docs/wire_format.md lists each, and a test compares the
// two. A released number never gets another meaning.

#include <cstdint>

namespace waybill::wire {

// msgpack extension types, for values that msgpack has no type for. Every other value
// in a payload is the msgpack value of the same meaning.
enum class ExtType : std::int8_t {
  kNode = 0,       // 1 byte, a NodeTag: starts an array, which is a node.
  kReference = 1,  // 1, 2, 4 or 8 bytes, k: the object of the k-th shared position.
  kModule = 2,     // 1, 2, 4 or 8 bytes, k: the module of the manifest's k-th record.
  kInteger = 3,    // An int beyond 64 bits: two's complement, shortest.
  kComplex = 4,    // 16 bytes: real, imaginary, as IEEE 754 doubles.
  kText = 5,       // A str with lone surrogates, in UTF-8 ("surrogatepass").
  kSingleton = 6,  // 1 byte, a Singleton.
  kCode = 7,       // 16 bytes: the code body with this hash (inside a code body).
};

enum class Singleton : std::uint8_t {
  kEllipsis = 0,
  kNotImplemented = 1,
  kEmpty = 2,  // The content of an empty closure cell.
};

// The kinds of node. Brackets show the values after the tag.
enum class NodeTag : std::uint8_t {
  kTuple = 1,        // [items…]
  kSet = 2,          // [items…], sorted
  kFrozenSet = 3,    // [items…], sorted
  kByteArray = 4,    // [bin]
  kSlice = 5,        // [start, stop, step]
  kRange = 6,        // [start, stop, step]
  kGlobal = 7,       // [module or nil for builtins, qualified name]
  kNamespace = 8,    // [name, package, is it a package, number?]
  kCell = 9,         // [], which its function fills, or [content]
  kFunction = 10,    // [code index, namespace, [cells…], {FunctionField: value}]
  kCode = 11,        // [code index]
  kLazyImport = 12,  // [module, nil]; [module, name] for `lazy from module import name`
  kClassDict = 13,   // [class]: the class's own dict
  // The result of __reduce_ex__; the state setter is optional.
  kObject = 14,     // [callable, [arguments…], state, [items…], {pairs…}, setter]
  kNewObject = 15,  // [class, [arguments…], {keywords…}, state, [items…], {pairs…}]
  // A class by value, unless the receiver has a class with this id. docs/class_state.md
  // defines its home state.
  // [id or nil, metaclass, name, [bases…], {namespace}, {attributes}, home state?]
  kClass = 16,
  kPersistent = 17,  // [id]: the receiver's object with this persistent id
  kBuffer = 18,      // [number, is it read-only]: a buffer out of band
  kIdentified = 19,  // [id, value]: the receiver's object with this id, else the value
  kModule = 20,      // [namespace, {name: value}, is it a part]: a module by value
  kStreamReference =
      21,  // [payload, position]: an object of an earlier payload of the stream
  // [object], in the place of a state: the enclosing node is that object
  kReplacement = 22,
  kStored = 23,  // [number]: the buffer of this number in the table of buffers
  // [number of shared positions, [definition…], object]: always the whole payload
  kDefinitions = 24,
  // [hash], in place of a definition that the receiver has. No reader accepts it yet.
  kDefinitionHash = 25,
};

// Keys of the map in a function node. An absent key means the code object's own value.
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
  kImports = 12,  // {name: module by value}, for its import statements
};

// The object that a stored buffer becomes; the first field of its row.
enum class BufferKind : std::uint8_t {
  kBytes = 0,      // A bytes object.
  kByteArray = 1,  // A bytearray.
  kReadOnly = 2,   // The memory of another object, such as an array.
  kWritable = 3,   // The same, and its owner may write to it.
  // Memory that the receiving call copies, so a read-only view is enough: tensors,
  // whose memory belongs to their library or to a device.
  kSource = 4,
};

// How the bytes of a stored buffer are compressed.
enum class CompressionMethod : std::uint8_t {
  kZstd = 1,  // A zstd frame for each block of kCompressedBlock bytes.
};
// Bytes of a block, which is compressed independently. The last block of a buffer may
// be shorter.
inline constexpr std::uint32_t kCompressedBlock = 1 << 20;
// The largest number of bytes that one byte of a zstd frame expands to, rounded up.
inline constexpr std::uint32_t kMaxExpansion = 1 << 15;

// Fields of a row of the table of buffers.
enum class BufferField : std::uint8_t {
  kKind = 0,         // uint, a BufferKind
  kOffset = 1,       // uint: offset of its first byte from the start of the buffers
  kLength = 2,       // uint: bytes, uncompressed
  kDigest = 3,       // bin: 8 bytes of XXH3-64, or 32 of BLAKE2b in a signed envelope
  kCompression = 4,  // nil, or [CompressionMethod, stored length, item size]
  kFormat = 5,       // str or nil: of an item, as PEP 3118 spells it
  kShape = 6,        // [uint…] or nil
  kIsFortran = 7,    // boolean: the first index varies fastest
};
inline constexpr std::uint32_t kBufferFieldCount = 8;
// Fields of kCompression.
inline constexpr std::uint32_t kCompressionFieldCount = 3;
// The alignment of each stored buffer, counted from the start of the envelope.
inline constexpr std::uint32_t kBufferAlignment = 64;
// Bytes after the last buffer: the size of the head, big-endian.
inline constexpr std::uint32_t kBufferTrailer = 8;

// Positions in the array that is an envelope. With stored buffers, the table of buffers
// is one more section, between debug information and digest.
enum class SectionIndex : std::uint8_t {
  kHeader = 0,
  kManifest = 1,
  kCode = 2,
  kShared = 3,
  kPayloadLength = 4,  // In bytes, so that readers can skip the payload.
  kPayload = 5,
  kDebugInfo = 6,
  kDigest = 7,
  kSignature = 8,
};
inline constexpr std::uint32_t kSectionCount = 9;
inline constexpr std::uint32_t kSectionCountWithBuffers = 10;

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
// The largest depth of tuples, frozensets and slices in a constant: deeper than any
// compiler nests them, and small enough for CPython, which recurses over them.
inline constexpr int kMaxConstantDepth = 200;

// Fields of the header that every envelope of version 1 has. Further ones are optional.
inline constexpr std::uint32_t kHeaderFieldCount = 5;
// bin: data of the sending program, to be read before the payload is loaded.
inline constexpr std::uint32_t kApplicationField = 5;

// The signature section: bin 8 of algorithm, key id and signature, which covers all
// bytes before it. A signed envelope therefore ends in a tail of fixed size for each
// algorithm (waybill/signature.h), and is checked without parsing.
inline constexpr std::uint32_t kKeyIdSize = 8;
inline constexpr std::uint32_t kEd25519Size = 64;
inline constexpr std::uint32_t kMacSize = 32;

// Keys of the manifest.
enum class ManifestKey : std::uint8_t {
  kImports = 0,
  kFiles = 1,
  kSubstitutions = 2,
  kEnvironment = 3,
};
// In a top-level source location: the same file as in the previous one.
inline constexpr std::uint8_t kSameFile = 0;

enum class DebugInfoKey : std::uint8_t { kSourceLocations = 0, kSources = 1 };

// Fields of a source unit, which says how to compile a code body again.
enum class UnitField : std::uint8_t {
  kCode = 0,           // uint: index of the body; ascends
  kStart = 1,          // uint: offset of its text, in bytes from the start of all texts
  kLength = 2,         // uint: length of its text
  kKind = 3,           // uint, a UnitKind
  kName = 4,           // str: co_name
  kQualifiedName = 5,  // str: co_qualname
  kClassName = 6,      // str: the innermost enclosing class; nil if it does not matter
  kFlags = 7,          // uint: UnitFlag bits
  kOptimization = 8,   // uint: 0, 1 or 2, as compile() takes it
  kLines = 9,          // uint: number of decorator lines above the text
  kColumn = 10,        // uint: column of the text in its first line
  kFutures = 11,       // [str…]: features of __future__
  kFreeNames = 12,     // [str…]: variables of enclosing functions
  kImports = 13,       // [str…]: names that its module's imports bind
};
inline constexpr std::uint32_t kUnitFieldCount = 14;

enum class UnitKind : std::uint8_t {
  kFunction = 0,       // The text is a def without its decorators.
  kLambda = 1,         // The text is a lambda expression.
  kAnnotate = 2,       // The text is a def; the code gives its annotations (PEP 649).
  kClassAnnotate = 3,  // The same for a class: the text is its annotated names.
  kGenerated = 4,      // No text: a library generated it, and generates it again.
};

enum class UnitFlag : std::uint8_t {
  kInClass = 1,            // Its def is a statement of the class body.
  kNested = 2,             // Its def is inside a function.
  kNamesSuper = 4,         // Its module has a `super` of its own.
  kIterableCoroutine = 8,  // types.coroutine() marked it.
};
// All flags.
inline constexpr std::uint32_t kUnitFlags = 15;

// The largest total size of the texts of an envelope, in bytes.
inline constexpr std::uint32_t kMaxSourceText = 1 << 24;

// The envelope's mark: the first element of its header.
inline constexpr char kMark[] = {'w', 'b'};

}  // namespace waybill::wire
