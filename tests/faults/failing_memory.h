#pragma once

// Makes allocations of this executable fail, and counts the blocks in use, so that
// tests can check that a failure leaks nothing.

#include <cstddef>

namespace waybill::faults {

// Blocks that operator new gave and that are not freed.
std::size_t blocks_held();

// While it exists, `count` allocations of this thread fail, after `after` that succeed.
// A thread has at most one.
class MemoryShortage {
 public:
  MemoryShortage(std::size_t after, std::size_t count);
  ~MemoryShortage();
  MemoryShortage(const MemoryShortage&) = delete;
  MemoryShortage& operator=(const MemoryShortage&) = delete;

  // Whether any allocation has failed.
  bool has_failed_allocation() const;
};

}  // namespace waybill::faults
