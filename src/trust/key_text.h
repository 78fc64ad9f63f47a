#pragma once

// Keys as lines of text, and where such text is read from.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/signature.h"

namespace waybill::envelope {

// `size` bytes of memory for a secret, to be filled and then closed. Throws
// std::bad_alloc.
SecretBytes make_secret(std::size_t size);

// From now on the memory can only be read.
void close_secret(const SecretBytes& bytes);

// Text in such memory.
struct SecretText {
  SecretBytes bytes;
  std::size_t size = 0;

  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes.get()), size};
  }
};

// Bytes of a key as text has them: the seed of a private one, a public one, a MAC key.
inline constexpr std::size_t kKeySize = 32;

// The kinds of line.
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

// The form of what checks the signatures of an algorithm.
const KeyForm& verifying_form(SignatureAlgorithm algorithm);

// The id of such a key: the start of a hash, so it tells nothing else.
KeyId id_of(SignatureAlgorithm algorithm, BytesView key);

struct KeyLine {
  const KeyForm* form;
  SecretBytes bytes;       // kKeySize, closed.
  std::size_t offset = 0;  // Of the line in its text.
  std::string where;       // "line 3 of the key file a.key".
};

// All keys of the text, at least one. kBadKey for a line that is none. `place` says in
// errors what the text is: "the key file a.key".
Result<std::vector<KeyLine>> parse_keys(std::string_view text,
                                        const std::string& place = "the text");

// The line of a key, with its end.
SecretText key_line(const KeyForm& form, const std::uint8_t* bytes);

// All keys of a file. kBadKey if it cannot be read, or has a secret one and others than
// its owner may use it.
Result<std::vector<KeyLine>> read_key_file(const std::string& path);

// All keys of an environment variable. kBadKey if there is none.
Result<std::vector<KeyLine>> read_key_variable(const std::string& name);

// Makes a file that only its owner may use, with this text. kBadKey if it cannot be
// made or is there already.
Result<void> write_key_file(const std::string& path, std::string_view text);

}  // namespace waybill::envelope
