#pragma once

#include "waybill/envelope.h"
#include "waybill/value.h"

namespace waybill::envelope {

// Whether a program may write to what the buffer stands for.
bool is_writable(const StoredBuffer& row);

// What a stored buffer holds, decompressed. `offset`: of what stands for it in the
// payload. kTruncated if only the head was opened, and what decompress_buffer() says.
Result<data::Binary> stored_content(const Envelope& envelope, std::uint64_t number,
                                    std::size_t offset);

}  // namespace waybill::envelope
