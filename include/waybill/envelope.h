#pragma once

// An envelope is the unit waybill sends: header, manifest, code, payload, debug
// information, digest, signature. Reading one needs no Python. See docs/wire_format.md
// for the bytes.
//
//   auto envelope = waybill::open(bytes);
//   if (!envelope) return report(envelope.error());
//   for (const ImportRecord& record : envelope->manifest.imports) ...

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "waybill/buffers.h"
#include "waybill/error.h"
#include "waybill/limits.h"
#include "waybill/manifest.h"

namespace waybill {

class SigningKey;  // waybill/signature.h

// The format version that seal() writes.
inline constexpr std::uint32_t kFormatVersion = 1;

// The Python that made an envelope. Code runs where all three are equal, or if it has
// source; plain data loads everywhere.
struct PythonVersion {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  // importlib.util.MAGIC_NUMBER's 16 bits, e.g. 3495 for CPython 3.11.
  std::uint32_t magic = 0;

  friend bool operator==(const PythonVersion&, const PythonVersion&) = default;
};

// "3.11 (bytecode 3495)".
std::string to_string(const PythonVersion& version);

// The msgpack value of a section, and its offset in the input.
struct Section {
  std::size_t offset = 0;
  BytesView bytes;
};

// 128 bits of XXH3 over a code body, which identify it. Big-endian, as on the wire.
using ContentHash = std::array<std::uint8_t, 16>;

// One code object's body, without the file names and lines that surround it.
struct CodeBody {
  ContentHash hash;
  std::size_t offset = 0;
  BytesView bytes;
};

// Functions and classes by value before the value of a payload. Positions count from
// the start of the payload.
struct Definitions {
  std::vector<std::uint64_t> starts;  // Of each definition.
  std::size_t value = 0;              // The start of the value; 0 without definitions.
  // `shared`: the number of shared positions of the definitions; reference k in a
  // definition is to the k-th. Reference k in the value is to the shared position of
  // index value_shared[k].
  std::size_t shared = 0;
  std::vector<std::uint32_t> value_shared;
};

// An opened envelope. The views point into the bytes passed to open(), which must
// outlive them; the manifest is a copy.
//
// Thread-safe for concurrent reads.
struct Envelope {
  std::uint32_t format_version = 0;
  PythonVersion python;
  // Data that the sending program put into the header: a nonce, a task's id, an expiry.
  // Empty if there is none.
  BytesView application;
  Manifest manifest;
  std::vector<CodeBody> code;
  // Positions of back-referenced nodes from the start of the payload, each once.
  // Reference k is to the k-th, unless the payload has definitions.
  std::vector<std::uint64_t> shared;
  Section payload;
  Definitions definitions;
  // File names, line tables and sources of the code, which readers may skip.
  Section debug_info;
  // Empty if the envelope is unsigned. KeyRing::check() checks it, open() does not.
  BytesView signature;
  std::array<std::uint8_t, 8> digest{};
  // The buffers after the head; see waybill/buffers.h.
  std::vector<StoredBuffer> buffers;
  // The head, from the first byte of the header's array to the signature.
  BytesView bytes;
  // Length of the envelope, buffers included; a stream may continue after it.
  std::size_t size = 0;
  // Offset of the first buffer; `size` if there is none.
  std::size_t buffers_offset = 0;
};

// Opens the envelope at the start of `bytes`: reads header, digest, manifest and the
// bounds of the other sections. The payload is skipped by its length, not checked.
//
// The digest detects accidental damage. It is not a signature, and stops no attacker.
//
// Errors: kTruncated, kNotAnEnvelope, kUnknownFormat, kMalformed, kDigestMismatch,
// kLimitExceeded.
// Cost: the digest, and a pass over all but the value of the payload; allocates for
// manifest and tables only.
[[nodiscard]] Result<Envelope> open(BytesView bytes, const Limits& limits = {});
template <TemporaryBytes Bytes>
Result<Envelope> open(Bytes&& bytes, const Limits& limits = {}) = delete;

// open() for input that must be exactly one envelope.
//
// Errors: those of open(), kTrailingBytes.
[[nodiscard]] Result<Envelope> open_whole(BytesView bytes, const Limits& limits = {});
template <TemporaryBytes Bytes>
Result<Envelope> open_whole(Bytes&& bytes, const Limits& limits = {}) = delete;

// open() for a head whose buffers are elsewhere, in a mapped file or one that is read
// part by part. `bytes` may continue after the head; buffers are not read, and their
// rows have no bytes. `size` is that of the whole envelope.
//
// Errors: those of open().
[[nodiscard]] Result<Envelope> open_head(BytesView bytes, const Limits& limits = {});
template <TemporaryBytes Bytes>
Result<Envelope> open_head(Bytes&& bytes, const Limits& limits = {}) = delete;

// Sets the `bytes` of each row from `bytes`, which are the whole envelope. Checks
// padding and trailer, but no digest: check_buffers() and open() do.
//
// Errors: kTruncated, kMalformed.
[[nodiscard]] Result<void> attach_buffers(Envelope& head, BytesView bytes);
template <TemporaryBytes Bytes>
Result<void> attach_buffers(Envelope& head, Bytes&& bytes) = delete;

// Checks the digests of all attached buffers: kDigestMismatch at the offset of the
// first wrong one. Calls `progress` every 16 MiB with the offset in the envelope.
// Exceptions of `progress` propagate. Cost: one pass over the buffers.
[[nodiscard]] Result<void> check_buffers(
    const Envelope& envelope,
    const std::function<void(std::uint64_t)>& progress = nullptr);

// Checks that the code of an envelope can run on `python`: the versions are equal,
// there is no code, or all code that the payload uses has source, which that Python
// compiles. Errors: kPythonMismatch, with the name of a function; kMalformed for
// unreadable sources.
// Cost: for another version, a pass over the payload.
[[nodiscard]] Result<void> check_python(const Envelope& envelope,
                                        const PythonVersion& python);

namespace envelope {
class VerifiedPrefix;
}

// An envelope that verify() has accepted: nodes have their shapes, references and
// indices are valid, code is sound. Decoding and queries require one. Only verify()
// creates it, within the limits passed to it. Views the same bytes as the Envelope.
// Empty after a move. Thread-safe for concurrent reads.
class VerifiedEnvelope {
 public:
  VerifiedEnvelope(const VerifiedEnvelope&) = default;
  VerifiedEnvelope& operator=(const VerifiedEnvelope&) = default;
  VerifiedEnvelope(VerifiedEnvelope&& other) noexcept
      : envelope_(std::exchange(other.envelope_, {})) {}
  VerifiedEnvelope& operator=(VerifiedEnvelope&& other) noexcept {
    envelope_ = std::exchange(other.envelope_, {});
    return *this;
  }

