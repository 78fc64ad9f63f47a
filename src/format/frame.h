#pragma once

// The sections of an envelope. One function reads each, for open(), which reads any
// envelope, and for readers that accept one kind of envelope and leave others to
// open(). Error messages are built on failure only, so successful reads pay nothing.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::envelope {

// Functions return false with an error in the reader.

// Reads the array of sections, and the header. `has_buffers`: whether a table of
// buffers follows the debug information.
bool read_header(wire::Reader& reader, PythonVersion& python, BytesView& application,
                 bool& has_buffers);

bool read_code(wire::Reader& reader, std::vector<CodeBody>& code);
bool read_shared(wire::Reader& reader, std::vector<std::uint64_t>& shared);

// Reads the rest of the head, after the code. Buffers are located, not read. `bytes`
// is as for read_digest_and_signature().
bool read_sections_after_code(wire::Reader& reader, BytesView bytes, bool has_buffers,
                              const Limits& limits, Envelope& envelope);

// Reads the digest, which must be that of all bytes before it, and the signature.
// `bytes`: from the start of the envelope to the end of the reader's bytes.
using Digest = std::array<std::uint8_t, 8>;
bool read_digest_and_signature(wire::Reader& reader, BytesView bytes, Digest& digest,
                               BytesView& signature);

// Opens an envelope without code, debug information, buffers and signature in one pass
// over its head. The payload is taken as the bytes between shared positions and debug
// information; verify() checks that they are one value. Returns nothing for other
// envelopes and invalid ones: open_whole() gives the error.
std::optional<Envelope> open_trusting_verify(BytesView bytes, const Limits& limits);

// The size of digest and nil, which end an unsigned envelope.
inline constexpr std::size_t kUnsignedTailSize = 2 + sizeof(std::uint64_t) + 1;

// Reads digest and nil, and sets all sections after the shared positions, except
// definitions, by the offsets of payload and debug information. False if `bytes` do not
// end with digest and nil.
bool set_tail_sections(Envelope& envelope, BytesView bytes, std::size_t payload,
                       std::size_t debug_info);

// The offset of the payload of a plain envelope, which has no imports, code, debug
// information, buffers and definitions. Building such a payload runs no code, so it
// need not be verified first. 0 for other envelopes and invalid ones: open() gives the
// error. Sets `shared`.
std::size_t find_plain_payload(BytesView bytes, const Limits& limits,
                               std::vector<std::uint64_t>& shared);

// The error for input that continues after an envelope.
Error trailing_bytes(std::size_t end, std::size_t size);

// Whether a plain envelope whose payload ends at `end` is valid from there on, and ends
// with the bytes. It may be signed.
bool has_plain_end(BytesView bytes, std::size_t end);

}  // namespace waybill::envelope
