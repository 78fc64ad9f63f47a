// An explanation as JSON. Each row is written as one line, so that neither deep nor
// large explanations need a large JSON tree in memory. Tested by
// tests/explain/explanation_json_test.cpp.

#include <string>
#include <utility>

#include "explain/part_queries.h"
#include "text/json.h"
#include "waybill/explanation.h"

namespace waybill {
namespace {

using envelope::Json;
using envelope::JsonTree;
using envelope::set_place;
using envelope::set_text_or_null;

constexpr std::size_t kListed = 100;
// Most bytes of a listed path. Consumers can build longer paths from the steps.
constexpr std::size_t kMaxListedPath = 4096;

void add_code_place(const CodePlace& place, Json row) {
  set_text_or_null(row["expression"], place.expression);
  set_place(row, place.function, place.file, place.line);
}

// Names may contain bytes that are not UTF-8. These are replaced, not refused.
std::string json_line(Json row) {
  return envelope::format_for_terminal(row.dump(), false);
}

class JsonRows {
 public:
  JsonRows(const Explanation& explanation, const Holders& holders)
      : explanation_(explanation), holders_(holders) {}

  std::string run() {
    add_head();
    add_rows("blockers", explanation_.blockers,
             [&](const Blocker& blocker, Json row) { fill_blocker(blocker, row); });
    add_rows("largest", largest_parts(explanation_, kListed),
             [&](std::size_t part, Json row) { fill_largest(part, row); });
    std::size_t number = 0;
    add_rows("parts", explanation_.parts, [&](const ExplainedPart& part, Json row) {
      fill_part(part, number++ == 0, row);
    });
    add_rows("imports", explanation_.imports, fill_import);
    out_ += "\n}";
    return std::move(out_);
  }

 private:
  void add_head() {
    JsonTree head;
    head.root().make_object(4);
    head.root()["total"] = explanation_.total;
    const Json root = head.root()["root"];
    if (!explanation_.parts.empty()) root = explanation_.parts[0].step;
    head.root()["omitted_parts"] = explanation_.omitted_parts;
    add_source(head.root()["source"]);
    out_ = "{";
    const char* separator = "\n  ";
    for (std::size_t i = 0; i < head.root().size(); ++i) {
      out_ += separator;
      out_ += '"';
      out_ += head.root().key_at(i);
      out_ += "\": ";
      out_ += json_line(head.root().value_at(i));
      separator = ",\n  ";
    }
  }

  void add_source(Json model) const {
    if (!explanation_.source) return;
    model.make_object(3);
    model["bytes"] = explanation_.source->bytes;
    model["functions"] = explanation_.source->functions;
    const Json without = model["without"].make_array();
    for (const CodePlace& place : explanation_.source->without) {
      const Json row = without.append().make_object(3);
      set_place(row, place.function, place.file, place.line);
    }
  }

  template <typename Rows, typename Fill>
  void add_rows(const char* key, const Rows& rows, Fill fill) {
    out_ += ",\n  \"";
    out_ += key;
    out_ += "\": [";
    const char* separator = "\n    ";
    for (const auto& item : rows) {
      JsonTree row;
      fill(item, row.root());
      out_ += separator;
      out_ += json_line(row.root());
      separator = ",\n    ";
    }
    out_ += rows.empty() ? "]" : "\n  ]";
  }

  void fill_blocker(const Blocker& blocker, Json row) const {
    row.make_object(13);
    row["path"] = blocker.path;
    row["short"] = blocker.short_path;
    row["evaluates"] = blocker.evaluates;
    const Json paths = row["paths"].make_array();
    for (const std::string& path : blocker.paths) paths.append() = path;
    row["path_count"] = blocker.path_count;
    row["type"] = blocker.type;
    row["reason"] = blocker.reason;
    set_text_or_null(row["remedy"], blocker.remedy);
    add_code_place(blocker.place, row);
    const Json part = row["part"];
    if (!explanation_.parts.empty()) part = holders_.find(blocker.path).part;
  }

  void fill_largest(std::size_t part, Json row) const {
    const PartPath path = path_of(explanation_, part);
    row.make_object(5);
    row["part"] = part;
    const Json full = row["path"];
    if (path.full.size() <= kMaxListedPath) full = path.full;
    const Json short_path = row["short"];
    if (path.short_path.size() <= kMaxListedPath) short_path = path.short_path;
    row["evaluates"] = path.evaluates;
    row["bytes"] = explanation_.parts[part].bytes;
  }

  static void fill_part(const ExplainedPart& part, bool is_root, Json row) {
    row.make_object(14);
    const Json parent = row["parent"];
    if (!is_root) parent = part.parent;
    row["step"] = part.step;
    set_text_or_null(row["variable"], part.variable);
    row["evaluates"] = part.evaluates;
    row["type"] = part.type;
    set_text_or_null(row["detail"], part.detail);
    row["kind"] = name_of(part.kind);
    row["shared"] = part.is_shared;
    row["bytes"] = part.bytes;
    row["own"] = part.own;
    add_code_place(part.place, row);
  }

  static void fill_import(const ExplainedImport& import, Json row) {
    const ImportRecord& record = import.record;
    row.make_object(7);
    row["module"] = record.module;
    row["time"] = name_of(record.time);
    row["missing"] = import.is_missing;
    set_text_or_null(row["chain"], record.chain);
    set_place(row, record.function, record.file, record.line);
  }

  const Explanation& explanation_;
  const Holders& holders_;
  std::string out_;
};

}  // namespace

std::string explanation_json(const Explanation& explanation) {
  const Holders holders(explanation);
  return JsonRows(explanation, holders).run();
}

}  // namespace waybill
