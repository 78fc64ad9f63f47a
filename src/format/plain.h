#pragma once

// The envelopes that hold plain data and nothing else: no import, no code, no notes.
// Building such a payload runs no code, so it need not be checked before it is built.

#include <cstdint>
#include <vector>

#include "waybill/error.h"
#include "waybill/limits.h"

namespace waybill::envelope {

// Where the payload of a plain envelope starts; 0 if the envelope is not plain, or if
// anything about it is wrong: open() tells. `shared` gets the shared positions.
std::size_t find_plain_payload(BytesView bytes, const Limits& limits,
                               std::vector<std::uint64_t>& shared);

// Whether a plain envelope whose payload ends at `end` is sound from there on: no
// notes, a digest that fits, at most a signature, and nothing behind it.
bool ends_plain(BytesView bytes, std::size_t end);

}  // namespace waybill::envelope
