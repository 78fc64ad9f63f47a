// Text from files and the environment may be a secret, so it is read only into memory
// for secrets. Tested by tests/trust/keys_test.cpp, and
// tests/python/untrusted/test_secrets.py, which searches the memory of a process.

#include "trust/key_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include <sodium.h>

#include "base/hash.h"

namespace waybill {

void SecretDeleter::operator()(std::uint8_t* bytes) const noexcept {
  sodium_free(bytes);  // Wipes the bytes first.
}

namespace envelope {

constexpr KeyForm kPrivateKeyForm = {
    "waybill-ed25519-private:", SignatureAlgorithm::kEd25519, true, false};
constexpr KeyForm kPublicKeyForm = {
    "waybill-ed25519-public:", SignatureAlgorithm::kEd25519, false, true};
constexpr KeyForm kMacKeyForm = {"waybill-mac:", SignatureAlgorithm::kMac, true, true};

namespace {

constexpr const KeyForm* kForms[] = {&kPrivateKeyForm, &kPublicKeyForm, &kMacKeyForm};
// The variant that needs no quoting anywhere.
constexpr int kBase64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING;

// The prefixes of key lines, for messages.
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

// Parses a line into `key`, whose offset and `where` are set.
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
                    "after the colon belong 43 characters, 32 bytes in base64 "
                    "(url-safe, not padded)");
  }
  close_secret(key.bytes);
  if (key.form == &kPublicKeyForm &&
      crypto_core_ed25519_is_valid_point(key.bytes.get()) == 0) {
    return bad_line(key, "these bytes are not a public key");
  }
  return key;
}

constexpr std::size_t kMaxFile = std::size_t{64} << 10;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }

 private:
  int number_;
};

// C functions end a name at its first null, and would ignore the rest.
bool has_null(const std::string& name) { return name.find('\0') != name.npos; }

int open_file(const std::string& path, int flags) {
  constexpr mode_t kOwner = S_IRUSR | S_IWUSR;
  if (!has_null(path)) return ::open(path.c_str(), flags | O_CLOEXEC, kOwner);
  errno = EINVAL;
  return -1;
}

bool is_base64_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         c == '-' || c == '_' || c == '+' || c == '=';
}

// A name for an error message. A caller may pass a key where a file name belongs, and a
// key must not get into logs: a name that may contain one is replaced.
std::string redacted_name(const std::string& name) {
  constexpr std::size_t kMaxRun = 40;  // A key has 43 characters.
  std::size_t run = 0;
  bool is_like_a_key =
      name.find("waybill-") != std::string::npos && name.find(':') != std::string::npos;
  for (const char c : name) {
    run = is_base64_character(c) ? run + 1 : 0;
    is_like_a_key = is_like_a_key || run > kMaxRun;
  }
  return is_like_a_key ? "(a name that is not shown, since it may be a key)" : name;
}

tl::unexpected<Error> bad_key(std::string detail) {
  return tl::unexpected(Error{ErrorCode::kBadKey, 0, std::move(detail)});
}

tl::unexpected<Error> bad_file(const std::string& path, const char* complaint) {
  return bad_key("the key file " + redacted_name(path) + " " + complaint);
}

tl::unexpected<Error> system_failure(const std::string& path, const char* failure) {
  const std::string reason = std::strerror(errno);
  return bad_file(path, (std::string(failure) + ": " + reason).c_str());
}

Result<SecretText> read_all(int file, const std::string& path) {
  SecretText text{make_secret(kMaxFile + 1)};
  while (text.size <= kMaxFile) {
    const ssize_t count =
        ::read(file, text.bytes.get() + text.size, kMaxFile + 1 - text.size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure(path, "cannot be read");
    if (count == 0) return text;
    text.size += static_cast<std::size_t>(count);
  }
  return bad_file(path, "has more than 64 KiB");
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
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
  sodium_memzero(&state, sizeof state);  // The state contains the key.
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
  at[text.size - 1] = '\n';  // Replaces the terminating null.
  return text;
}

Result<std::vector<KeyLine>> read_key_file(const std::string& path) {
  const Descriptor file(open_file(path, O_RDONLY | O_NOCTTY));
  if (file.get() < 0) return system_failure(path, "cannot be opened");
  // The status of the open file: the name may refer to another file by now.
  struct stat status{};
  if (::fstat(file.get(), &status) != 0)
    return system_failure(path, "cannot be examined");
  const Result<SecretText> text = read_all(file.get(), path);
  if (!text) return tl::unexpected(text.error());
  Result<std::vector<KeyLine>> keys =
      parse_keys(text->view(), "the key file " + redacted_name(path));
  if (!keys) return keys;
  const bool has_secret = std::ranges::any_of(
      *keys, [](const KeyLine& key) { return key.form->is_secret(); });
  if (has_secret && (status.st_mode & kOthers) != 0) {
    return bad_file(path, "holds a secret that others may use; chmod 600 it");
  }
  return keys;
}

Result<std::vector<KeyLine>> read_key_variable(const std::string& name) {
  const char* text = has_null(name) ? nullptr : std::getenv(name.c_str());
  if (text == nullptr) {
    return bad_key("there is no environment variable " + redacted_name(name));
  }
  return parse_keys(text, "the environment variable " + redacted_name(name));
}

Result<void> write_key_file(const std::string& path, std::string_view text) {
  const Descriptor file(open_file(path, O_WRONLY | O_CREAT | O_EXCL));
  if (file.get() < 0) {
    return errno == EEXIST ? bad_file(path, "exists; keys are not overwritten")
                           : system_failure(path, "cannot be created");
  }
  if (write_all(file.get(), text)) return {};
  const auto error = system_failure(path, "cannot be written");
  ::unlink(path.c_str());
  return error;
}

SecretBytes make_secret(std::size_t size) {
  base::start_sodium();
  auto* bytes = static_cast<std::uint8_t*>(sodium_malloc(size));
  if (bytes == nullptr) throw std::bad_alloc();
  return SecretBytes(bytes);
}

void close_secret(const SecretBytes& bytes) {
  // On systems without this protection the memory stays writable.
  (void)sodium_mprotect_readonly(bytes.get());
}

}  // namespace envelope
}  // namespace waybill
