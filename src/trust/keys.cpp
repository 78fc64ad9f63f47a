// SigningKey and KeyRing: keys that sign and keys that verify.
// Tested by tests/trust/signature_test.cpp and keys_test.cpp.

#include <algorithm>
#include <cstring>
#include <utility>

#include <sodium.h>

#include "format/buffer_table.h"
#include "trust/key_text.h"
#include "trust/signature_tail.h"
#include "waybill/signature.h"

namespace waybill {

using envelope::KeyLine;
using envelope::SignatureTail;

// --- SigningKey

static_assert(crypto_sign_SEEDBYTES == envelope::kKeySize);
static_assert(crypto_sign_PUBLICKEYBYTES == envelope::kKeySize);
static_assert(crypto_generichash_KEYBYTES == envelope::kKeySize);

SigningKey::SigningKey(SignatureAlgorithm algorithm, SecretBytes secret)
    : algorithm_(algorithm), secret_(std::move(secret)) {
  envelope::close_secret(secret_);
  id_ = envelope::id_of(algorithm_, verifying_half());
}

SigningKey SigningKey::from_secret(SignatureAlgorithm algorithm,
                                   const SecretBytes& bytes) {
  if (algorithm == SignatureAlgorithm::kMac) {
    SecretBytes key = envelope::make_secret(envelope::kKeySize);
    std::memcpy(key.get(), bytes.get(), envelope::kKeySize);
    return SigningKey(algorithm, std::move(key));
  }
  SecretBytes pair = envelope::make_secret(crypto_sign_SECRETKEYBYTES);
  std::uint8_t public_key[crypto_sign_PUBLICKEYBYTES];
  crypto_sign_seed_keypair(public_key, pair.get(), bytes.get());
  return SigningKey(algorithm, std::move(pair));
}

Result<SigningKey> SigningKey::from_lines(const Result<std::vector<KeyLine>>& lines) {
  if (!lines) return tl::unexpected(lines.error());
  const KeyLine& line = lines->back();
  const char* complaint =
      lines->size() > 1   ? "there are several keys; give only the one that should sign"
      : !line.form->signs ? "a public key signs nothing; give the private one"
                          : nullptr;
  if (complaint != nullptr) {
    return tl::unexpected(
        Error{ErrorCode::kBadKey, line.offset, line.where + ": " + complaint});
  }
  return from_secret(line.form->algorithm, line.bytes);
}

SigningKey SigningKey::generate(SignatureAlgorithm algorithm) {
  const SecretBytes bytes = envelope::make_secret(envelope::kKeySize);
  randombytes_buf(bytes.get(), envelope::kKeySize);
  return from_secret(algorithm, bytes);
}

Result<SigningKey> SigningKey::from_text(std::string_view text) {
  return from_lines(envelope::parse_keys(text));
}

Result<SigningKey> SigningKey::from_file(const std::string& path) {
  return from_lines(envelope::read_key_file(path));
}

Result<SigningKey> SigningKey::from_environment(const std::string& name) {
  return from_lines(envelope::read_key_variable(name));
}

BytesView SigningKey::verifying_half() const {
  // libsodium stores the public key after the seed.
  const std::size_t start =
      algorithm_ == SignatureAlgorithm::kMac ? 0 : crypto_sign_SEEDBYTES;
  return {secret_.get() + start, envelope::kKeySize};
}

Result<std::string> SigningKey::public_text() const {
  if (algorithm_ == SignatureAlgorithm::kMac) {
    return tl::unexpected(Error{ErrorCode::kBadKey, 0,
                                "a MAC key has no public half; the reader needs the "
                                "key itself"});
  }
  std::string text(
      envelope::key_line(envelope::kPublicKeyForm, verifying_half().data()).view());
  text.pop_back();
  return text;
}

Result<void> SigningKey::save(const std::string& path) const {
  const envelope::KeyForm& form = algorithm_ == SignatureAlgorithm::kMac
                                      ? envelope::kMacKeyForm
                                      : envelope::kPrivateKeyForm;
  const envelope::SecretText text = envelope::key_line(form, secret_.get());
  return envelope::write_key_file(path, text.view());
}

void SigningKey::sign_at(BytesView message, std::uint8_t* out) const {
  if (algorithm_ == SignatureAlgorithm::kMac) {
    crypto_generichash(out, signature_size(algorithm_), message.data(), message.size(),
                       secret_.get(), envelope::kKeySize);
  } else {
    crypto_sign_detached(out, nullptr, message.data(), message.size(), secret_.get());
  }
}

// --- KeyRing

Result<KeyRing> KeyRing::from_text(std::string_view text) {
  KeyRing ring;
  return ring.add_text(text).map([&] { return std::move(ring); });
}

Result<KeyRing> KeyRing::from_file(const std::string& path) {
  KeyRing ring;
  return ring.add_file(path).map([&] { return std::move(ring); });
}

Result<KeyRing> KeyRing::from_environment(const std::string& name) {
  KeyRing ring;
  return ring.add_environment(name).map([&] { return std::move(ring); });
}

Result<void> KeyRing::add_text(std::string_view text) {
  return add_lines(envelope::parse_keys(text));
}

Result<void> KeyRing::add_file(const std::string& path) {
  return add_lines(envelope::read_key_file(path));
}

Result<void> KeyRing::add_environment(const std::string& name) {
  return add_lines(envelope::read_key_variable(name));
}

Result<void> KeyRing::add_lines(const Result<std::vector<KeyLine>>& lines) {
  if (!lines) return tl::unexpected(lines.error());
  for (const KeyLine& line : *lines) {
    if (line.form->verifies) continue;
    return tl::unexpected(Error{ErrorCode::kBadKey, line.offset,
                                line.where +
                                    ": a private key signs; a reader needs the public "
                                    "one"});
  }
  for (const KeyLine& line : *lines) {
    add_key(line.form->algorithm, {line.bytes.get(), envelope::kKeySize});
  }
  return {};
}

void KeyRing::add(const SigningKey& key) {
  add_key(key.algorithm(), key.verifying_half());
}

void KeyRing::add_key(SignatureAlgorithm algorithm, BytesView bytes) {
  const bool is_present = std::ranges::any_of(keys_, [&](const Key& key) {
    return key.algorithm == algorithm &&
           sodium_memcmp(key.bytes.get(), bytes.data(), bytes.size()) == 0;
  });
  if (is_present) return;
  SecretBytes copy = envelope::make_secret(bytes.size());
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  envelope::close_secret(copy);
  keys_.push_back({algorithm, envelope::id_of(algorithm, bytes), std::move(copy)});
}

KeyRing KeyRing::clone() const {
  KeyRing ring;
  for (const Key& key : keys_) {
    ring.add_key(key.algorithm, {key.bytes.get(), envelope::kKeySize});
  }
  return ring;
}

std::vector<KeyId> KeyRing::ids() const {
  std::vector<KeyId> ids;
  for (const Key& key : keys_) ids.push_back(key.id);
  return ids;
}

bool KeyRing::has_key(SignatureAlgorithm algorithm, const KeyId& id) const {
  return std::ranges::any_of(keys_, [&](const Key& key) {
    return key.algorithm == algorithm && key.id == id;
  });
}

bool KeyRing::matches_key(SignatureAlgorithm algorithm, const KeyId& id,
                          BytesView message, BytesView signature) const {
  return std::ranges::any_of(keys_, [&](const Key& key) {
    return key.algorithm == algorithm && key.id == id &&
           envelope::is_signature(algorithm, key.bytes.get(), message, signature);
  });
}

std::string KeyRing::key_ids_text() const {
  constexpr std::size_t kMaxShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(keys_.size(), kMaxShown); ++i) {
    text += (i == 0 ? "" : ", ") + to_string(keys_[i].id);
  }
  if (keys_.size() > kMaxShown) {
    text += " and " + std::to_string(keys_.size() - kMaxShown) + " more";
  }
  return text;
}

