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

// The Python that made an envelope. Code runs where all three are equal, or where it
// has source; plain data loads anywhere.
struct PythonVersion {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  // importlib.util.MAGIC_NUMBER's 16 bits, e.g. 3495 for CPython 3.11.
  std::uint32_t magic = 0;

  friend bool operator==(const PythonVersion&, const PythonVersion&) = default;
};

// "3.11 (bytecode 3495)".
std::string to_string(const PythonVersion& version);

// A stretch of the input: the whole msgpack value of a section.
struct Section {
  std::size_t offset = 0;
  BytesView bytes;
};

// 128 bits of XXH3 over a code body: its address. Big-endian, as on the wire.
using ContentHash = std::array<std::uint8_t, 16>;

// One code object's body, without the file names and lines that surround it.
struct CodeBody {
  ContentHash hash;
  std::size_t offset = 0;
  BytesView bytes;
};

// Functions and classes by value that stand before the value of a payload. Positions
// count from the start of the payload.
struct Definitions {
  std::size_t count = 0;
  std::size_t start = 0;  // Of the first of them.
  std::size_t value = 0;  // Of the value behind them; 0 if the payload has none.
  // Reference k in a definition means the k-th shared position, of which there are so
  // many; reference k in the value means that of this place.
  std::size_t shared = 0;
  std::vector<std::uint32_t> value_shared;
};

// An envelope that has been taken apart. The views point into the bytes given to
// open(), which must outlive them; the manifest is a copy.
//
// Thread-safe for concurrent reads.
struct Envelope {
  std::uint32_t format_version = 0;
  PythonVersion python;
  // What the sender's program put into the header: a nonce, a task's id, an expiry.
  // Empty where there is nothing.
  BytesView application;
  Manifest manifest;
  std::vector<CodeBody> code;
  // Positions of the nodes that the payload refers back to, counted from the start
  // of the payload, each once; the k-th is what reference k means, if the payload has
  // no definitions.
  std::vector<std::uint64_t> shared;
  Section payload;
  Definitions definitions;
  // File names and line tables of the code; parts that a reader may skip.
  Section debug_info;
  // Empty when the envelope is not signed. Not checked: KeyRing::check() does that.
  BytesView signature;
  std::array<std::uint8_t, 8> digest{};
  // The buffers that stand behind the head; see waybill/buffers.h.
  std::vector<StoredBuffer> buffers;
  // All of the head, from the first byte of the header's array to the signature.
  BytesView bytes;
  // Length of the envelope, buffers included; more may follow in a stream.
  std::size_t size = 0;
  // Where the first buffer starts; `size` if there is none.
  std::size_t buffers_offset = 0;
};

// Takes the envelope at the start of `bytes` apart: header, digest, manifest and the
// outline of the other sections. The payload is measured, not read.
//
// The digest covers all bytes before it, so what passes is what was sent; it is no
// signature and stops no attacker.
//
// Errors: kTruncated, kNotAnEnvelope, kUnknownFormat, kMalformed, kDigestMismatch,
// kLimitExceeded.
// Cost: one pass over `bytes`; allocates for manifest and tables only.
[[nodiscard]] Result<Envelope> open(BytesView bytes, const Limits& limits = {});
template <TemporaryBytes Bytes>
Result<Envelope> open(Bytes&& bytes, const Limits& limits = {}) = delete;

// open(), for input that should be one envelope and nothing else.
//
// Errors: those of open(), kTrailingBytes.
[[nodiscard]] Result<Envelope> open_whole(BytesView bytes, const Limits& limits = {});
template <TemporaryBytes Bytes>
Result<Envelope> open_whole(Bytes&& bytes, const Limits& limits = {}) = delete;

// open(), for a head of which the buffers are elsewhere: in a file that is mapped or
// read part by part. `bytes` may go on after the head; the buffers are not looked at,
// and their rows have no bytes. `size` is that of the whole envelope.
//
// Errors: those of open().
[[nodiscard]] Result<Envelope> open_head(BytesView bytes, const Limits& limits = {});
template <TemporaryBytes Bytes>
Result<Envelope> open_head(Bytes&& bytes, const Limits& limits = {}) = delete;

// Finds the buffers of a head in `bytes`, which are the whole envelope: fills in the
// `bytes` of each row. Checks what pads and the trailer, and no digest:
// check_buffers() does, and open().
//
// Errors: kTruncated, kMalformed.
[[nodiscard]] Result<void> attach_buffers(Envelope& head, BytesView bytes);
template <TemporaryBytes Bytes>
Result<void> attach_buffers(Envelope& head, Bytes&& bytes) = delete;

