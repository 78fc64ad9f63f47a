#pragma once

// A file as bytes in memory, which the system reads on access.

#include <string>
#include <system_error>
#include <utility>

#include <tl/expected.hpp>

#include "waybill/bytes.h"

namespace waybill {

// A read-only mapping of a file. POSIX systems only. The file must not be truncated
// meanwhile: access to missing pages ends the process with SIGBUS.
class MappedFile {
 public:
  // Errors: those of open(), fstat() and mmap(). An empty file has no bytes.
  [[nodiscard]] static tl::expected<MappedFile, std::error_code> open(
      const std::string& path);

  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  BytesView bytes() const& { return bytes_; }
  BytesView bytes() && = delete;  // The bytes end with the file.

 private:
  explicit MappedFile(BytesView bytes) : bytes_(bytes) {}

  BytesView bytes_;
};

}  // namespace waybill
