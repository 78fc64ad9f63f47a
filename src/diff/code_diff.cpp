// Tested by tests/diff/diff_test.cpp and tests/cli/test_diff.py.

#include "diff/code_diff.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "format/source_locations.h"
#include "text/format_text.h"
#include "waybill/report.h"

namespace waybill::envelope {
namespace {

using bytecode::ListedInstruction;
using wire::Reader;

constexpr std::size_t kMostWords = 8;  // Of a detail.

// A body with all that is asked of it.
struct Body {
  Body(const Envelope& envelope, std::size_t index) {
    is_sound = read_code_body(envelope.code[index], fields);
  }
  CodeFields fields;
  bool is_sound;
};

struct Constants {
  std::vector<BytesView> values;  // Without nested code.
  std::vector<BytesView> nested;  // Hashes.
};

Constants constants_of(const CodeFields& fields) {
  Constants constants;
  each_constant(fields.constants, [&](const Reader& constant, BytesView bytes) {
    const auto code = nested_code(constant);
    if (code) constants.nested.push_back(*code);
    // It stays among the others, so that what comes after it compares.
    constants.values.push_back(code ? BytesView{} : bytes);
  });
  return constants;
}

bool are_equal(const std::vector<BytesView>& one, const std::vector<BytesView>& other) {
  return std::ranges::equal(
      one, other, [](BytesView a, BytesView b) { return std::ranges::equal(a, b); });
}

// "names: -a -b +c": what only one of the two has, as far as its words are shown.
template <typename List>
std::string detail(const char* what, const List& before, const List& after,
                   bool are_all_the_same = true) {
  std::map<std::string, int> count;
  for (const auto& word : before) --count[std::string(word)];
  for (const auto& word : after) ++count[std::string(word)];
  std::string out;
  std::size_t told = 0;
  for (const auto& [word, more] : count) {
    if (more == 0) continue;
    if (told++ == kMostWords) return format_text("{}:{} …", what, out);
    out += format_text(" {}{}", more < 0 ? '-' : '+', word);
  }
  if (!out.empty()) return format_text("{}:{}", what, out);
  return format_text(
      "{}: {}", what,
      are_all_the_same ? "another order" : "differ beyond what is shown");
}

InstructionText instruction_text(const CodeListing& listing, std::size_t index,
                                 std::size_t code_size) {
  if (index >= listing.instructions().size()) {
    return {static_cast<std::uint32_t>(code_size), ""};
  }
  const ListedInstruction& listed = listing.instructions()[index];
  InstructionText out{listed.offset, std::string(listed.opcode)};
  if (!listed.has_argument) return out;
  out.text += format_text(" {}", listed.argument);
  const std::string meaning = listing.meaning(listed);
  if (!meaning.empty()) out.text += format_text(" ({})", meaning);
  return out;
}

class Comparer {
 public:
  Comparer(const Envelope& old_one, const Envelope& new_one,
           const ValueNames& old_names, const ValueNames& new_names,
           std::size_t max_text)
      : old_one_(old_one),
        new_one_(new_one),
        old_names_(old_names),
        new_names_(new_names),
        max_text_(max_text) {}

  CodeDifference changed(std::size_t before, std::size_t after) const {
    const Body old_body(old_one_, before);
    const Body new_body(new_one_, after);
    CodeDifference found;
    found.name = old_names_.code[before];
    if (!old_body.is_sound || !new_body.is_sound) {
      found.parts.push_back("bytes that cannot be read");
      return found;
    }
    compare(old_body.fields, new_body.fields, found);
    return found;
  }

 private:
  void compare(const CodeFields& a, const CodeFields& b, CodeDifference& found) const {
    const CodeListing one(a, old_one_.python, old_names_, max_text_);
    const CodeListing other(b, new_one_.python, new_names_, max_text_);
    const auto tell = [&](bool differs, const char* part) {
      if (differs) found.parts.push_back(part);
      return differs;
    };
    if (tell(!std::ranges::equal(a.instructions, b.instructions), "instructions")) {
      add_first(one, a.instructions.size(), other, b.instructions.size(), found);
    }
    const Constants old_constants = constants_of(a);
    const Constants new_constants = constants_of(b);
    if (tell(!are_equal(old_constants.values, new_constants.values), "constants")) {
      found.details.push_back(detail("constants", one.constants(), other.constants(),
                                     are_reordered(old_constants, new_constants)));
    }
    tell(!are_equal(old_constants.nested, new_constants.nested),
         lacks_one(old_constants.nested, new_names_) ||
                 lacks_one(new_constants.nested, old_names_)
             ? "nested code"
             : "which nested code");
    if (tell(a.names != b.names, "names")) {
      found.details.push_back(detail("names", a.names, b.names));
    }
    if (tell(a.local_names != b.local_names ||
                 !std::ranges::equal(a.local_kinds, b.local_kinds),
             "variables")) {
      found.details.push_back(detail("variables", a.local_names, b.local_names));
    }
    tell(a.argument_count != b.argument_count ||
             a.positional_only_count != b.positional_only_count ||
             a.keyword_only_count != b.keyword_only_count,
         "arguments");
    if (tell(a.flags != b.flags, "flags")) {
      found.details.push_back(format_text("flags: {:#x} {:#x}", a.flags, b.flags));
    }
    tell(a.stack_size != b.stack_size, "stack size");
    tell(!std::ranges::equal(a.exception_table, b.exception_table), "exception table");
    tell(a.name != b.name, "name");
    if (found.parts.empty()) found.parts.push_back("encoding");
  }

