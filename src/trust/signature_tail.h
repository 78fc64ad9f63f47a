#pragma once

// The last bytes of a signed envelope: the signature section, of a fixed size for each
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

// What a tail says, and what it covers: views of the input.
struct SignatureTail {
  SignatureAlgorithm algorithm;
  KeyId key;
  BytesView message;
  BytesView signature;
};

// The tail of this algorithm, if the bytes end in what looks like one.
std::optional<SignatureTail> tail_of(BytesView envelope, SignatureAlgorithm algorithm);

// Whether that is the signature of these bytes, by the key (32 bytes) that checks it.
// No shorter for one that is nearly right.
bool is_signature(SignatureAlgorithm algorithm, const std::uint8_t* key,
                  BytesView message, BytesView signature);

// Signs the bytes from `begin` to `at`, which are all of an envelope but its last
// section, and writes that section after them: tail_size() bytes. Returns the end.
std::uint8_t* write_tail(const SigningKey& key, const std::uint8_t* begin,
                         std::uint8_t* at);

// An envelope that gets a new last section, and its buffers the digests that a signed
// one has. Views the bytes of the old one.
class Resigning {
 public:
  // Errors: those of open_whole(). Both must outlive it.
  static Result<Resigning> make(BytesView envelope, const SigningKey& key);

  std::size_t size() const { return size_; }
  // Writes size() bytes.
  void write_at(std::uint8_t* out) const;

 private:
  Resigning(BytesView start, const SigningKey& key) : start_(start), key_(&key) {}

  BytesView start_;  // What stays as it is.
  const SigningKey* key_;
  std::vector<std::uint8_t> table_;
  std::vector<StoredBuffer> buffers_;
  std::size_t size_ = 0;
};

}  // namespace waybill::envelope
