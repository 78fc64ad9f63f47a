// The parts of the writer that are not in the path of every token.
// Tested by tests/wire/writer_test.cpp.

#include "wire/writer.h"

#include <algorithm>

namespace waybill::wire {

void Buffer::grow(std::size_t size) {
  const std::size_t wanted = std::max(size_ + size, capacity_ * 2);
  const bool is_near = data_ == near_;
  void* moved = std::realloc(is_near ? nullptr : data_, wanted);
  if (moved == nullptr) throw std::bad_alloc();
  if (is_near) std::memcpy(moved, near_, size_);
  data_ = static_cast<std::uint8_t*>(moved);
  capacity_ = wanted;
}

std::vector<std::uint8_t> Writer::take() {
  const BytesView bytes = view();
  std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  clear();
  return copy;
}

}  // namespace waybill::wire
