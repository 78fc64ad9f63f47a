#pragma once

// Signatures: whether an envelope comes, byte for byte, from somebody who has a certain
// key. They are found from the end of the input, so nothing of an envelope is parsed
// before its signature has proven right.
//
//   auto keys = waybill::KeyRing::from_file("sender.pub");
//   if (!keys) return report(keys.error());
//   if (auto verdict = keys->check(bytes); !verdict) return report(verdict.error());
//   auto envelope = waybill::open_whole(bytes);  // Not before.
//
// An envelope that was signed once stays so: who records it can send it again. What to
// do about that, and how keys are made: docs/signatures.md.
//
// Keys are lines of text, "waybill-ed25519-private:…", "waybill-ed25519-public:…" or
// "waybill-mac:…", with 32 bytes in base64 (url-safe, not padded). Blank lines, lines
// that start with # and white space at ends of lines do not count. No error, and
// nothing else here but save(), tells any of a secret one.

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
  // Ed25519 (RFC 8032): who can check can not sign.
  kEd25519 = 1,
  // BLAKE2b-256 with a key: fast, but who can check can sign as well.
  kMac = 2,
};

// "ed25519" or "mac". Static storage.
std::string_view name_of(SignatureAlgorithm algorithm);

// Bytes of a signature: 64 or 32.
std::size_t signature_size(SignatureAlgorithm algorithm);

// Names a key and tells nothing else of it.
using KeyId = std::array<std::uint8_t, 8>;

// 16 hexadecimal digits.
std::string to_string(const KeyId& id);

// Gives back memory of libsodium, which is wiped then.
struct SecretDeleter {
  void operator()(std::uint8_t* bytes) const noexcept;
};

// Memory that is not swapped out, not part of core dumps, read-only once filled, and
// wiped when it is given back.
using SecretBytes = std::unique_ptr<std::uint8_t[], SecretDeleter>;

// What signs. Thread-safe for concurrent use; moved, never copied.
//
// What reads one fails with kBadKey for what is none, or is a public one. All throw
// std::bad_alloc, and std::runtime_error if libsodium cannot start.
class SigningKey {
 public:
  static SigningKey generate(SignatureAlgorithm algorithm);
  // Of text with exactly one key. The text stays the caller's to wipe.
  [[nodiscard]] static Result<SigningKey> from_text(std::string_view text);
  // Of a file of at most 64 KiB, which nobody but its owner may read or write.
  [[nodiscard]] static Result<SigningKey> from_file(const std::string& path);
  // Of the environment variable with that name. The environment keeps its text.
  [[nodiscard]] static Result<SigningKey> from_environment(const std::string& name);

  SignatureAlgorithm algorithm() const { return algorithm_; }
  const KeyId& id() const { return id_; }

  // The line that those get who check. kBadKey for a MAC key: it has no public half.
  [[nodiscard]] Result<std::string> public_text() const;

  // Writes the secret line to a new file that nobody else may read (mode 0600). kBadKey
  // if it cannot be made, or is there already.
  [[nodiscard]] Result<void> save(const std::string& path) const;

  // The signature of any bytes, of signature_size() bytes, to `out`. For Ed25519 that
  // of RFC 8032. Cost: one pass over the bytes, for Ed25519 two.
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

// The keys by which envelopes are accepted: several, so that a new one can be known
// before all senders use it. Holds public keys and MAC keys.
//
// Thread-safe for concurrent reads. Moved, never copied. What makes and adds keys fails
// with kBadKey and then adds nothing; a private key is refused, so that those who only
// check hold nothing that signs.
class KeyRing {
 public:
  KeyRing() = default;

  [[nodiscard]] static Result<KeyRing> from_text(std::string_view text);
  // Files with MAC keys may be read by their owner only.
  [[nodiscard]] static Result<KeyRing> from_file(const std::string& path);
  [[nodiscard]] static Result<KeyRing> from_environment(const std::string& name);

  // Text with one key or more. Keys that are here already are passed over.
  [[nodiscard]] Result<void> add_text(std::string_view text);
  [[nodiscard]] Result<void> add_file(const std::string& path);
  [[nodiscard]] Result<void> add_environment(const std::string& name);
  // What checks the signatures of this key: its public half, or the MAC key itself.
  void add(const SigningKey& key);

  // A ring with the same keys, which later changes of this one do not reach.
  KeyRing clone() const;

  std::size_t size() const { return keys_.size(); }
  // In the order in which they were added.
  std::vector<KeyId> ids() const;

  // Whether `envelope` ends in a signature of one of these keys over all bytes before
  // it; or its head does, where buffers are stored behind it: it is as long as the last
  // 8 bytes say, and its table has digests of them, which open() compares.
  // kBadSignature if not; the words tell whether it is not signed, signed by an unknown
  // key (they name all ids), or not what was signed.
  //
  // Reads nothing but the last 75 bytes, and those of the head, and hashes the rest:
  // says nothing of the form of the envelope. The time depends on the length, on the
  // ids, and for Ed25519 on public values; for a MAC on nothing else. Cost: one pass
  // over the bytes.
  [[nodiscard]] Result<void> check(BytesView envelope) const;

 private:
  struct Key {
    SignatureAlgorithm algorithm;
    KeyId id;
    SecretBytes bytes;  // 32.
  };

  [[nodiscard]] Result<void> add_lines(
      const Result<std::vector<envelope::KeyLine>>& lines);
  void add_key(SignatureAlgorithm algorithm, BytesView bytes);
  // There may be several of an algorithm and id, though nobody makes them by accident.
  bool knows(SignatureAlgorithm algorithm, const KeyId& id) const;
  bool fits(SignatureAlgorithm algorithm, const KeyId& id, BytesView message,
            BytesView signature) const;
  std::string described() const;
  // Whether the bytes end in a signature of a key of the ring; `error` says why not, if
  // they end in one at all.
  bool is_signed(BytesView bytes, Error& error) const;

  std::vector<Key> keys_;
};

// What a signature says of itself.
struct SignatureInfo {
  SignatureAlgorithm algorithm;
  KeyId key;
};

// Of an envelope that open() gave; nothing if it is not signed, or by an algorithm that
// is not known here. Not checked.
[[nodiscard]] std::optional<SignatureInfo> signature_info(const Envelope& envelope);

// The envelope with this key's signature; one that it has is replaced, and buffers get
// the digests that signed envelopes have. The same envelope and key always give the
// same bytes.
//
// Errors: those of open_whole(). Cost: a pass to open it, and those of sign_at().
[[nodiscard]] Result<std::vector<std::uint8_t>> sign(BytesView envelope,
                                                     const SigningKey& key);

}  // namespace waybill
