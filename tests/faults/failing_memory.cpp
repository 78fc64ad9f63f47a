// Replaces the operators new and delete of the whole executable.

#include "faults/failing_memory.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace waybill::faults {

namespace {

std::atomic<std::size_t> held{0};

struct Plan {
  bool is_on = false;
  std::size_t after = 0;
  std::size_t count = 0;
  bool has_failed_allocation = false;
};
thread_local Plan plan;

bool is_to_fail() {
  if (!plan.is_on) return false;
  if (plan.after > 0) {
    --plan.after;
    return false;
  }
  if (plan.count == 0) return false;
  --plan.count;
  plan.has_failed_allocation = true;
  return true;
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (is_to_fail()) return nullptr;
  // aligned_alloc wants a multiple of the alignment, and malloc more than nothing.
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* block = alignment <= alignof(std::max_align_t)
                    ? std::malloc(size == 0 ? 1 : size)
                    : std::aligned_alloc(alignment, rounded);
  if (block != nullptr) ++held;
  return block;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* block = allocate(size, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void release(void* block) {
  if (block == nullptr) return;
  --held;
  std::free(block);
}

constexpr std::size_t kUsual = alignof(std::max_align_t);

}  // namespace

std::size_t blocks_held() { return held; }

MemoryShortage::MemoryShortage(std::size_t after, std::size_t count) {
  plan = {true, after, count, false};
}
MemoryShortage::~MemoryShortage() { plan.is_on = false; }
bool MemoryShortage::has_failed_allocation() const {
  return plan.has_failed_allocation;
}

}  // namespace waybill::faults

using waybill::faults::allocate;
using waybill::faults::allocate_or_throw;
using waybill::faults::kUsual;
using waybill::faults::release;

// The forms for arrays, and those with a size, call these by default.
void* operator new(std::size_t size) { return allocate_or_throw(size, kUsual); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, kUsual);
}
void operator delete(void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  release(block);
}
