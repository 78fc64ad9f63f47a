// Compares code bodies part by part.
// Tested by tests/diff/diff_test.cpp and tests/cli/test_diff.py.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diff/diff_model.h"
#include "format/source_locations.h"
#include "report/code_listing.h"
#include "text/format_text.h"
#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

using bytecode::ListedInstruction;
using wire::Reader;

constexpr std::size_t kMaxDetailItems = 8;

// The encoded constants of a body.
struct Constants {
  std::vector<std::string_view> values;  // Empty for nested code.
  std::vector<std::string_view> nested;  // Hashes of nested code.
};

Constants constants_of(const CodeFields& fields) {
  Constants constants;
  each_constant(fields.constants, [&](const Reader& constant, BytesView bytes) {
    const auto code = nested_code(constant);
    if (code) constants.nested.push_back(wire::as_text(*code));
    // Nested code keeps its place, so that later constants are compared by position.
    constants.values.push_back(code ? std::string_view() : wire::as_text(bytes));
  });
  return constants;
}

// "names: -a -b +c": the items that only one list has, or how equal items differ.
template <typename List>
std::string describe_difference(const char* what, const List& before, const List& after,
                                bool is_reordered = true) {
  std::map<std::string, int> count;
  for (const auto& item : before) --count[std::string(item)];
  for (const auto& item : after) ++count[std::string(item)];
  std::string out;
  std::size_t shown = 0;
  for (const auto& [item, more] : count) {
    if (more == 0) continue;
    if (shown++ == kMaxDetailItems) return format_text("{}:{} …", what, out);
    out += format_text(" {}{}", more < 0 ? '-' : '+', item);
  }
  if (!out.empty()) return format_text("{}:{}", what, out);
  return format_text("{}: {}", what,
                     is_reordered ? "another order" : "differ beyond what is shown");
}

// Sets one side of the first instruction that differs: "LOAD_CONST 1 (2)". Past the end
// of the code there is an offset and no text.
void set_instruction(const CodeListing& listing, std::size_t index, Json row) {
  row.make_object(2);
  if (index >= listing.instructions().size()) {
    row["offset"] = listing.code_size();
    return;
  }
  const ListedInstruction& listed = listing.instructions()[index];
  std::string text(listed.opcode);
  if (listed.has_argument) {
    text += format_text(" {}", listed.argument);
    const std::string meaning = listing.meaning(listed);
    if (!meaning.empty()) text += format_text(" ({})", meaning);
  }
  row["offset"] = listed.offset;
  row["text"] = text;
}

// Whether the other envelope lacks one of these bodies, which then has an entry itself.
bool is_any_missing(const std::vector<std::string_view>& hashes,
                    const ValueNames& other) {
  return std::ranges::any_of(hashes, [&](std::string_view bytes) {
    ContentHash hash{};
    if (bytes.size() != hash.size()) return true;
    std::ranges::copy(bytes, hash.begin());
    return !other.code_by_hash.contains(hash);
  });
}

bool are_reordered(std::vector<std::string_view> a, std::vector<std::string_view> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  return a == b;
}

void set_first_difference(const CodeListing& old_listing,
                          const CodeListing& new_listing, Json row) {
  const auto& a = old_listing.instructions();
  const auto& b = new_listing.instructions();
  if (a.empty() || b.empty()) return;
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t first = 0;
  while (first < shorter && a[first] == b[first]) ++first;
  set_instruction(old_listing, first, row["old_instruction"]);
  set_instruction(new_listing, first, row["new_instruction"]);
}

// Adds to `row` the parts that differ: "instructions", "constants", "names",
// "variables", "arguments", "flags", "stack size", "exception table", "nested code"
// (which has an entry of its own), "which nested code" (both envelopes have all of it),
// "name"; and as details the names, constants and variables that only one body has.
void compare(const Side& old_side, std::size_t before, const Side& new_side,
             std::size_t after, std::size_t max_text, Json row) {
  const Json parts = row["parts"].make_array();
  const Json details = row["details"].make_array();
  CodeFields a, b;
  if (!read_code_body(old_side.envelope.code[before], a) ||
      !read_code_body(new_side.envelope.code[after], b)) {
    parts.append() = "unreadable bytes";
    return;
  }
  const CodeListing old_listing(a, old_side.envelope.python, old_side.names, max_text);
  const CodeListing new_listing(b, new_side.envelope.python, new_side.names, max_text);
  const auto add_part = [&](bool differs, const char* part) {
    if (differs) parts.append() = part;
    return differs;
  };
  if (add_part(!std::ranges::equal(a.instructions, b.instructions), "instructions")) {
    set_first_difference(old_listing, new_listing, row);
  }
  const Constants old_constants = constants_of(a);
  const Constants new_constants = constants_of(b);
  if (add_part(old_constants.values != new_constants.values, "constants")) {
    details.append() = describe_difference(
        "constants", old_listing.constants(), new_listing.constants(),
        are_reordered(old_constants.values, new_constants.values));
  }
  add_part(old_constants.nested != new_constants.nested,
           is_any_missing(old_constants.nested, new_side.names) ||
                   is_any_missing(new_constants.nested, old_side.names)
               ? "nested code"
               : "which nested code");
  if (add_part(a.names != b.names, "names")) {
    details.append() = describe_difference("names", a.names, b.names);
  }
  if (add_part(a.local_names != b.local_names ||
                   !std::ranges::equal(a.local_kinds, b.local_kinds),
               "variables")) {
    details.append() = describe_difference("variables", a.local_names, b.local_names);
  }
  add_part(a.argument_count != b.argument_count ||
               a.positional_only_count != b.positional_only_count ||
               a.keyword_only_count != b.keyword_only_count,
           "arguments");
  if (add_part(a.flags != b.flags, "flags")) {
    details.append() = format_text("flags: {:#x} {:#x}", a.flags, b.flags);
  }
  add_part(a.stack_size != b.stack_size, "stack size");
  add_part(!std::ranges::equal(a.exception_table, b.exception_table),
           "exception table");
  add_part(a.name != b.name, "name");
  if (parts.empty()) parts.append() = "encoding";
}

