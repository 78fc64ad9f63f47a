#pragma once

// The manifest's section, for open() and seal().

#include <cstddef>

#include "waybill/manifest.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace waybill::envelope {

// Reads the section; false when the reader has an error.
bool read_manifest(wire::Reader& reader, Manifest& manifest);

// At least as many bytes as write_manifest() writes.
std::size_t manifest_bound(const Manifest& manifest);
void write_manifest(wire::CursorWriter& writer, const Manifest& manifest);

}  // namespace waybill::envelope