bool KeyRing::is_signed(BytesView bytes, Error& error) const {
  for (const SignatureAlgorithm algorithm :
       {SignatureAlgorithm::kEd25519, SignatureAlgorithm::kMac}) {
    const auto tail = envelope::tail_of(bytes, algorithm);
    if (!tail) continue;
    if (matches_key(algorithm, tail->key, tail->message, tail->signature)) return true;
    error.offset = bytes.size() - envelope::tail_size(algorithm);
    error.detail = "signed by the " + std::string(name_of(algorithm)) + " key " +
                   to_string(tail->key);
    if (has_key(algorithm, tail->key)) {
      error.detail += ", and the bytes are not those that were signed";
    } else if (keys_.empty()) {
      error.detail += ", and the reader has no key";
    } else {
      error.detail += ", and the reader has " + key_ids_text();
    }
  }
  return false;
}

Result<void> KeyRing::check(BytesView envelope) const {
  Error error{ErrorCode::kBadSignature, envelope.size(),
              "the envelope is not signed, and the reader demands a signature"};
  // A signed head is as its sender wrote it, whatever bytes follow. Its table of
  // buffers decides whether these belong to it.
  if (is_signed(envelope, error) ||
      is_signed(envelope::claimed_head(envelope), error)) {
    return {};
  }
  return tl::unexpected(std::move(error));
}

}  // namespace waybill
