#pragma once

// Classes whose instances are made and filled as those of most classes are.

#include <Python.h>

#include <array>
#include <cstdint>

namespace waybill::py {

struct Names;

// Remembers classes by address and version: a class that changes, or another at its
// address, has another version. Bounded; holds no reference. Needs the GIL.
class OrdinaryTypes {
 public:
  // Whether object.__new__ makes the instances, and their state goes into a dict of
  // their own that no class has a say in. Runs no code of the class. Throws PyError.
  bool have(const Names& names, PyTypeObject* type);

 private:
  struct Entry {
    PyTypeObject* type = nullptr;
    std::uint32_t version = 0;
  };
  std::array<Entry, 64> entries_;  // Each in the place that its address gives it.
};

}  // namespace waybill::py
