#pragma once

// Mutations that know what an envelope is.

#include <cstddef>
#include <cstdint>

#include "waybill/bytes.h"

namespace waybill::fuzz {

// As LLVMFuzzerCustomMutator: changes one section of an envelope at the boundaries of
// its values, or any of its bytes, and seals it again. Input that is no envelope, and
// now and then one that is, is changed byte by byte.
std::size_t mutate_envelope(std::uint8_t* data, std::size_t size, std::size_t max_size,
                            unsigned seed);

// As LLVMFuzzerCustomCrossOver: a value of the first payload gives way to one of the
// second. 0 if either is no envelope.
std::size_t cross_over(BytesView first, BytesView second, std::uint8_t* out,
                       std::size_t max_size, unsigned seed);

}  // namespace waybill::fuzz
