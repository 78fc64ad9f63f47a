// The model of a diff, and the model as JSON. diff_text.cpp lays it out as lines.
// Tested by tests/diff/diff_test.cpp and tests/cli/test_diff.py.

#include "waybill/diff.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "diff/code_diff.h"
#include "diff/diff_model.h"
#include "diff/payload_diff.h"
#include "text/format_text.h"
#include "text/json_paint.h"
#include "waybill/signature.h"

namespace waybill {
namespace envelope {
namespace {

constexpr std::size_t kShown = 16;  // Bytes of the application field.

// An array of which `max_items` are shown, with the count of all.
class List {
 public:
  List(Json model, const char* key, std::size_t count, std::size_t max_items)
      : left_(max_items), items_(begin(model[key].make_object(2), count)) {}

  // The next entry, an object with room for so many keys, if it is shown.
  std::optional<Json> next(std::size_t keys) {
    if (left_ == 0) return std::nullopt;
    --left_;
    return items_.append().make_object(keys);
  }

 private:
  static Json begin(Json section, std::size_t count) {
    section["count"] = count;
    return section["items"].make_array();
  }

  std::size_t left_;
  Json items_;
};

void add_header(const Envelope& a, const Envelope& b, Json model) {
  const Json header = model["header"].make_array();
  const auto tell = [&](const char* field, const std::string& before,
                        const std::string& after) {
    if (before == after) return;
    const Json row = header.append().make_object(3);
    row["field"] = field;
    row["old"] = before;
    row["new"] = after;
  };
  tell("python", to_string(a.python), to_string(b.python));
  if (std::ranges::equal(a.application, b.application)) return;
  const auto [end, _] = std::ranges::mismatch(a.application, b.application);
  const auto index = static_cast<std::size_t>(end - a.application.begin());
  // The start, unless both have the same.
  const std::size_t from = index < kShown ? 0 : index - kShown / 2;
  const auto shown = [&](const Envelope& envelope) {
    const BytesView rest = envelope.application.subspan(from);
    return (from == 0 ? "" : "…") + hex(rest.first(std::min(rest.size(), kShown)));
  };
  const Json row = header.append().make_object(4);
  row["field"] = "application";
  if (from != 0) row["index"] = index;
  row["old"] = shown(a);
  row["new"] = shown(b);
}

using ImportKey =
    std::tuple<std::string_view, ImportTime, std::string_view, std::string_view>;

ImportKey key_of(const ImportRecord& record) {
  return {record.module, record.time, record.chain, record.function};
}

void set_import(const ImportRecord& record, const char* change, Json row) {
  row["change"] = change;
  row["module"] = record.module;
  row["time"] = name_of(record.time);
  if (!record.chain.empty()) row["chain"] = record.chain;
  if (!record.function.empty()) row["function"] = record.function;
}

// Imports that only one has, and whether some that both have come from elsewhere.
void add_imports(const Envelope& a, const Envelope& b, std::size_t max_items,
                 Json model, bool& files_differ, bool& lines_differ) {
  std::multimap<ImportKey, const ImportRecord*> old_ones;
  for (const ImportRecord& record : a.manifest.imports) {
    old_ones.emplace(key_of(record), &record);
  }
  std::vector<std::pair<const ImportRecord*, const char*>> changes;
  for (const ImportRecord& record : b.manifest.imports) {
    const auto found = old_ones.find(key_of(record));
    if (found == old_ones.end()) {
      changes.emplace_back(&record, "added");
      continue;
    }
    files_differ = files_differ || found->second->file != record.file;
    lines_differ = lines_differ || found->second->line != record.line;
    old_ones.erase(found);
  }
  std::vector<std::pair<const ImportRecord*, const char*>> removed;
  for (const auto& [key, record] : old_ones) removed.emplace_back(record, "removed");
  std::ranges::sort(removed);  // All are of one array: in its order.
  changes.insert(changes.begin(), removed.begin(), removed.end());
  // The same modules, for other reasons.
  std::map<std::pair<std::string_view, ImportTime>, int> sides;
  for (const auto& [record, change] : changes) {
    sides[{record->module, record->time}] |= *change == 'a' ? 1 : 2;
  }
  List list(model, "imports", changes.size(), max_items);
  for (auto& [record, change] : changes) {
    const bool is_both = sides[{record->module, record->time}] == 3;
    if (is_both) change = *change == 'a' ? "new reason" : "old reason";
    if (const auto row = list.next(5)) set_import(*record, change, *row);
  }
}

void set_instruction(const InstructionText& instruction, Json row) {
  row.make_object(2);
  row["offset"] = instruction.offset;
  if (!instruction.text.empty()) row["text"] = instruction.text;
}

void add_code(const CodeDiff& diff, std::size_t max_items, Json model) {
  constexpr const char* kChanges[] = {"changed", "added", "removed"};
  List list(model, "code", diff.code.size(), max_items);
  for (const CodeDifference& difference : diff.code) {
    const std::optional<Json> row = list.next(6);
    if (!row) break;
    (*row)["change"] = kChanges[static_cast<std::size_t>(difference.kind)];
    (*row)["name"] = difference.name;
    if (difference.kind != CodeDifference::Kind::kChanged) continue;
    const Json parts = (*row)["parts"].make_array();
    for (const std::string& part : difference.parts) parts.append() = part;
    const Json details = (*row)["details"].make_array();
    for (const std::string& detail : difference.details) details.append() = detail;
    if (!difference.has_instruction) continue;
    set_instruction(difference.before, (*row)["old_instruction"]);
    set_instruction(difference.after, (*row)["new_instruction"]);
  }
}

void add_payload(const PayloadDiff& diff, std::size_t max_items, Json model) {
  constexpr const char* kChanges[] = {"changed", "added", "removed", "order"};
  List list(model, "payload", diff.count, max_items);
  for (const ValueDifference& difference : diff.shown) {
    const std::optional<Json> row = list.next(5);
    if (!row) break;
    (*row)["change"] = kChanges[static_cast<std::size_t>(difference.kind)];
    (*row)["path"] = difference.path;
    if (difference.index) (*row)["index"] = *difference.index;
    if (!difference.before.empty()) (*row)["old"] = difference.before;
    if (!difference.after.empty()) (*row)["new"] = difference.after;
  }
}

void add_locations(const CodeDiff& diff, const DiffOptions& options, Json model) {
  List list(model, "locations", diff.locations.size(), options.max_items);
  for (const LocationDifference& difference : diff.locations) {
    const std::optional<Json> row = list.next(6);
    if (!row) break;
    (*row)["name"] = difference.name;
    if (difference.old_file != difference.new_file) {
      (*row)["old_file"] = end_of(difference.old_file, options.max_text);
      (*row)["new_file"] = end_of(difference.new_file, options.max_text);
    }
    (*row)["old_line"] = difference.old_line;
    (*row)["new_line"] = difference.new_line;
    (*row)["other_line_table"] = difference.has_other_lines;
  }
}

std::string signature_text(const Envelope& envelope) {
  if (envelope.signature.empty()) return "not signed";
  const auto info = signature_info(envelope);
  if (!info) return "signed in an unknown way";
  return format_text("{} key {}", name_of(info->algorithm), to_string(info->key));
}

// Whose signatures they are, if they differ.
void add_signatures(const Envelope& a, const Envelope& b, Json model) {
  if (!model["signature"].boolean()) return;
  const Json signatures = model["signatures"].make_object(2);
  signatures["old"] = signature_text(a);
  signatures["new"] = signature_text(b);
}

}  // namespace

void fill_diff(const Envelope& a, const Envelope& b, const DiffOptions& options,
               Json model) {
  model.make_object(10);
  const bool is_equal = std::ranges::equal(a.bytes, b.bytes);
  model["equal"] = is_equal;
  model["summary"] = "";  // Its place; told when all is known.
  const ValueNames old_names = names_of(a);
  const ValueNames new_names = names_of(b);
  const CodeDiff code = diff_code(a, b, old_names, new_names, options);
  bool files_differ = false;
  bool lines_differ = false;
  for (const LocationDifference& location : code.locations) {
    files_differ = files_differ || location.old_file != location.new_file;
    lines_differ = lines_differ || location.old_line != location.new_line ||
                   location.has_other_lines;
  }
  add_header(a, b, model);
  add_imports(a, b, options.max_items, model, files_differ, lines_differ);
  add_code(code, options.max_items, model);
  add_payload(diff_payloads(a, b, code, old_names, new_names, options),
              options.max_items, model);
  add_locations(code, options, model);
  model["signature"] = !std::ranges::equal(a.signature, b.signature);
  add_signatures(a, b, model);
  model["summary"] = is_equal ? "equal" : summary_of(model, files_differ, lines_differ);
}

}  // namespace envelope

Diff diff(const Envelope& old_one, const Envelope& new_one,
          const DiffOptions& options) {
  envelope::JsonTree tree;
  envelope::fill_diff(old_one, new_one, options, tree.root());
  Diff result;
  result.differs = !tree.root()["equal"].boolean();
  result.report = options.json ? envelope::painted(tree.root().dump(2), false)
                               : envelope::diff_text(tree.root(), options.colours);
  return result;
}

}  // namespace waybill
