// Arbitrary bytes as the text of keys, and as an envelope that no key of a ring has
// signed, which is refused. A signed envelope is accepted with its key and no other,
// and refused if one bit is changed, or if it is cut or extended.
//
// Input: a byte that chooses the algorithm, two that choose the bit, then keys or an
// envelope.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "require.h"
#include "waybill/envelope.h"
#include "waybill/signature.h"

namespace {

using waybill::BytesView;
using waybill::ErrorCode;
using waybill::KeyRing;
using waybill::SignatureAlgorithm;
using waybill::SigningKey;
using waybill::fuzz::require;

// A test key, and the ring with this key.
struct Pair {
  explicit Pair(std::string_view text) : key(*SigningKey::from_text(text)) {
    ring.add(key);
  }

  SigningKey key;
  KeyRing ring;
};

const Pair& pair_of(SignatureAlgorithm algorithm) {
  static const Pair ed25519(
      "waybill-ed25519-private:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8");
  static const Pair mac("waybill-mac:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8");
  return algorithm == SignatureAlgorithm::kMac ? mac : ed25519;
}

void check_keys(std::string_view text) {
  const auto key = SigningKey::from_text(text);
  require(key || key.error().code == ErrorCode::kBadKey);
  const auto ring = KeyRing::from_text(text);
  require(ring || ring.error().code == ErrorCode::kBadKey);
  require(!ring || ring->size() == ring->ids().size());
}

bool is_refused(const KeyRing& ring, BytesView bytes) {
  const auto verdict = ring.check(bytes);
  require(verdict || verdict.error().code == ErrorCode::kBadSignature);
  require(verdict || verdict.error().offset <= bytes.size());
  return !verdict;
}

// Whether the envelope is refused for its signature or the digests that it covers.
bool is_refused_whole(const KeyRing& ring, BytesView bytes) {
  return is_refused(ring, bytes) || !waybill::open_whole(bytes);
}

void check_signed(BytesView envelope, SignatureAlgorithm algorithm, std::size_t bit) {
  const Pair& pair = pair_of(algorithm);
  const auto sealed = waybill::sign(envelope, pair.key);
  if (!sealed) return;
  require(!is_refused(pair.ring, *sealed));
  const auto other = algorithm == SignatureAlgorithm::kMac
                         ? SignatureAlgorithm::kEd25519
                         : SignatureAlgorithm::kMac;
  require(is_refused(pair_of(other).ring, *sealed));
  require(*waybill::sign(*sealed, pair.key) == *sealed);

  std::vector<std::uint8_t> altered = *sealed;
  bit %= altered.size() * 8;
  altered[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
  require(is_refused_whole(pair.ring, altered));
  require(is_refused_whole(pair.ring, BytesView(*sealed).first(bit / 8)));
  altered = *sealed;
  altered.push_back(0);
  require(is_refused_whole(pair.ring, altered));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto algorithm =
      data[0] % 4 == 0 ? SignatureAlgorithm::kEd25519 : SignatureAlgorithm::kMac;
  const std::size_t bit = std::size_t{data[1]} << 8 | data[2];
  const BytesView rest(data + 3, size - 3);
  check_keys({reinterpret_cast<const char*>(rest.data()), rest.size()});
  // No input knows the key, so no input is signed.
  require(is_refused(pair_of(algorithm).ring, rest));
  check_signed(rest, algorithm, bit);
  return 0;
}
