#pragma once

// Keys as lines of text, the files and variables that contain such text, and memory for
// secrets.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/signature.h"

namespace waybill::envelope {

// Allocates memory for a secret, to be filled and then passed to close_secret(). Throws
// std::bad_alloc.
SecretBytes make_secret(std::size_t size);

// Makes the memory read-only.
void close_secret(const SecretBytes& bytes);

// Text in memory for secrets.
struct SecretText {
  SecretBytes bytes;
  std::size_t size = 0;

  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes.get()), size};
  }
};

// The size of an encoded key: the seed of a private key, a public key, a MAC key.
inline constexpr std::size_t kKeySize = 32;

// A kind of key line.
struct KeyForm {
  std::string_view prefix;
  SignatureAlgorithm algorithm;
  bool signs;
  bool verifies;

  bool is_secret() const { return signs; }
};

extern const KeyForm kPrivateKeyForm;
extern const KeyForm kPublicKeyForm;
extern const KeyForm kMacKeyForm;

// The form of the key that verifies signatures of an algorithm.
const KeyForm& verifying_form(SignatureAlgorithm algorithm);

// The id of a verifying key: the first bytes of a hash, which reveal nothing else.
KeyId id_of(SignatureAlgorithm algorithm, BytesView key);

struct KeyLine {
  const KeyForm* form;
  SecretBytes bytes;       // kKeySize bytes, read-only.
  std::size_t offset = 0;  // The offset of the line in the text.
  std::string where;       // "line 3 of the key file a.key".
};

// All keys of a text, at least one. kBadKey for a line that is not a key. `place` names
// the text in errors: "the key file a.key".
Result<std::vector<KeyLine>> parse_keys(std::string_view text,
                                        const std::string& place = "the text");

// The line of a key, with its line end.
SecretText key_line(const KeyForm& form, const std::uint8_t* bytes);

// All keys of a file. kBadKey if it cannot be read, or if it contains a secret key and
// users other than its owner have access.
Result<std::vector<KeyLine>> read_key_file(const std::string& path);

// All keys of an environment variable. kBadKey if it is not set.
Result<std::vector<KeyLine>> read_key_variable(const std::string& name);

// Creates a file with this text that only its owner may access. kBadKey if it exists or
// cannot be created.
Result<void> write_key_file(const std::string& path, std::string_view text);

}  // namespace waybill::envelope
