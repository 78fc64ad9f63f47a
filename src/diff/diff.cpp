// Builds the model of a diff, and writes it as JSON. diff_text.cpp lays it out as
// lines. Tested by tests/diff/diff_test.cpp and tests/cli/test_diff.py.

#include "waybill/diff.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "diff/diff_model.h"
#include "text/format_text.h"
#include "text/json.h"
#include "waybill/signature.h"

namespace waybill {
namespace envelope {
namespace {

constexpr std::size_t kShownBytes = 16;  // Shown bytes of the application field.

void add_header(const Envelope& a, const Envelope& b, Json model) {
  const Json header = model["header"].make_array();
  const auto add_row = [&](const char* field, const std::string& before,
                           const std::string& after) {
    if (before == after) return;
    const Json row = header.append().make_object(3);
    row["field"] = field;
    row["old"] = before;
    row["new"] = after;
  };
  add_row("python", to_string(a.python), to_string(b.python));
  if (std::ranges::equal(a.application, b.application)) return;
  const auto [end, _] = std::ranges::mismatch(a.application, b.application);
  const auto index = static_cast<std::size_t>(end - a.application.begin());
  // Shows the start, or the first difference if it is further on.
  const std::size_t from = index < kShownBytes ? 0 : index - kShownBytes / 2;
  const auto shown = [&](const Envelope& envelope) {
    const BytesView rest = envelope.application.subspan(from);
    return (from == 0 ? "" : "…") + hex(rest.first(std::min(rest.size(), kShownBytes)));
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

// Adds the imports that only one envelope has. Sets the flags if common imports have
// other files or lines.
void add_imports(const Envelope& a, const Envelope& b, DifferenceList& imports,
                 bool& files_differ, bool& lines_differ) {
  std::multimap<ImportKey, const ImportRecord*> unmatched_old;
  for (const ImportRecord& record : a.manifest.imports) {
    unmatched_old.emplace(key_of(record), &record);
  }
  std::vector<std::pair<const ImportRecord*, const char*>> changes;
  for (const ImportRecord& record : b.manifest.imports) {
    const auto found = unmatched_old.find(key_of(record));
    if (found == unmatched_old.end()) {
      changes.emplace_back(&record, "added");
      continue;
    }
    files_differ = files_differ || found->second->file != record.file;
    lines_differ = lines_differ || found->second->line != record.line;
    unmatched_old.erase(found);
  }
  std::vector<std::pair<const ImportRecord*, const char*>> removed;
  for (const auto& [key, record] : unmatched_old)
    removed.emplace_back(record, "removed");
  std::ranges::sort(removed);  // By address: they are elements of one vector.
  changes.insert(changes.begin(), removed.begin(), removed.end());
  // A module that is on both sides is imported for another reason.
  std::map<std::pair<std::string_view, ImportTime>, int> sides;
  for (const auto& [record, change] : changes) {
    sides[{record->module, record->time}] |= *change == 'a' ? 1 : 2;
  }
  for (auto& [record, change] : changes) {
    const bool is_on_both = sides[{record->module, record->time}] == 3;
    if (is_on_both) change = *change == 'a' ? "new reason" : "old reason";
    if (const auto row = imports.add(5)) set_import(*record, change, *row);
  }
}

std::string signature_text(const Envelope& envelope) {
  if (envelope.signature.empty()) return "not signed";
  const auto info = signature_info(envelope);
  if (!info) return "signed in an unknown way";
  return format_text("{} key {}", name_of(info->algorithm), to_string(info->key));
}

// Describes both signatures if they differ.
void add_signatures(const Envelope& a, const Envelope& b, Json model) {
  if (!model["signature"].boolean()) return;
  const Json signatures = model["signatures"].make_object(2);
  signatures["old"] = signature_text(a);
  signatures["new"] = signature_text(b);
}

void fill_diff(const Envelope& a, const Envelope& b, const DiffOptions& options,
               Json model) {
  model.make_object(10);
  const bool is_equal = std::ranges::equal(a.bytes, b.bytes);
  model["equal"] = is_equal;
  model["summary"] = "";  // Comes first; set at the end.
  add_header(a, b, model);
  DifferenceList imports(model, "imports", options.max_items);
  DifferenceList code(model, "code", options.max_items);
  DifferenceList payload(model, "payload", options.max_items);
  DifferenceList locations(model, "locations", options.max_items);
  const Side old_side(a);
  const Side new_side(b);
  CodeChanges changes = diff_code(old_side, new_side, options, code, locations);
  diff_payloads(old_side, new_side, changes, options, payload);
  auto& [_, files_differ, lines_differ] = changes;
  add_imports(a, b, imports, files_differ, lines_differ);
  model["signature"] = !std::ranges::equal(a.signature, b.signature);
  add_signatures(a, b, model);
  model["summary"] = is_equal ? "equal" : summary_of(model, files_differ, lines_differ);
}

}  // namespace

DifferenceList::DifferenceList(Json model, const char* key, std::size_t max_shown)
    : max_shown_(max_shown),
      count_(model[key].make_object(2)["count"]),
      items_(model[key]["items"].make_array()) {
  count_ = 0;
}

std::optional<Json> DifferenceList::add(std::size_t keys) {
  count_ = ++total_;
  if (total_ > max_shown_) return std::nullopt;
  return items_.append().make_object(keys);
}

}  // namespace envelope

Diff diff(const Envelope& old_envelope, const Envelope& new_envelope,
          const DiffOptions& options) {
  envelope::JsonTree tree;
  envelope::fill_diff(old_envelope, new_envelope, options, tree.root());
  Diff result;
  result.differs = !tree.root()["equal"].boolean();
  result.report = options.json
                      ? envelope::format_for_terminal(tree.root().dump(2), false)
                      : envelope::diff_text(tree.root(), options.colours);
  return result;
}

}  // namespace waybill
