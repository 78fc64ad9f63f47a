// Tested by tests/trust/keys_test.cpp and signature_test.cpp.

#include <algorithm>
#include <cstring>

#include <sodium.h>

#include "trust/key_text.h"
#include "trust/secret.h"
#include "waybill/signature.h"

namespace waybill {

using envelope::KeyLine;

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
      lines->size() > 1   ? "there are several keys, and one of them should sign"
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
  // libsodium keeps the public key behind the seed.
  const std::size_t start =
      algorithm_ == SignatureAlgorithm::kMac ? 0 : crypto_sign_SEEDBYTES;
  return {secret_.get() + start, envelope::kKeySize};
}

Result<std::string> SigningKey::public_text() const {
  if (algorithm_ == SignatureAlgorithm::kMac) {
    return tl::unexpected(Error{ErrorCode::kBadKey, 0,
                                "a MAC key has no public half; who checks needs the "
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

}  // namespace waybill