// Whether all buffers, which are attached, have the digests that their rows tell:
// kDigestMismatch, with the offset of the first that has not. Tells every 16 MiB how
// far in the envelope it is: for people who wait. What `progress` throws goes through.
// Cost: one pass over them.
[[nodiscard]] Result<void> check_buffers(
    const Envelope& envelope,
    const std::function<void(std::uint64_t)>& progress = nullptr);

// Whether the code in an envelope can run on `python`: where the versions are equal,
// where there is no code, and where all code that the payload uses has source, from
// which that Python compiles it. Errors: kPythonMismatch, with the name of a function;
// kMalformed, where the sources cannot be read.
// Cost: for another version, a pass over the payload.
[[nodiscard]] Result<void> check_python(const Envelope& envelope,
                                        const PythonVersion& python);

namespace envelope {
class VerifiedPrefix;
}

// An envelope that verify() has accepted: nodes have their shapes, references and
// indices lead somewhere, code is sound. Only a verified envelope can be built from or
// asked about; verify() makes it, within the limits that it was given. Views the same
// bytes as the Envelope. One that was moved from has an empty payload. Thread-safe for
// concurrent reads.
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
  operator const Envelope&() const { return envelope_; }  // NOLINT: it is one.

 private:
  friend Result<VerifiedEnvelope> verify(Envelope envelope, const Limits& limits);
  // Checks what follows a part that was verified before.
  friend class envelope::VerifiedPrefix;

  explicit VerifiedEnvelope(Envelope envelope) : envelope_(std::move(envelope)) {}

  Envelope envelope_;
};

// Checks what open() does not: every node tag and its shape, every back-reference,
// every index into manifest and code section, in the payload and in each code body.
//
// Errors: those of open(), kUnknownTag, kBadReference, kUndeclared. The offset counts
// from the start of the envelope.
// Cost: one pass over the payload and the code; no recursion, memory by depth. Moving
// the envelope in spares a copy of its manifest and tables.
[[nodiscard]] Result<VerifiedEnvelope> verify(Envelope envelope,
                                              const Limits& limits = {});

// The envelope with this application field (less than 4 GiB) in place of the one it
// has; without one, if that is empty. It is not signed: a signature that it had covered
// other bytes.
//
// Errors: those of open_whole(). Cost: a pass to open it, and a copy.
[[nodiscard]] Result<std::vector<std::uint8_t>> with_application(BytesView envelope,
                                                                 BytesView application);

// What seal() puts together. Section views must be whole msgpack values.
struct Parts {
  PythonVersion python;
  // See Envelope; less than 4 GiB.
  BytesView application;
  // The manifest; where it is null, what encode_manifest() made of it, or nothing.
  const Manifest* manifest = nullptr;
  BytesView encoded_manifest;
  // Code bodies; one that holds the hash of another stands after it.
  std::span<const BytesView> code;
  std::span<const std::uint64_t> shared;
  BytesView payload;
  // What belongs into the payload besides, in order.
  std::span<const Insertion> payload_insertions;
  // The array of source locations; empty when the payload has no code.
  BytesView source_locations;
  // The array of sources; empty when no code has any.
  BytesView sources;
  // What to sign it with; null for an envelope that is not signed.
  const SigningKey* key = nullptr;
  // What stands behind the head, in the order of its numbers.
  std::span<const BufferParts> buffers;
};

// Puts an envelope together and appends it to `out`.
void seal(const Parts& parts, std::vector<std::uint8_t>& out);

// The same without a vector: an upper bound of the length, close to it, and a call
// that writes to memory of at least that many bytes and returns the end of what it
// wrote. `parts` must not change in between. Buffers may lie in that memory already:
// each as far behind its place as head_bound(), rounded up to a multiple of 64, is
// behind the start of the buffers.
std::size_t sealed_bound(const Parts& parts);
std::uint8_t* seal_at(const Parts& parts, std::uint8_t* out);

// The head alone, for who writes the buffers from where they lie: an upper bound of its
// length, and a call that writes it and returns its end. Reads each buffer for its
// digest.
std::size_t head_bound(const Parts& parts);
std::uint8_t* seal_head_at(const Parts& parts, std::uint8_t* out);
// Bytes between the end of a head of this size and the first buffer.
constexpr std::size_t head_padding(std::size_t head_size) { return -head_size % 64; }

// All of it, piece by piece: the head, and then the buffers from where they lie, with
// what stands between and behind them. `write` is told of each piece whether it is the
// next buffer; others are valid until it returns. What it throws goes through.
void seal_to(const Parts& parts,
             const std::function<void(BytesView piece, bool is_buffer)>& write);

}  // namespace waybill
