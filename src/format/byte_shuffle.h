#pragma once

// Sorts the bytes of items by their place in the item: sign and exponent of numbers
// that are alike come to stand side by side.

#include <cstdint>

#include "waybill/bytes.h"

namespace waybill::envelope {

// Writes as many bytes to `out`: the first byte of each item, then the second of each,
// and so on; at last what is no whole item, as it is. `item_size`: 2, 4, 8 or 16.
void shuffle(BytesView items, std::uint8_t item_size, std::uint8_t* out);

// Undoes that.
void unshuffle(BytesView bytes, std::uint8_t item_size, std::uint8_t* out);

}  // namespace waybill::envelope
