#pragma once

// Parts of the frame around the payload. The first and last bytes of an envelope are
// recognised and no more: for those who read one kind of envelope and leave all else to
// open(), which has the words for it.

#include <cstdint>
#include <optional>
#include <vector>

#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::envelope {

// Reads the header of an envelope of this format version. False if it is not just so.
bool read_header(wire::Reader& reader, PythonVersion& python);

// An envelope without code, notes and signature, as open_whole() gives it, but for the
// payload: that is what is left between shared positions and notes, and only verify()
// tells whether it is one value. Nothing if it is not just so, or if anything about it
// is wrong: open_whole() tells. Spares a pass over the payload.
std::optional<Envelope> open_unmeasured(BytesView bytes, const Limits& limits);

// Of digest and nil: what an envelope ends in that is not signed.
inline constexpr std::size_t kUnsignedEnd = 2 + sizeof(std::uint64_t) + 1;

// Whether the envelope ends so, with the digest that belongs to it.
bool has_unsigned_end(BytesView bytes);

// Fills in what comes after the shared positions of such an envelope, given where
// payload and notes start in it.
void set_rest(Envelope& envelope, BytesView bytes, std::size_t payload,
              std::size_t notes);

// Reads the shared positions; false when the reader has an error.
bool read_shared(wire::Reader& reader, std::vector<std::uint64_t>& shared);

// Reads the digest, which must be that of the bytes before it, and the signature, and
// must be at the end then. `bytes`: the envelope, of which the reader has the rest.
bool read_end(wire::Reader& reader, BytesView bytes, BytesView& signature);

}  // namespace waybill::envelope