  // Whether a body of these is not in the other envelope, and so is told by itself.
  static bool lacks_one(const std::vector<BytesView>& hashes, const ValueNames& other) {
    return std::ranges::any_of(hashes, [&](BytesView bytes) {
      ContentHash hash{};
      if (bytes.size() != hash.size()) return true;
      std::ranges::copy(bytes, hash.begin());
      return !other.code_by_hash.contains(hash);
    });
  }

  static bool are_reordered(Constants one, Constants other) {
    const auto order = [](BytesView a, BytesView b) {
      return std::ranges::lexicographical_compare(a, b);
    };
    std::ranges::sort(one.values, order);
    std::ranges::sort(other.values, order);
    return are_equal(one.values, other.values);
  }

  static void add_first(const CodeListing& one, std::size_t one_size,
                        const CodeListing& other, std::size_t other_size,
                        CodeDifference& found) {
    const auto& a = one.instructions();
    const auto& b = other.instructions();
    if (a.empty() || b.empty()) return;
    const std::size_t shorter = std::min(a.size(), b.size());
    std::size_t first = 0;
    while (first < shorter && a[first] == b[first]) ++first;
    found.has_instruction = true;
    found.before = instruction_text(one, first, one_size);
    found.after = instruction_text(other, first, other_size);
  }

  const Envelope& old_one_;
  const Envelope& new_one_;
  const ValueNames& old_names_;
  const ValueNames& new_names_;
  std::size_t max_text_;
};

// Source locations of code that both have.
void add_locations(const Envelope& old_one, const Envelope& new_one,
                   const ValueNames& old_names, const ValueNames& new_names,
                   CodeDiff& out) {
  const std::vector<FirstLocation> old_locations = first_locations(old_one);
  const std::vector<FirstLocation> new_locations = first_locations(new_one);
  for (std::size_t i = 0; i < old_one.code.size(); ++i) {
    const auto found = new_names.code_by_hash.find(old_one.code[i].hash);
    if (found == new_names.code_by_hash.end()) continue;
    const FirstLocation& before = old_locations[i];
    const FirstLocation& after = new_locations[found->second];
    if (!before.is_known || !after.is_known) continue;
    const bool has_other_file = before.file != after.file;
    const bool has_other_lines =
        !std::ranges::equal(before.line_table.bytes, after.line_table.bytes) ||
        before.later != after.later;
    if (!has_other_file && !has_other_lines && before.first_line == after.first_line) {
      continue;
    }
    out.locations.push_back({old_names.code[i],
                             has_other_file ? before.file : std::string_view(),
                             has_other_file ? after.file : std::string_view(),
                             before.first_line, after.first_line, has_other_lines});
  }
}

}  // namespace

CodeDiff diff_code(const Envelope& old_one, const Envelope& new_one,
                   const ValueNames& old_names, const ValueNames& new_names,
                   const DiffOptions& options) {
  CodeDiff out;
  std::map<std::string_view, std::vector<std::size_t>> only_new;
  for (std::size_t i = 0; i < new_one.code.size(); ++i) {
    if (old_names.code_by_hash.contains(new_one.code[i].hash)) continue;
    only_new[new_names.code[i]].push_back(i);
  }
  const Comparer comparer(old_one, new_one, old_names, new_names, options.max_text);
  std::vector<bool> is_paired(new_one.code.size());
  // From the end: what holds code stands behind it, and is what people look for.
  for (std::size_t i = old_one.code.size(); i-- != 0;) {
    if (new_names.code_by_hash.contains(old_one.code[i].hash)) continue;
    const auto found = only_new.find(old_names.code[i]);
    if (found == only_new.end() || found->second.empty()) {
      CodeDifference& removed = out.code.emplace_back();
      removed.kind = CodeDifference::Kind::kRemoved;
      removed.name = old_names.code[i];
      continue;
    }
    const std::size_t other = found->second.back();
    found->second.pop_back();
    is_paired[other] = true;
    out.changed.emplace(i, other);
    out.code.push_back(comparer.changed(i, other));
  }
  for (std::size_t i = new_one.code.size(); i-- != 0;) {
    if (is_paired[i] || old_names.code_by_hash.contains(new_one.code[i].hash)) continue;
    CodeDifference& added = out.code.emplace_back();
    added.kind = CodeDifference::Kind::kAdded;
    added.name = new_names.code[i];
  }
  add_locations(old_one, new_one, old_names, new_names, out);
  return out;
}

}  // namespace waybill::envelope
