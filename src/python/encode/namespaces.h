#pragma once

// The namespaces of a payload, and the names in them whose values are written.

#include <Python.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "python/runtime/arena.h"
#include "python/runtime/compat.h"
#include "python/runtime/memo.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The __name__ with which a namespace travels; borrowed; null if it is not a str.
PyObject* namespace_name(const State& state, PyObject* globals);

// The namespaces of functions in a payload. Readers merge namespaces with equal name,
// package and kind, so different dicts that are equal in these get different numbers.
class Namespaces {
 public:
  // `arena` must outlive this.
  explicit Namespaces(Arena& arena) : first_(&arena) {}

  // The number of a dict among those with equal name, package and kind. Adds the dict.
  std::uint64_t number_of(const State& state, PyObject* globals);
  // Whether two dicts have equal name, package and kind.
  bool has_twins() const { return has_twins_; }

 private:
  struct Namespace {
    PyObject* globals;  // Kept alive by its functions.
    Ref name, package;
    bool is_package;
    std::uint64_t number;
  };

  static constexpr std::size_t kFew = 8;

  std::uint64_t number_among_many(const Namespace& own);

  ArenaVector<Namespace> first_;  // The first kFew, which are searched linearly.
  std::unordered_map<PyObject*, std::uint64_t> numbers_;   // The numbers of the others.
  std::unordered_map<std::string, std::uint64_t> counts_;  // By name, package, kind.
  bool has_twins_ = false;
};

// The names of one globals dict whose values are written, or are being written.
class WrittenNames {
 public:
  // `name` is an exact str; it need not be interned.
  bool has(PyObject* name) {
    return memo_.find(key_of(interned(Ref::share(name)).get())) != nullptr;
  }

  // Returns whether the name is new.
  bool add(PyObject* name) {
    Ref held = interned(Ref::share(name));
    const std::uintptr_t key = key_of(held.get());
    if (memo_.find(key) != nullptr) return false;
    memo_.insert(key, 0);
    held_.push_back(std::move(held));
    return true;
  }

 private:
  Memo memo_;              // By address.
  std::vector<Ref> held_;  // Keeps the names alive: their addresses are keys.
};

// The written names of all globals dicts, and the dicts of all classes by value.
class WrittenDicts {
 public:
  WrittenNames& names_of(PyObject* globals) { return names_[globals]; }

  void add_class(PyObject* type) {
    const Ref dict = type_dict(as_type(type));
    const std::uintptr_t key = key_of(dict.get());
    if (classes_.find(key) == nullptr) classes_.insert(key, key_of(type));
  }
  // The class whose dict this is; null if it was not added. Methods may hold the dict
  // itself (the __classdict__ cell).
  PyObject* class_of(PyObject* dict) const {
    const MemoEntry* entry = classes_.find(key_of(dict));
    return entry == nullptr ? nullptr : reinterpret_cast<PyObject*>(entry->offset);
  }

 private:
  std::map<PyObject*, WrittenNames> names_;
  Memo classes_;  // The offset is the address of the class.
};

}  // namespace waybill::py
