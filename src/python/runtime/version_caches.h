#pragma once

// Caches whose entries are valid as long as the interpreter's version of a dict or a
// type does not change.

#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "python/runtime/compat.h"
#include "python/runtime/ref.h"

namespace waybill::py {

struct Names;

// dict[name], borrowed; null without an error if absent, or if `dict` is null or not a
// dict. Throws PyError. Cost: one look-up.
PyObject* raw_get(PyObject* dict, PyObject* name);

// raw_get() in the own dict of a type.
inline PyObject* raw_get(PyTypeObject* type, PyObject* name) {
  return raw_get(type_dict(type).get(), name);
}

// Look-ups in the dicts of modules and in sys.modules. A hit needs no look-up in the
// dict. The interpreter never reuses a version, so a new dict at an old address is a
// miss. Holds names and no other object; bounded; needs the GIL.
class DictLookupCache {
 public:
  // raw_get(dict, name).
  PyObject* get(PyObject* dict, PyObject* name) {
    if (!is_enabled_ || dict == nullptr || !PyDict_Check(dict) ||
        !PyUnicode_CheckExact(name)) {
      return raw_get(dict, name);
    }
    const std::uint64_t version = dict_version(dict);
    const Py_hash_t hash = reinterpret_cast<PyASCIIObject*>(name)->hash;
    if (version == 0 || hash == -1) return raw_get(dict, name);  // Not hashed yet.
    Entry& entry = entries_[slot_of(dict, hash)];
    if (entry.version == version && is_same(entry.name.get(), name)) return entry.value;
    return fill(entry, dict, name);
  }

  void set_enabled(bool is_enabled) {
    is_enabled_ = is_enabled;
    clear();
  }
  void clear() { entries_ = {}; }

 private:
  struct Entry {
    std::uint64_t version = 0;  // Of the dict; 0: none.
    Ref name{};                 // Interned.
    PyObject* value = nullptr;  // Owned by the dict while it has this version.
  };

  static std::size_t slot_of(PyObject* dict, Py_hash_t hash) {
    const auto number = reinterpret_cast<std::uintptr_t>(dict) >> 4;
    return (number * 31 ^ static_cast<std::uintptr_t>(hash)) % kEntries;
  }
  static bool is_same(PyObject* a, PyObject* b) { return a == b || is_equal(a, b); }
  static bool is_equal(PyObject* a, PyObject* b);
  static PyObject* fill(Entry& entry, PyObject* dict, PyObject* name);

  static constexpr std::size_t kEntries = 512;
  std::array<Entry, kEntries> entries_;
  bool is_enabled_ = true;
};

// A set of classes that have passed a check, by address and version. A class that has
// changed, or a new class at the same address, has another version. Bounded; holds no
// reference; needs the GIL.
class TypeCache {
 public:
  bool contains(PyTypeObject* type) const {
    const Entry& entry = entries_[slot_of(type)];
    return type == entry.type && entry.version != 0 &&
           entry.version == type_version(type);
  }
  // `version`: that of the class when it passed the check.
  void add(PyTypeObject* type, std::uint32_t version) {
    entries_[slot_of(type)] = {type, version};
  }

 private:
  struct Entry {
    PyTypeObject* type = nullptr;
    std::uint32_t version = 0;
  };
  static std::size_t slot_of(PyTypeObject* type) {
    const auto address = reinterpret_cast<std::uintptr_t>(type);
    return (address >> 4 ^ address >> 10) % kEntries;
  }

  static constexpr std::size_t kEntries = 64;
  std::array<Entry, kEntries> entries_;
};

class OrdinaryTypes : public TypeCache {
 public:
  // Whether a class is ordinary: object.__new__ makes its instances, their state is set
  // in a plain dict, and no finalizer is called. Runs Python code only if the dict of
  // the class has keys that are not exact strs, and only on a miss. Throws PyError.
  bool is_ordinary(const Names& names, PyTypeObject* type);
};

}  // namespace waybill::py
