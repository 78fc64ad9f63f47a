// Tested by tests/parts/mapped_file_test.cpp.

#include "waybill/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "format/frame.h"
#include "waybill/parts.h"

namespace waybill {
namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

tl::unexpected<std::error_code> last_error() {
  return tl::unexpected(std::error_code(errno, std::generic_category()));
}

// Attaches the buffers that the file holds completely.
void attach_complete_buffers(Envelope& head, BytesView file) {
  for (StoredBuffer& row : head.buffers) {
    const std::uint64_t start = head.buffers_offset + row.offset;
    if (start <= file.size() && row.stored_length <= file.size() - start) {
      row.bytes = file.subspan(start, row.stored_length);
    }
  }
}

}  // namespace

tl::expected<MappedFile, std::error_code> MappedFile::open(const std::string& path) {
  const Descriptor file(path);
  struct stat status{};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) return last_error();
  if (!S_ISREG(status.st_mode)) {
    return tl::unexpected(std::make_error_code(std::errc::no_such_device));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return MappedFile(BytesView());
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
  if (memory == MAP_FAILED) return last_error();
  return MappedFile({static_cast<const std::uint8_t*>(memory), size});
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

Result<VerifiedEnvelope> open_mapped(BytesView file, const Limits& limits) {
  return open_mapped(file, file, limits);
}

Result<VerifiedEnvelope> open_mapped(BytesView head, BytesView file,
                                     const Limits& limits, FileEnd end) {
  Result<Envelope> envelope = open_head(head, limits);
  if (!envelope) return tl::unexpected(std::move(envelope.error()));
  if (end == FileEnd::kCut && file.size() < envelope->size) {
    attach_complete_buffers(*envelope, file);
    return verify(*std::move(envelope), limits);
  }
  if (Result<void> attached = attach_buffers(*envelope, file); !attached) {
    return tl::unexpected(std::move(attached.error()));
  }
  if (envelope->size != file.size()) {
    return tl::unexpected(envelope::trailing_bytes(envelope->size, file.size()));
  }
  return verify(*std::move(envelope), limits);
}

}  // namespace waybill
