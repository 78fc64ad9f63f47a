#pragma once

// Mutations of envelopes.

#include <cstddef>
#include <cstdint>

#include "waybill/bytes.h"

namespace waybill::fuzz {

// Like LLVMFuzzerCustomMutator: changes values or bytes of one section of an envelope,
// and seals it again. Changes the bytes of other input, and sometimes of an envelope,
// without regard to its structure.
std::size_t mutate_envelope(std::uint8_t* data, std::size_t size, std::size_t max_size,
                            unsigned seed);

// Like LLVMFuzzerCustomCrossOver: replaces a value of the first payload by one of the
// second. 0 unless both are envelopes.
std::size_t cross_over(BytesView first, BytesView second, std::uint8_t* out,
                       std::size_t max_size, unsigned seed);

}  // namespace waybill::fuzz
