#pragma once

// The memory of this executable, which can be told to run out. It counts what is held,
// so that nothing that fails may leave anything behind.

#include <cstddef>

namespace waybill::faults {

// Blocks that operator new gave and that are not freed.
std::size_t blocks_held();

// From here to its end, allocations of this thread fail: those after the first `after`,
// `count` of them. One at a time in each thread.
class MemoryShortage {
 public:
  MemoryShortage(std::size_t after, std::size_t count);
  ~MemoryShortage();
  MemoryShortage(const MemoryShortage&) = delete;
  MemoryShortage& operator=(const MemoryShortage&) = delete;

  // Whether any allocation has failed.
  bool was_felt() const;
};

}  // namespace waybill::faults
