#pragma once

// The tail of a signed envelope: the signature section, of a fixed size for each
// algorithm.

#include <cstdint>
#include <optional>
#include <vector>

#include "waybill/signature.h"
#include "wire/format.h"

namespace waybill::envelope {

// bin 8 and its length, the algorithm, the key id.
inline constexpr std::size_t kTailHead = 2 + 1 + wire::kKeyIdSize;

inline std::size_t tail_size(SignatureAlgorithm algorithm) {
  return kTailHead + signature_size(algorithm);
}

// A tail and the message that it signs. Views of the input.
struct SignatureTail {
  SignatureAlgorithm algorithm;
  KeyId key;
  BytesView message;
  BytesView signature;
};

// The tail if the bytes end in one of this algorithm. The signature is not checked.
std::optional<SignatureTail> tail_of(BytesView envelope, SignatureAlgorithm algorithm);

// Whether `signature` is valid for `message` under the verifying key (32 bytes). Takes
// constant time for a MAC.
bool is_signature(SignatureAlgorithm algorithm, const std::uint8_t* key,
                  BytesView message, BytesView signature);

// Signs the bytes from `begin` to `at`, which are all of an envelope but its last
// section, and writes that section at `at`: tail_size() bytes. Returns the end.
std::uint8_t* write_tail(const SigningKey& key, const std::uint8_t* begin,
                         std::uint8_t* at);

// A copy of an envelope with a new signature section, and with the digests of buffers
// that a signed envelope has. Views the original.
class SignedCopy {
 public:
  // Errors: those of open_whole(). Envelope and key must outlive this.
  static Result<SignedCopy> make(BytesView envelope, const SigningKey& key);

  std::size_t size() const { return size_; }
  // Writes size() bytes.
  void write_at(std::uint8_t* out) const;

 private:
  SignedCopy(BytesView start, const SigningKey& key) : start_(start), key_(&key) {}

  BytesView start_;  // The unchanged start.
  const SigningKey* key_;
  std::vector<std::uint8_t> table_;
  std::vector<StoredBuffer> buffers_;
  std::size_t size_ = 0;
};

}  // namespace waybill::envelope
