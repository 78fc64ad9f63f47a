#pragma once

// Classes whose instances are made, filled and dropped as those of most classes are.

#include <Python.h>

#include <array>
#include <cstdint>

#include "python/runtime/compat.h"

namespace waybill::py {

struct Names;

// Remembers classes by address and version: a class that changes, or another at its
// address, has another version. Bounded; holds no reference. Needs the GIL.
class KnownTypes {
 public:
  bool know(PyTypeObject* type) const {
    const Entry& entry = entries_[place_of(type)];
    return type == entry.type && entry.version != 0 &&
           entry.version == type_version(type);
  }
  // `version`: of the class when it was looked at.
  void note(PyTypeObject* type, std::uint32_t version) {
    entries_[place_of(type)] = {type, version};
  }

 private:
  struct Entry {
    PyTypeObject* type = nullptr;
    std::uint32_t version = 0;
  };
  static std::size_t place_of(PyTypeObject* type) {
    const auto address = reinterpret_cast<std::uintptr_t>(type);
    return (address >> 4 ^ address >> 10) % kPlaces;
  }

  static constexpr std::size_t kPlaces = 64;
  std::array<Entry, kPlaces> entries_;  // Each in the place that its address gives it.
};

class OrdinaryTypes : public KnownTypes {
 public:
  // Whether object.__new__ makes the instances, their state goes into a dict of their
  // own that no class has a say in, and nothing is called when they go. Runs no code of
  // the class unless its dict has keys with code of their own; none if it is known.
  // Throws PyError.
  bool have(const Names& names, PyTypeObject* type);
};

}  // namespace waybill::py
