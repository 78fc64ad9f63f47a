#pragma once

// Memory for the tables of one payload. Those of a payload with few objects are in a
// buffer of this, so that writing it calls malloc only a few times.

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <memory_resource>
#include <new>

namespace waybill::py {

// What does not fit into the buffer is allocated as usual, and freed as usual. What
// does fit is given back with the buffer.
class PayloadMemory final : public std::pmr::memory_resource {
 public:
  PayloadMemory() = default;
  PayloadMemory(const PayloadMemory&) = delete;
  PayloadMemory& operator=(const PayloadMemory&) = delete;

 private:
  void* do_allocate(std::size_t size, std::size_t alignment) override {
    std::size_t left = static_cast<std::size_t>(end() - free_);
    void* place = free_;
    if (std::align(alignment, size, place, left) == nullptr) {
      return ::operator new(size, std::align_val_t(alignment));
    }
    free_ = static_cast<std::byte*>(place) + size;
    return place;
  }
  void do_deallocate(void* place, std::size_t size, std::size_t alignment) override {
    const auto* byte = static_cast<std::byte*>(place);
    const std::less<> before;
    if (!before(byte, buffer_.data()) && before(byte, end())) return;
    ::operator delete(place, size, std::align_val_t(alignment));
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  const std::byte* end() const { return buffer_.data() + buffer_.size(); }

  alignas(std::max_align_t) std::array<std::byte, 6144> buffer_;
  std::byte* free_ = buffer_.data();
};

}  // namespace waybill::py
