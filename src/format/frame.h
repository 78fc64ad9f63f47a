#pragma once

// The sections of an envelope in their order. Each is read by one function here, for
// all who open envelopes: open(), which takes any apart, and those who know one kind of
// envelope and leave all others to it. A reader that fails says why; its words are made
// when it fails, so that a failed attempt costs little.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::envelope {

// Each function reads what is next, and is false when the reader has an error.

// The array of sections, and the header. The second function has an error if there is a
// table of buffers among the sections: for readers that know no envelope with one.
bool read_header(wire::Reader& reader, PythonVersion& python, BytesView& application,
                 bool& has_buffers);
bool read_header(wire::Reader& reader, PythonVersion& python, BytesView& application);

bool read_code(wire::Reader& reader, std::vector<CodeBody>& code);
bool read_shared(wire::Reader& reader, std::vector<std::uint64_t>& shared);

// All of the head that comes after the code. The sections are set, and what follows the
// head is told but not looked at. `bytes` as in read_end(), from the first to the last
// that the reader may see.
bool read_behind_code(wire::Reader& reader, BytesView bytes, bool has_buffers,
                      const Limits& limits, Envelope& envelope);

// Digest, which has to be that of all bytes before it, and signature. `bytes`: those
// that end where the bytes of the reader end, from the first of the envelope.
using Digest = std::array<std::uint8_t, 8>;
bool read_end(wire::Reader& reader, BytesView bytes, Digest& digest,
              BytesView& signature);

// An envelope without code, debug information, buffers and signature, as open_whole()
// gives it, but for the payload: that is what is left between shared positions and
// debug information, and only verify() tells whether it is one value. Nothing if it is
// not just so, or if anything about it is wrong: open_whole() tells. Spares a pass over
// the payload.
std::optional<Envelope> open_unmeasured(BytesView bytes, const Limits& limits);

// Of digest and nil: what an envelope ends in that is not signed.
inline constexpr std::size_t kUnsignedEnd = 2 + sizeof(std::uint64_t) + 1;

// Reads that end and fills in what comes after the shared positions but for
// definitions, given where payload and debug information start. False if `bytes` do not
// end so.
bool set_rest(Envelope& envelope, BytesView bytes, std::size_t payload,
              std::size_t debug_info);

// Where the payload of a plain envelope starts, which has no import, code, debug
// information and buffers: building its payload runs no code, so it need not be checked
// before. 0 if the envelope is not plain, or if anything about it is wrong: open()
// tells. `shared` gets the shared positions.
std::size_t find_plain_payload(BytesView bytes, const Limits& limits,
                               std::vector<std::uint64_t>& shared);

// What is wrong with input that goes on after an envelope that ends at `end`.
Error trailing_bytes(std::size_t end, std::size_t size);

// Whether a plain envelope whose payload ends at `end` is sound from there on, with a
// signature at most, and nothing behind it.
bool ends_plain(BytesView bytes, std::size_t end);

}  // namespace waybill::envelope
