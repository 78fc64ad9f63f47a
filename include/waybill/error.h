#pragma once

// Errors are values: a code for programs, the offset at which it was found, and a
// sentence for people. Nothing in waybill::core throws on bad input.
//
//   auto envelope = waybill::open(bytes);
//   if (!envelope) std::cerr << waybill::to_string(envelope.error()) << '\n';

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "waybill/bytes.h"

namespace waybill {

// The kinds of errors, divided by what the caller can do about them. The names (see
// name_of) are part of the interface; docs/wire_format.md lists them.
enum class ErrorCode : std::uint8_t {
  // The input ends inside a value. Example: an envelope cut at half its length.
  kTruncated,
  // The input does not start as an envelope does. Example: a pickle.
  kNotAnEnvelope,
  // A format version that this reader does not know. Example: header ["wb", 2, …].
  kUnknownFormat,
  // A value of the wrong msgpack type or out of range. Example: a string in place of
  // the manifest.
  kMalformed,
  // Bytes after the end of the envelope.
  kTrailingBytes,
  // The digest differs: the bytes were damaged.
  kDigestMismatch,
  // A node tag or extension type that this reader does not know.
  kUnknownTag,
  // A back-reference to an object that does not exist, or not yet.
  kBadReference,
  // A limit of Limits was exceeded. `detail` names it.
  kLimitExceeded,
  // The payload uses a module, or code, that is not in manifest or code section.
  kUndeclared,
  // Code made for another Python. `detail` names both versions.
  kPythonMismatch,
  // A policy refuses it, and `detail` names the deciding rule; or it is not plain data,
  // and read_value() accepts nothing else.
  kRefused,
  // A required signature is missing, or is not that of a known key over these bytes.
  kBadSignature,
  // The text is not a key, or not one for this use. `detail` never contains any of it.
  kBadKey,
  // Python raised an exception, or cannot start. Example: code of the payload raises
  // while it is built. `detail` is type and message.
  kRaised,
};

// The code as docs and `--json` spell it, e.g. "digest_mismatch". Static storage.
std::string_view name_of(ErrorCode code);

struct Error {
  ErrorCode code;
  // Position in the input at which the error was found; at most the input's length.
  std::size_t offset;
  // What was found, what was expected, and what to do, without a full stop.
  std::string detail;
};

// "digest_mismatch at byte 120: …", for logs and terminals.
std::string to_string(const Error& error);

template <typename T>
using Result = tl::expected<T, Error>;

}  // namespace waybill
