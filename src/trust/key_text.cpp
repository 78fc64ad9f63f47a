// Tested by tests/trust/keys_test.cpp.

#include "trust/key_text.h"

#include <algorithm>
#include <cstring>

#include <sodium.h>

namespace waybill::envelope {

constexpr KeyForm kPrivateKeyForm = {
    "waybill-ed25519-private:", SignatureAlgorithm::kEd25519, true, false};
constexpr KeyForm kPublicKeyForm = {
    "waybill-ed25519-public:", SignatureAlgorithm::kEd25519, false, true};
constexpr KeyForm kMacKeyForm = {"waybill-mac:", SignatureAlgorithm::kMac, true, true};

namespace {

constexpr const KeyForm* kForms[] = {&kPrivateKeyForm, &kPublicKeyForm, &kMacKeyForm};
// Of all variants the one that needs no quoting anywhere.
constexpr int kBase64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING;

// How lines of keys start.
constexpr const char* kPrefixes =
    "waybill-ed25519-private:, waybill-ed25519-public: or waybill-mac:";

tl::unexpected<Error> bad_line(const KeyLine& line, const std::string& complaint) {
  return tl::unexpected(
      Error{ErrorCode::kBadKey, line.offset, line.where + ": " + complaint});
}

std::string_view without_end(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r");
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// `key` has its place already.
Result<KeyLine> parse_line(std::string_view line, KeyLine key) {
  const auto* const found = std::ranges::find_if(
      kForms, [&](const KeyForm* form) { return line.starts_with(form->prefix); });
  if (found == std::end(kForms)) {
    return bad_line(key, std::string("a key starts with ") + kPrefixes);
  }
  key.form = *found;
  key.bytes = make_secret(kKeySize);
  line.remove_prefix(key.form->prefix.size());
  std::size_t size = 0;
  if (sodium_base642bin(key.bytes.get(), kKeySize, line.data(), line.size(), nullptr,
                        &size, nullptr, kBase64) != 0 ||
      size != kKeySize) {
    return bad_line(key,
                    "after the colon stand 43 characters, 32 bytes in base64 "
                    "(url-safe, not padded)");
  }
  close_secret(key.bytes);
  if (key.form == &kPublicKeyForm &&
      crypto_core_ed25519_is_valid_point(key.bytes.get()) == 0) {
    return bad_line(key, "these bytes are no public key");
  }
  return key;
}

}  // namespace

const KeyForm& verifying_form(SignatureAlgorithm algorithm) {
  return algorithm == SignatureAlgorithm::kMac ? kMacKeyForm : kPublicKeyForm;
}

KeyId id_of(SignatureAlgorithm algorithm, BytesView key) {
  const std::string_view prefix = verifying_form(algorithm).prefix;
  std::uint8_t hash[crypto_generichash_BYTES];
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, sizeof hash);
  crypto_generichash_update(
      &state, reinterpret_cast<const std::uint8_t*>(prefix.data()), prefix.size());
  crypto_generichash_update(&state, key.data(), key.size());
  crypto_generichash_final(&state, hash, sizeof hash);
  sodium_memzero(&state, sizeof state);  // It held the key.
  KeyId id;
  std::copy_n(hash, id.size(), id.begin());
  return id;
}

Result<std::vector<KeyLine>> parse_keys(std::string_view text,
                                        const std::string& place) {
  std::vector<KeyLine> keys;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = without_end(text.substr(at, end - at));
    ++number;
    if (!line.empty() && line[0] != '#') {
      Result<KeyLine> key = parse_line(
          line, {nullptr, {}, at, "line " + std::to_string(number) + " of " + place});
      if (!key) return tl::unexpected(std::move(key.error()));
      keys.push_back(std::move(*key));
    }
    at = end + 1;
  }
  if (keys.empty()) {
    return tl::unexpected(Error{
        ErrorCode::kBadKey, 0,
        "there is no key in " + place + "; a line with one starts with " + kPrefixes});
  }
  return keys;
}

SecretText key_line(const KeyForm& form, const std::uint8_t* bytes) {
  constexpr std::size_t kEncoded = sodium_base64_ENCODED_LEN(kKeySize, kBase64);
  SecretText text;
  text.bytes = make_secret(form.prefix.size() + kEncoded);
  char* at = reinterpret_cast<char*>(text.bytes.get());
  std::memcpy(at, form.prefix.data(), form.prefix.size());
  sodium_bin2base64(at + form.prefix.size(), kEncoded, bytes, kKeySize, kBase64);
  text.size = form.prefix.size() + kEncoded;
  at[text.size - 1] = '\n';  // In the place of its null.
  return text;
}

}  // namespace waybill::envelope
