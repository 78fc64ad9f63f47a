// Checks one envelope again and again, so that the instructions of that can be counted:
//
//   check_signature ed25519|mac right|other|first|last|unknown COUNT
//
// right, other: two envelopes of the same length, rightly signed. first, last: a wrong
// first or last byte of the signature. unknown: the key is none of the ring's. Exits
// with 0 if all checks ended as they should. benchmarks/signature_timing.py runs it.

#include <cstdlib>
#include <string_view>

#include "trust/key_samples.h"

namespace waybill {
namespace {

samples::Bytes envelope_of(const SigningKey& key, bool other) {
  samples::Draft draft;
  samples::Bytes content(4096, 0);
  std::uint32_t state = 1;
  for (std::uint8_t& byte : content) {  // Zeroes, or bytes of all kinds.
    state = state * 1664525 + 1013904223;
    if (other) byte = static_cast<std::uint8_t>(state >> 24);
  }
  draft.payload.binary(content);
  return draft.sealed(&key);
}

int run(std::string_view algorithm, std::string_view which, long count) {
  const bool is_mac = algorithm == "mac";
  const SigningKey key = is_mac ? samples::mac_key() : samples::sender_key();
  const SigningKey stranger = is_mac ? samples::mac_key(2) : samples::stranger_key();
  const KeyRing ring = samples::ring_of(which == "unknown" ? stranger : key);
  samples::Bytes bytes = envelope_of(key, which == "other");
  const std::size_t start = bytes.size() - signature_size(key.algorithm());
  if (which == "first") bytes[start] ^= 1;
  if (which == "last") bytes.back() ^= 1;
  const bool is_right = which == "right" || which == "other";
  for (; count > 0; --count) {
    if (ring.check(bytes).has_value() != is_right) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace waybill

int main(int argc, char** argv) {
  return argc == 4 ? waybill::run(argv[1], argv[2], std::atol(argv[3])) : EXIT_FAILURE;
}
