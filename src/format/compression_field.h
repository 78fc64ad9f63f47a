#pragma once

// What a row of the table of buffers says of the compression of its buffer.

#include "waybill/buffers.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace waybill::envelope {

// Reads the field of a row whose length was read: sets compression and stored length.
// False when the reader has an error.
bool read_compression(wire::Reader& reader, StoredBuffer& row);

void write_compression(wire::CursorWriter& writer, const BufferParts& buffer);

}  // namespace waybill::envelope
