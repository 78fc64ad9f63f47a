#pragma once

// Memory for the tables of one payload, so that small payloads need few calls of
// malloc.

#include <array>
#include <cstddef>
#include <functional>
#include <new>
#include <vector>

namespace waybill::py {

// Allocates from a fixed buffer, which is freed as a whole. Allocations that do not fit
// use operator new. Not thread-safe.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void* allocate(std::size_t size) {
    const std::size_t rounded = (size + kAlignment - 1) & ~(kAlignment - 1);
    if (rounded > static_cast<std::size_t>(end() - free_)) return ::operator new(size);
    void* place = free_;
    free_ += rounded;
    return place;
  }
  void deallocate(void* place) {
    const auto* byte = static_cast<std::byte*>(place);
    const std::less<> before;
    if (before(byte, buffer_.data()) || !before(byte, end())) ::operator delete(place);
  }

 private:
  static constexpr std::size_t kAlignment = alignof(std::max_align_t);

  const std::byte* end() const { return buffer_.data() + buffer_.size(); }

  alignas(kAlignment) std::array<std::byte, 4096> buffer_;
  std::byte* free_ = buffer_.data();
};

// Allocates for containers in an arena, which must outlive them, or, without an arena,
// by operator new. A copy of a container uses no arena.
template <typename T>
class ArenaAllocator {
 public:
  static_assert(alignof(T) <= alignof(std::max_align_t));
  using value_type = T;

  ArenaAllocator(Arena* arena = nullptr) : arena_(arena) {}
  template <typename Other>
  ArenaAllocator(const ArenaAllocator<Other>& other) : arena_(other.arena()) {}

  T* allocate(std::size_t count) {
    const std::size_t size = count * sizeof(T);
    return static_cast<T*>(arena_ ? arena_->allocate(size) : ::operator new(size));
  }
  void deallocate(T* place, std::size_t) {
    arena_ ? arena_->deallocate(place) : ::operator delete(place);
  }
  ArenaAllocator select_on_container_copy_construction() const { return {}; }
  Arena* arena() const { return arena_; }

  template <typename Other>
  bool operator==(const ArenaAllocator<Other>& other) const {
    return arena_ == other.arena();
  }

 private:
  Arena* arena_;
};

template <typename T>
using ArenaVector = std::vector<T, ArenaAllocator<T>>;

}  // namespace waybill::py
