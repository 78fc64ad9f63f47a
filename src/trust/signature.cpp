// Signature sections of envelopes.
// Tested by tests/trust/signature_test.cpp.

#include "waybill/signature.h"

#include <algorithm>

#include <sodium.h>

#include "base/hash.h"
#include "format/buffer_table.h"
#include "text/json.h"
#include "trust/signature_tail.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace waybill {

static_assert(crypto_sign_BYTES == wire::kEd25519Size);
static_assert(crypto_generichash_BYTES == wire::kMacSize);

namespace envelope {
namespace {

constexpr std::uint8_t kBin8 = 0xc4;
// The size of an envelope's digest with its binary head.
constexpr std::size_t kDigestSize = 2 + sizeof(std::uint64_t);

// Offsets within the content of the section.
constexpr std::size_t kKeyIdAt = 1;
constexpr std::size_t kSignatureAt = kKeyIdAt + wire::kKeyIdSize;

// Nothing if the section is not of this algorithm.
std::optional<SignatureInfo> parse_section(BytesView section,
                                           SignatureAlgorithm algorithm) {
  if (section.size() != kSignatureAt + signature_size(algorithm) ||
      section[0] != static_cast<std::uint8_t>(algorithm)) {
    return std::nullopt;
  }
  SignatureInfo info{algorithm, {}};
  std::ranges::copy(section.subspan(kKeyIdAt, wire::kKeyIdSize), info.key.begin());
  return info;
}

}  // namespace

std::optional<SignatureTail> tail_of(BytesView envelope, SignatureAlgorithm algorithm) {
  const std::size_t size = tail_size(algorithm);
  if (envelope.size() < size) return std::nullopt;
  const BytesView tail = envelope.last(size);
  if (tail[0] != kBin8 || tail[1] != size - 2) return std::nullopt;
  const auto info = parse_section(tail.subspan(2), algorithm);
  if (!info) return std::nullopt;
  const std::size_t signed_size = envelope.size() - signature_size(algorithm);
  return SignatureTail{algorithm, info->key, envelope.first(signed_size),
                       envelope.subspan(signed_size)};
}

bool is_signature(SignatureAlgorithm algorithm, const std::uint8_t* key,
                  BytesView message, BytesView signature) {
  base::start_sodium();
  if (algorithm == SignatureAlgorithm::kEd25519) {
    return crypto_sign_verify_detached(signature.data(), message.data(), message.size(),
                                       key) == 0;
  }
  std::uint8_t expected[wire::kMacSize];
  crypto_generichash(expected, sizeof expected, message.data(), message.size(), key,
                     crypto_generichash_KEYBYTES);
  return sodium_memcmp(expected, signature.data(), sizeof expected) == 0;
}

std::uint8_t* write_tail(const SigningKey& key, const std::uint8_t* begin,
                         std::uint8_t* at) {
  const std::size_t size = tail_size(key.algorithm());
  *at++ = kBin8;
  *at++ = static_cast<std::uint8_t>(size - 2);
  *at++ = static_cast<std::uint8_t>(key.algorithm());
  at = std::ranges::copy(key.id(), at).out;
  key.sign_at({begin, at}, at);
  return at + signature_size(key.algorithm());
}

Result<SignedCopy> SignedCopy::make(BytesView envelope, const SigningKey& key) {
  Result<Envelope> opened = open_whole(envelope);
  if (!opened) return tl::unexpected(opened.error());
  const std::size_t end = opened->debug_info.offset + opened->debug_info.bytes.size();
  wire::Reader reader(envelope.subspan(end));
  if (opened->buffers.empty()) {
    reader.skip();  // The digest, which was read before.
    SignedCopy signed_copy(envelope.first(end + reader.offset()), key);
    signed_copy.size_ = signed_copy.start_.size() + tail_size(key.algorithm());
    return signed_copy;
  }
  SignedCopy signed_copy(envelope.first(end), key);
  wire::Writer table;
  rewrite_buffer_table(table, *opened, kStrongDigest);
  signed_copy.table_ = table.take();
  signed_copy.buffers_ = std::move(opened->buffers);
  const std::size_t head =
      end + signed_copy.table_.size() + kDigestSize + tail_size(key.algorithm());
  signed_copy.size_ = head + size_after_head(head, signed_copy.buffers_);
  return signed_copy;
}

void SignedCopy::write_at(std::uint8_t* out) const {
  std::uint8_t* at = std::ranges::copy(start_, out).out;
  if (buffers_.empty()) {
    write_tail(*key_, out, at);
    return;
  }
  at = std::ranges::copy(table_, at).out;
  wire::CursorWriter writer(at);
  writer.binary(base::digest_of({out, at}));
  at = write_tail(*key_, out, writer.at());
  const auto head_size = static_cast<std::size_t>(at - out);
  for (const StoredBuffer& row : buffers_) at = write_buffer(out, at, row.bytes);
  write_trailer(at, head_size);
}

}  // namespace envelope

std::string_view name_of(SignatureAlgorithm algorithm) {
  return algorithm == SignatureAlgorithm::kMac ? "mac" : "ed25519";
}

std::size_t signature_size(SignatureAlgorithm algorithm) {
  return algorithm == SignatureAlgorithm::kMac ? wire::kMacSize : wire::kEd25519Size;
}

std::string to_string(const KeyId& id) { return envelope::hex(id); }

std::optional<SignatureInfo> signature_info(const Envelope& envelope) {
  const auto info =
      envelope::parse_section(envelope.signature, SignatureAlgorithm::kEd25519);
  return info ? info
              : envelope::parse_section(envelope.signature, SignatureAlgorithm::kMac);
}

Result<std::vector<std::uint8_t>> sign(BytesView envelope, const SigningKey& key) {
  const auto signed_copy = envelope::SignedCopy::make(envelope, key);
  if (!signed_copy) return tl::unexpected(signed_copy.error());
  std::vector<std::uint8_t> out(signed_copy->size());
  signed_copy->write_at(out.data());
  return out;
}

}  // namespace waybill
