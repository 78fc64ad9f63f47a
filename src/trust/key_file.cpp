// Keys in files and in the environment. What is read goes into memory for secrets and
// nowhere else.
// Tested by tests/trust/keys_test.cpp.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "trust/key_text.h"

namespace waybill::envelope {
namespace {

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

// A name ends at its first null, and what stands after that would be passed over.
bool has_null(const std::string& name) { return name.find('\0') != name.npos; }

int open_file(const std::string& path, int flags) {
  constexpr mode_t kOwner = S_IRUSR | S_IWUSR;
  if (!has_null(path)) return ::open(path.c_str(), flags | O_CLOEXEC, kOwner);
  errno = EINVAL;
  return -1;
}

bool is_of_base64(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         c == '-' || c == '_' || c == '+' || c == '=';
}

// A name for an error's words. Who gives a key where its file's name belongs should not
// find it in a log: what may be one, or hold one, is not told.
std::string told(const std::string& name) {
  constexpr std::size_t kLongest = 40;  // A key has 43 characters.
  std::size_t run = 0;
  bool is_like_a_key =
      name.find("waybill-") != std::string::npos && name.find(':') != std::string::npos;
  for (const char c : name) {
    run = is_of_base64(c) ? run + 1 : 0;
    is_like_a_key = is_like_a_key || run > kLongest;
  }
  return is_like_a_key ? "(a name that is not told, since it may be a key)" : name;
}

tl::unexpected<Error> bad_key(std::string detail) {
  return tl::unexpected(Error{ErrorCode::kBadKey, 0, std::move(detail)});
}

tl::unexpected<Error> bad_file(const std::string& path, const char* complaint) {
  return bad_key("the key file " + told(path) + " " + complaint);
}

tl::unexpected<Error> failed(const std::string& path, const char* deed) {
  const std::string reason = std::strerror(errno);
  return bad_file(path, (std::string(deed) + ": " + reason).c_str());
}

Result<SecretText> read_all(int file, const std::string& path) {
  SecretText text{make_secret(kMaxFile + 1)};
  while (text.size <= kMaxFile) {
    const ssize_t count =
        ::read(file, text.bytes.get() + text.size, kMaxFile + 1 - text.size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(path, "cannot be read");
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

Result<std::vector<KeyLine>> read_key_file(const std::string& path) {
  const Descriptor file(open_file(path, O_RDONLY | O_NOCTTY));
  if (file.get() < 0) return failed(path, "cannot be opened");
  // Of the open file: its name may mean another by now.
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return failed(path, "cannot be looked at");
  const Result<SecretText> text = read_all(file.get(), path);
  if (!text) return tl::unexpected(text.error());
  Result<std::vector<KeyLine>> keys =
      parse_keys(text->view(), "the key file " + told(path));
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
    return bad_key("there is no environment variable " + told(name));
  }
  return parse_keys(text, "the environment variable " + told(name));
}

Result<void> write_key_file(const std::string& path, std::string_view text) {
  const Descriptor file(open_file(path, O_WRONLY | O_CREAT | O_EXCL));
  if (file.get() < 0) {
    return errno == EEXIST ? bad_file(path, "exists; keys are not overwritten")
                           : failed(path, "cannot be made");
  }
  if (write_all(file.get(), text)) return {};
  const auto error = failed(path, "cannot be written");
  ::unlink(path.c_str());
  return error;
}

}  // namespace waybill::envelope
