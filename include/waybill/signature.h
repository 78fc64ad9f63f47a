#pragma once

// Signatures prove that an envelope comes, byte for byte, from the owner of a key. They
// are found from the end of the input, so nothing of an envelope is parsed before its
// signature is verified.
//
//   auto keys = waybill::KeyRing::from_file("sender.pub");
//   if (!keys) return report(keys.error());
//   if (auto verdict = keys->check(bytes); !verdict) return report(verdict.error());
//   auto envelope = waybill::open_whole(bytes);  // Not before.
//
// A signed envelope stays valid: whoever records it can send it again. See
// docs/signatures.md for remedies, and for making keys.
//
// Keys are lines of text, "waybill-ed25519-private:…", "waybill-ed25519-public:…" or
// "waybill-mac:…", with 32 bytes in base64 (url-safe, not padded). Blank lines, lines
// that start with # and white space at ends of lines are ignored. Errors contain
// nothing of a secret key, and only save() writes one.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/bytes.h"
#include "waybill/envelope.h"
#include "waybill/error.h"

namespace waybill {

namespace envelope {
struct KeyLine;
}

// The numbers are those of the wire.
enum class SignatureAlgorithm : std::uint8_t {
  // Ed25519 (RFC 8032): verifying keys cannot sign.
  kEd25519 = 1,
  // BLAKE2b-256 with a key: fast, but verifying keys can sign too.
  kMac = 2,
};

// "ed25519" or "mac". Static storage.
std::string_view name_of(SignatureAlgorithm algorithm);

// Bytes of a signature: 64 or 32.
std::size_t signature_size(SignatureAlgorithm algorithm);

// Identifies a key, and reveals nothing else about it.
using KeyId = std::array<std::uint8_t, 8>;

// 16 hexadecimal digits.
std::string to_string(const KeyId& id);

// Wipes and frees memory of libsodium.
struct SecretDeleter {
  void operator()(std::uint8_t* bytes) const noexcept;
};

// Memory that is not swapped out, excluded from core dumps, read-only once filled, and
// wiped when it is freed.
using SecretBytes = std::unique_ptr<std::uint8_t[], SecretDeleter>;

// A key that signs. Thread-safe for concurrent use; moved, never copied.
//
// Reading fails with kBadKey for an invalid key and for a public one. All functions
// throw std::bad_alloc, and std::runtime_error if libsodium cannot start.
class SigningKey {
 public:
  static SigningKey generate(SignatureAlgorithm algorithm);
  // From text with exactly one key. The caller wipes the text.
  [[nodiscard]] static Result<SigningKey> from_text(std::string_view text);
  // From a file of at most 64 KiB that only its owner may read or write.
  [[nodiscard]] static Result<SigningKey> from_file(const std::string& path);
  // From an environment variable, which keeps its text.
  [[nodiscard]] static Result<SigningKey> from_environment(const std::string& name);

  SignatureAlgorithm algorithm() const { return algorithm_; }
  const KeyId& id() const { return id_; }

  // The public key line, for readers. kBadKey for a MAC key: it has no public half.
  [[nodiscard]] Result<std::string> public_text() const;

  // Writes the secret key line to a new file with mode 0600. kBadKey if it exists or
  // cannot be created.
  [[nodiscard]] Result<void> save(const std::string& path) const;

  // Writes the signature of `message`, of signature_size() bytes, to `out`. For Ed25519
  // that of RFC 8032. Cost: one pass over the bytes, for Ed25519 two.
  void sign_at(BytesView message, std::uint8_t* out) const;

 private:
  friend class KeyRing;

  SigningKey(SignatureAlgorithm algorithm, SecretBytes secret);
  static SigningKey from_secret(SignatureAlgorithm algorithm, const SecretBytes& bytes);
  [[nodiscard]] static Result<SigningKey> from_lines(
      const Result<std::vector<envelope::KeyLine>>&);
  // The public key, or the MAC key itself.
  BytesView verifying_half() const;

  SignatureAlgorithm algorithm_;
  KeyId id_;
  // Ed25519: seed and public key, 64 bytes. MAC: the key, 32 bytes.
  SecretBytes secret_;
};

// The verifying keys of a reader: several, so that a new key can be added before all
// senders use it. Holds public keys and MAC keys.
//
// Thread-safe for concurrent reads. Moved, never copied. Reading keys fails with
// kBadKey and then adds none. Private keys are refused, so that readers have nothing
// that signs.
class KeyRing {
 public:
  KeyRing() = default;

  [[nodiscard]] static Result<KeyRing> from_text(std::string_view text);
  // A file with MAC keys must be readable by its owner only.
  [[nodiscard]] static Result<KeyRing> from_file(const std::string& path);
  [[nodiscard]] static Result<KeyRing> from_environment(const std::string& name);

  // Add the keys of a text, one or more. Duplicates are ignored.
  [[nodiscard]] Result<void> add_text(std::string_view text);
  [[nodiscard]] Result<void> add_file(const std::string& path);
  [[nodiscard]] Result<void> add_environment(const std::string& name);
  // Adds the verifying key: the public half, or the MAC key itself.
  void add(const SigningKey& key);

  // An independent copy.
  KeyRing clone() const;

  std::size_t size() const { return keys_.size(); }
  // In the order in which they were added.
  std::vector<KeyId> ids() const;

  // Checks that `envelope` ends in a signature of one of these keys over all bytes
  // before it. With stored buffers the head must end so instead: its size is in the
  // last 8 bytes, and its table has the digests of the buffers, which open() checks.
  // kBadSignature otherwise; the detail says whether the envelope is unsigned, signed
  // by an unknown key (with all ids), or altered.
  //
  // Parses only the last 75 bytes, of the envelope and of its head, and hashes the
  // rest; does not check the form of the envelope. The time depends on the length, on
  // the ids, and for Ed25519 on public values; for a MAC on nothing else. Cost: one
  // pass over the bytes.
  [[nodiscard]] Result<void> check(BytesView envelope) const;

 private:
  struct Key {
    SignatureAlgorithm algorithm;
    KeyId id;
    SecretBytes bytes;  // 32 bytes.
  };

  [[nodiscard]] Result<void> add_lines(
      const Result<std::vector<envelope::KeyLine>>& lines);
  void add_key(SignatureAlgorithm algorithm, BytesView bytes);
  // Several keys may have the same algorithm and id, though not by accident.
  bool has_key(SignatureAlgorithm algorithm, const KeyId& id) const;
  bool matches_key(SignatureAlgorithm algorithm, const KeyId& id, BytesView message,
                   BytesView signature) const;
  std::string key_ids_text() const;
  // Whether the bytes end in a signature of a key of the ring. If they end in another
  // signature, `error` says what is wrong with it.
  bool is_signed(BytesView bytes, Error& error) const;

  std::vector<Key> keys_;
};

// Algorithm and key id of a signature.
struct SignatureInfo {
  SignatureAlgorithm algorithm;
  KeyId key;
};

// The signature's algorithm and key id, unchecked; nothing for an unsigned envelope and
// an unknown algorithm.
[[nodiscard]] std::optional<SignatureInfo> signature_info(const Envelope& envelope);

// Signs an envelope, and replaces an existing signature; buffers get the digests that
// signed envelopes have. Deterministic.
//
// Errors: those of open_whole(). Cost: a pass to open it, and those of sign_at().
[[nodiscard]] Result<std::vector<std::uint8_t>> sign(BytesView envelope,
                                                     const SigningKey& key);

}  // namespace waybill
