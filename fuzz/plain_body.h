#pragma once

// A code body for envelopes that are correct except for the part that a harness varies.

#include <cstdint>
#include <vector>

#include "waybill/envelope.h"
#include "wire/format.h"
#include "wire/writer.h"

namespace waybill::fuzz {

// `return None` in the bytecode of 3.11; `nested`, if given, is the hash of code among
// the constants.
inline std::vector<std::uint8_t> plain_body(const char* name,
                                            const ContentHash* nested = nullptr) {
  constexpr std::uint8_t kInstructions[] = {151, 0, 100, 0, 83, 0};
  wire::Writer writer;
  writer.array(wire::kCodeFieldCount);
  for (int number : {0, 0, 0, 1, 3}) writer.integer(number);
  writer.text(name);
  writer.text(name);
  writer.binary(kInstructions);
  writer.array(nested == nullptr ? 1 : 2);
  writer.nil();
  if (nested != nullptr) writer.extension(wire::ExtType::kCode, *nested);
  writer.array(0);
  writer.array(0);
  writer.binary({});
  writer.binary({});
  return writer.take();
}

}  // namespace waybill::fuzz
