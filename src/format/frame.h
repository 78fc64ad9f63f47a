#pragma once

// The sections of an envelope. Error messages are built on failure only, so successful
// reads pay nothing.

#include <cstdint>
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

// Reads shared positions and the length of the payload, and locates the payload.
bool read_payload(wire::Reader& reader, std::vector<std::uint64_t>& shared,
                  Section& payload);

// Reads the head after the debug information: table of buffers, digest, which must be
// that of all bytes before it, and signature. Buffers are located, not read. `bytes`:
// from the start of the envelope to the end of the reader's bytes.
bool read_end(wire::Reader& reader, BytesView bytes, bool has_buffers,
              const Limits& limits, Envelope& envelope);

// Opens a plain envelope, which has no imports, code, definitions, buffers and debug
// information, and is far from max_bytes and max_values. Its payload can be built
// before it is verified, since that runs no code. False for other envelopes and invalid
// ones: open() gives the error.
bool open_plain(BytesView bytes, const Limits& limits,
                std::vector<std::uint64_t>& shared, Section& payload);

// The error for input that continues after an envelope.
Error trailing_bytes(std::size_t end, std::size_t size);

}  // namespace waybill::envelope