// Compares the source locations of bodies that both envelopes have.
void add_locations(const Side& old_side, const Side& new_side, std::size_t max_text,
                   DifferenceList& locations, CodeChanges& changes) {
  const std::vector<FirstLocation> old_locations = first_locations(old_side.envelope);
  const std::vector<FirstLocation> new_locations = first_locations(new_side.envelope);
  for (std::size_t i = 0; i < old_locations.size(); ++i) {
    const auto found = new_side.names.code_by_hash.find(old_side.envelope.code[i].hash);
    if (found == new_side.names.code_by_hash.end()) continue;
    const FirstLocation& before = old_locations[i];
    const FirstLocation& after = new_locations[found->second];
    if (!before.is_known || !after.is_known) continue;
    const bool is_file_new = before.file != after.file;
    const bool is_line_new = before.first_line != after.first_line;
    const bool is_table_new =
        !std::ranges::equal(before.line_table.bytes, after.line_table.bytes) ||
        before.later != after.later;
    if (!is_file_new && !is_line_new && !is_table_new) continue;
    changes.files_differ = changes.files_differ || is_file_new;
    changes.lines_differ = changes.lines_differ || is_line_new || is_table_new;
    const std::optional<Json> row = locations.add(6);
    if (!row) continue;
    (*row)["name"] = old_side.names.code[i];
    if (is_file_new) {
      (*row)["old_file"] = end_of(before.file, max_text);
      (*row)["new_file"] = end_of(after.file, max_text);
    }
    (*row)["old_line"] = before.first_line;
    (*row)["new_line"] = after.first_line;
    (*row)["other_line_table"] = is_table_new;
  }
}

}  // namespace

CodeChanges diff_code(const Side& old_side, const Side& new_side,
                      const DiffOptions& options, DifferenceList& code,
                      DifferenceList& locations) {
  const std::vector<CodeBody>& old_code = old_side.envelope.code;
  const std::vector<CodeBody>& new_code = new_side.envelope.code;
  const auto add_row = [&](const char* change, const std::string& name) {
    const std::optional<Json> row = code.add(6);
    if (!row) return row;
    (*row)["change"] = change;
    (*row)["name"] = name;
    return row;
  };
  CodeChanges changes;
  std::map<std::string_view, std::vector<std::size_t>> only_new;
  for (std::size_t i = 0; i < new_code.size(); ++i) {
    if (old_side.names.code_by_hash.contains(new_code[i].hash)) continue;
    only_new[new_side.names.code[i]].push_back(i);
  }
  std::vector<bool> is_paired(new_code.size());
  // From the end: a body follows the bodies nested in it, and matters more to readers.
  for (std::size_t i = old_code.size(); i-- != 0;) {
    if (new_side.names.code_by_hash.contains(old_code[i].hash)) continue;
    const std::string& name = old_side.names.code[i];
    const auto found = only_new.find(name);
    if (found == only_new.end() || found->second.empty()) {
      add_row("removed", name);
      continue;
    }
    const std::size_t new_index = found->second.back();
    found->second.pop_back();
    is_paired[new_index] = true;
    changes.changed.emplace(i, new_index);
    const std::optional<Json> row = add_row("changed", name);
    if (row) compare(old_side, i, new_side, new_index, options.max_text, *row);
  }
  for (std::size_t i = new_code.size(); i-- != 0;) {
    if (is_paired[i] || old_side.names.code_by_hash.contains(new_code[i].hash))
      continue;
    add_row("added", new_side.names.code[i]);
  }
  add_locations(old_side, new_side, options.max_text, locations, changes);
  return changes;
}

}  // namespace waybill::envelope
