#pragma once

// The namespaces of functions in a payload. Those that have a name, and say the same of
// themselves, are one to a reader: further dicts of one name get numbers.

#include <Python.h>

#include <cstdint>
#include <string>
#include <unordered_map>

#include "python/runtime/arena.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The name that a namespace travels with; borrowed, null for what is no text.
PyObject* namespace_name(const State& state, PyObject* globals);

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

}  // namespace waybill::py
