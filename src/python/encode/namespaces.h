#pragma once

// What of the dicts of modules, functions and classes a payload has.

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

// The name that a namespace travels with; borrowed, null for what is no text.
PyObject* namespace_name(const State& state, PyObject* globals);

// The namespaces of functions in a payload. Those that have a name, and say the same of
// themselves, are one to a reader: further dicts of one name get numbers.
class Namespaces {
 public:
  // `arena` outlives this.
  explicit Namespaces(Arena& arena) : known_(&arena) {}

  // The number of a dict among those with its name, package and kind, which is noted.
  std::uint64_t number_of(const State& state, PyObject* globals);
  // Whether two dicts say the same of themselves.
  bool has_twins() const { return has_twins_; }

 private:
  struct Known {
    PyObject* globals;  // Somebody else keeps it alive.
    Ref name, package;
    bool is_package;
    std::uint64_t number;
  };

  static constexpr std::size_t kFew = 8;

  std::uint64_t number_among_many(const Known& own);

  ArenaVector<Known> known_;  // The first ones, which are searched.
  // Of more than a few: the numbers of the others, and how many say the same.
  std::unordered_map<PyObject*, std::uint64_t> numbers_;
  std::unordered_map<std::string, std::uint64_t> counts_;
  bool has_twins_ = false;
};

// The names of one globals dict whose values a payload has, or begins with.
class WrittenNames {
 public:
  // `name` is exact text; it need not be interned.
  bool has(PyObject* name) {
    const Ref interned = intern(name);
    return memo_.find(key_of(interned.get())) != nullptr;
  }

  // Answers whether the name is new.
  bool add(PyObject* name) {
    Ref interned = intern(name);
    const std::uintptr_t key = key_of(interned.get());
    if (memo_.find(key) != nullptr) return false;
    memo_.insert(key, 0);
    keep_.push_back(std::move(interned));
    return true;
  }

 private:
  static Ref intern(PyObject* name) {
    PyObject* interned = Ref::share(name).release();
    if (!PyUnicode_CHECK_INTERNED(interned)) PyUnicode_InternInPlace(&interned);
    return Ref::steal(interned);
  }

  Memo memo_;              // By address.
  std::vector<Ref> keep_;  // Its keys must not be freed and reused.
};

// All such dicts, which somebody else keeps alive.
class WrittenDicts {
 public:
  WrittenNames& names_of(PyObject* globals) { return names_[globals]; }

  // A class that travels by value, and the class whose own dict this is among those
  // that were noted: methods may hold the dict itself (the __classdict__ cell). Null if
  // none.
  void add_class(PyObject* type) {
    const Ref dict = type_dict(as_type(type));
    const std::uintptr_t key = key_of(dict.get());
    if (classes_.find(key) == nullptr) classes_.insert(key, key_of(type));
  }
  PyObject* class_of(PyObject* dict) const {
    const MemoEntry* entry = classes_.find(key_of(dict));
    return entry == nullptr ? nullptr : reinterpret_cast<PyObject*>(entry->offset);
  }

 private:
  std::map<PyObject*, WrittenNames> names_;
  Memo classes_;  // The offset is the address of the class.
};

}  // namespace waybill::py
