#pragma once

// What was found in dicts of modules and in sys.modules, for who looks again.

#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "python/runtime/compat.h"
#include "python/runtime/ref.h"

namespace waybill::py {

// dict[name]; null without an error if absent, or if `dict` is null or no dict. Throws
// PyError. Cost: one look-up.
PyObject* raw_get(PyObject* dict, PyObject* name);

// The same, without a look-up where the interpreter's version of the dict says that
// nothing was changed since. No version is given twice, so a dict in the place of one
// that is gone is another. Holds names and no other object; bounded; needs the GIL.
class DictLooks {
 public:
  // Borrowed from the dict.
  PyObject* get(PyObject* dict, PyObject* name) {
    if (!is_in_use_ || dict == nullptr || !PyDict_Check(dict) ||
        !PyUnicode_CheckExact(name)) {
      return raw_get(dict, name);
    }
    const std::uint64_t version = dict_version(dict);
    const Py_hash_t hash = reinterpret_cast<PyASCIIObject*>(name)->hash;
    if (version == 0 || hash == -1) return raw_get(dict, name);  // Not hashed yet.
    Look& look = looks_[place_of(dict, hash)];
    if (look.version == version && is_same(look.name.get(), name)) return look.value;
    return note(look, dict, name);
  }

  void use(bool is_in_use) {
    is_in_use_ = is_in_use;
    clear();
  }
  void clear() { looks_ = {}; }

 private:
  struct Look {
    std::uint64_t version = 0;  // Of no dict.
    Ref name{};                 // Interned.
    PyObject* value = nullptr;  // Of the dict, as long as it has this version.
  };

  static std::size_t place_of(PyObject* dict, Py_hash_t hash) {
    const auto number = reinterpret_cast<std::uintptr_t>(dict) >> 4;
    return (number * 31 ^ static_cast<std::uintptr_t>(hash)) % kLooks;
  }
  static bool is_same(PyObject* known, PyObject* name) {
    return known == name || is_equal(known, name);
  }
  static bool is_equal(PyObject* known, PyObject* name);
  static PyObject* note(Look& look, PyObject* dict, PyObject* name);

  static constexpr std::size_t kLooks = 512;
  std::array<Look, kLooks> looks_;
  bool is_in_use_ = true;
};

}  // namespace waybill::py
