#pragma once

// Which code bodies of two envelopes differ, and in what.

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/code_listing.h"
#include "waybill/diff.h"

namespace waybill::envelope {

// One side of the first instruction that differs.
struct InstructionText {
  std::uint32_t offset = 0;
  std::string text;  // "LOAD_CONST 1 (2)"; empty where the code ends.
};

struct CodeDifference {
  enum class Kind : std::uint8_t { kChanged, kAdded, kRemoved };
  Kind kind = Kind::kChanged;
  std::string name;  // Qualified.
  // kChanged: "instructions", "constants", "names", "variables", "arguments", "flags",
  // "stack size", "exception table", "nested code" (which has an entry of its own),
  // "which nested code" (of what both have), "name".
  std::vector<std::string> parts;
  // Set if the instructions differ and both can be read.
  bool has_instruction = false;
  InstructionText before;
  InstructionText after;
  // Names, constants and variables that are in one of both: "constants: -1 +2".
  std::vector<std::string> details;

  // Whether nothing differs but code nested in it, which has its own entry.
  bool is_nested_only() const { return parts.size() == 1 && parts[0] == "nested code"; }
};

struct LocationDifference {
  std::string name;
  // Both empty where the file is the same. The views point into the envelopes.
  std::string_view old_file;
  std::string_view new_file;
  std::int64_t old_line = 0;  // co_firstlineno
  std::int64_t new_line = 0;
  bool has_other_lines = false;  // The line tables differ.
};

struct CodeDiff {
  std::vector<CodeDifference> code;
  // The indices, old and new, of bodies that are in `code` as one that changed.
  std::set<std::pair<std::size_t, std::size_t>> changed;
  // Of code that is the same.
  std::vector<LocationDifference> locations;
};

// Compares bodies by hash; those with other hashes by qualified name, in order.
CodeDiff diff_code(const Envelope& old_one, const Envelope& new_one,
                   const ValueNames& old_names, const ValueNames& new_names,
                   const DiffOptions& options);

}  // namespace waybill::envelope
