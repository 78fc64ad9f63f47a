#pragma once

// The part of a manifest that tells what the payload was made with.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "waybill/envelope.h"
#include "waybill/manifest.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace waybill::envelope {

// Reads the value behind kEnvironment; false when the reader has an error.
// `environment` null: it is checked alone.
bool read_environment(wire::Reader& reader, Environment* environment);

// Checks it, and answers where it stands.
bool pass_environment(wire::Reader& reader, Section& section);

// Key and value. Texts and counts are within what read_environment() takes.
void write_environment(wire::CursorWriter& writer, const Environment& environment);
// At least as many bytes as that writes.
std::size_t environment_bound(const Environment& environment);

// A manifest's section with this part behind its others, of which none has a higher
// key. `manifest`: as encode_manifest() gives it, or nothing.
std::vector<std::uint8_t> with_environment(BytesView manifest,
                                           const Environment& environment);

}  // namespace waybill::envelope