  const Envelope& operator*() const { return envelope_; }
  const Envelope* operator->() const { return &envelope_; }
  operator const Envelope&() const { return envelope_; }  // NOLINT: implicit.

 private:
  friend Result<VerifiedEnvelope> verify(Envelope envelope, const Limits& limits);
  // Creates envelopes with a verified start.
  friend class envelope::VerifiedPrefix;

  explicit VerifiedEnvelope(Envelope envelope) : envelope_(std::move(envelope)) {}

  Envelope envelope_;
};

// Checks everything that open() does not: every node tag and its shape, every
// back-reference, every index into manifest and code section, in the payload and in
// each code body.
//
// Errors: those of open(), kUnknownTag, kBadReference, kUndeclared. The offset counts
// from the start of the envelope.
// Cost: one pass over the payload and the code; no recursion; memory linear in the
// depth. Moving the envelope in spares a copy of its manifest and tables.
[[nodiscard]] Result<VerifiedEnvelope> verify(Envelope envelope,
                                              const Limits& limits = {});

// Replaces the application field (less than 4 GiB) of an envelope; an empty one removes
// it. The result is unsigned: an existing signature would not cover it.
//
// Errors: those of open_whole(). Cost: a pass to open it, and a copy.
[[nodiscard]] Result<std::vector<std::uint8_t>> with_application(BytesView envelope,
                                                                 BytesView application);

// The input of seal(). Section views must be whole msgpack values.
struct Parts {
  PythonVersion python;
  // See Envelope; less than 4 GiB.
  BytesView application;
  // The manifest; if null, `encoded_manifest` from encode_manifest(), or none.
  const Manifest* manifest = nullptr;
  BytesView encoded_manifest;
  // Code bodies; a body follows those that it nests.
  std::span<const BytesView> code;
  std::span<const std::uint64_t> shared;
  BytesView payload;
  // Insertions into the payload, in order of their offsets.
  std::span<const Insertion> payload_insertions;
  // The array of source locations; empty when the payload has no code.
  BytesView source_locations;
  // The array of sources; empty when no code has any.
  BytesView sources;
  // Signs the envelope; null: it is unsigned.
  const SigningKey* key = nullptr;
  // The stored buffers, in the order of their numbers.
  std::span<const BufferParts> buffers;
};

// Appends the envelope to `out`.
void seal(const Parts& parts, std::vector<std::uint8_t>& out);

// seal() without a vector: an upper bound of the length, close to it, and a function
// that writes to that much memory and returns the end. `parts` must not change in
// between. Buffers may be in that memory already, laid out as if they started at
// head_bound(), rounded up to a multiple of 64; seal_at() then moves them.
std::size_t sealed_bound(const Parts& parts);
std::uint8_t* seal_at(const Parts& parts, std::uint8_t* out);

// The head alone, for callers that write the buffers themselves: an upper bound of its
// length, and a function that writes it and returns its end. Reads each buffer for its
// digest.
std::size_t head_bound(const Parts& parts);
std::uint8_t* seal_head_at(const Parts& parts, std::uint8_t* out);
// Bytes between the end of a head of this size and the first buffer.
constexpr std::size_t head_padding(std::size_t head_size) { return -head_size % 64; }

// Passes the envelope to `write` piece by piece: the head, then each buffer where it is
// in memory, with padding and trailer. `is_buffer`: the piece is the next buffer.
// Other pieces are valid only until `write` returns. Exceptions of `write` propagate.
void seal_to(const Parts& parts,
             const std::function<void(BytesView piece, bool is_buffer)>& write);

}  // namespace waybill
