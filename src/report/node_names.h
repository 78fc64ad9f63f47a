#pragma once

// What nodes are called: "datetime.date" of an object that this makes, "f" of a
// function by value, "os" of a module.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/value_view.h"

namespace waybill::envelope {

// What names are told from besides the envelope, and how.
struct NodeNames {
  // Who asks often has these at hand: names of code by index, and where each class by
  // value stands and where its name does, in order. Without them code is read for each
  // name, and what stands before the name of a class.
  const std::vector<std::string>* code = nullptr;
  const std::vector<std::pair<std::size_t, std::size_t>>* classes = nullptr;
  std::size_t longest = std::string::npos;  // Bytes of a name that are told.
  std::string_view builtins = "builtins.";  // What the names of built-ins begin with.
};

// The name that tells best what a value is. Empty where none is known. The envelope has
// passed verify().
std::string name_of(const ValueView& value, const NodeNames& names = {});

// What Python calls a value; of a node that Python does not know, the node's name.
std::string type_of(const ValueView& value);

}  // namespace waybill::envelope
