#include "embedded/memory.h"

#include <Python.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace waybill::fuzz {
namespace {

std::size_t live_blocks = 0;  // Needs no lock: Python has one thread here.

void* allocate(void*, std::size_t size) {
  void* block = std::malloc(size == 0 ? 1 : size);
  live_blocks += block != nullptr;
  return block;
}

void* allocate_zeroed(void*, std::size_t count, std::size_t size) {
  void* block = count == 0 || size == 0 ? std::calloc(1, 1) : std::calloc(count, size);
  live_blocks += block != nullptr;
  return block;
}

void* reallocate(void*, void* old, std::size_t size) {
  void* block = std::realloc(old, size == 0 ? 1 : size);
  live_blocks += old == nullptr && block != nullptr;
  return block;
}

void release(void*, void* block) {
  live_blocks -= block != nullptr;
  std::free(block);
}

}  // namespace

void count_python_memory() {
  PyMemAllocatorEx allocator{nullptr, allocate, allocate_zeroed, reallocate, release};
  PyMem_SetAllocator(PYMEM_DOMAIN_MEM, &allocator);
  PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &allocator);
}

void check_memory_growth() {
  constexpr std::uint64_t kPeriod = 4096;
  // Caches of types, names and modules fill up at first.
  constexpr std::size_t kMaxGrowth = 200'000;
  static std::uint64_t calls = 0;
  static std::size_t baseline = 0;
  if (++calls % kPeriod != 0) return;
  PyGC_Collect();
  if (baseline == 0) baseline = live_blocks;
  if (live_blocks <= baseline + kMaxGrowth) return;
  std::fprintf(stderr, "Python's memory grows: %zu blocks, then %zu after %ju inputs\n",
               baseline, live_blocks, static_cast<std::uintmax_t>(calls));
  std::abort();
}

}  // namespace waybill::fuzz
