// An explanation as text for a terminal: one line with the total, a table of the parts
// that explain most of the size, the blockers, and the needed modules. Tested by
// tests/explain/explanation_text_test.cpp.

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "explain/text_table.h"
#include "report/report_lines.h"
#include "text/control_characters.h"
#include "text/format_text.h"
#include "waybill/explanation.h"

namespace waybill {
namespace {

using envelope::middle_cut;
using envelope::padded_to;
using envelope::Paint;
using envelope::plural;
using envelope::printable_text;
using envelope::width_of;

constexpr std::size_t kSizeWidth = 8;   // "999.9 MB"
constexpr std::size_t kShareWidth = 4;  // " 100", before "%"
constexpr std::size_t kGap = 2;
constexpr std::size_t kWidestFile = 24;
constexpr std::size_t kNarrowest = 12;  // The least width of a column that is cut.

// One line of the table, escaped.
struct Row {
  std::string start;  // The columns of fixed width.
  std::string path, kind, code, file;

  std::string label() const { return path + kind; }
};

// The path and the kind. The path is cut first.
std::string label_in(const Row& row, std::size_t width) {
  const std::size_t kind = width_of(row.kind);
  if (kind + kNarrowest > width) return middle_cut(row.label(), width);
  return middle_cut(row.path, width - kind) + row.kind;
}

std::string file_of(const CodePlace& place) {
  if (place.file.empty()) return {};
  const std::string name = place.file.substr(place.file.rfind('/') + 1);
  const std::string line = place.line == 0 ? "" : ":" + std::to_string(place.line);
  return printable_text(name + line);
}

// "<- model.w in score"; "<- score" if the expression equals the path.
std::string code_of(const CodePlace& place, const std::string& path) {
  if (place.expression.empty()) return {};
  if (place.expression == path && !place.function.empty())
    return printable_text("<- " + place.function);
  const std::string within = place.function.empty() ? "" : " in " + place.function;
  return printable_text("<- " + place.expression + within);
}

// "DataFrame 300000x20". The module of the class is omitted, to leave room for paths.
std::string kind_text(const ExplainedPart& part) {
  const std::string name = part.type.substr(part.type.rfind('.') + 1);
  std::string text = " (" + name + (part.detail.empty() ? "" : " " + part.detail);
  if (part.is_shared) text += ", shared";
  if (part.kind == ExplainedPart::Kind::kOutOfBand) text += ", out of band";
  return printable_text(text + ")");
}

class Page {
 public:
  Page(const Explanation& explanation, const ExplanationTextOptions& options)
      : explanation_(explanation), options_(options), paint_(options.colours) {}

  std::string write() {
    add_head();
    add_parts();
    add_blockers();
    add_imports();
    if (explanation_.source) add_source(*explanation_.source);
    return std::move(out_);
  }

 private:
  void add_head() {
    const std::vector<ExplainedPart>& parts = explanation_.parts;
    const std::size_t blockers = explanation_.blockers.size();
    const std::string verdict = blockers == 0
                                    ? "all of it travels"
                                    : plural(blockers, "thing") + " cannot travel";
    const std::string total = "   " + size_text(explanation_.total) + " in 1 payload; ";
    const std::size_t taken = width_of(total) + width_of(verdict);
    const std::size_t left = options_.columns - std::min(options_.columns, taken);
    const std::string name = parts.empty() ? "" : printable_text(parts[0].step);
    out_ += paint_.title(middle_cut(name, std::max(left, kNarrowest))) + total;
    out_ += (blockers == 0 ? paint_.good(verdict) : paint_.bad(verdict)) + "\n";
  }

  void add_parts() {
    std::vector<Row> rows;
    const std::uint64_t total = std::max<std::uint64_t>(1, explanation_.total);
    for (const auto& [index, bytes] : significant_parts(explanation_, options_.top)) {
      const ExplainedPart& part = explanation_.parts[index];
      const std::string path = path_of(explanation_, index).short_path;
      Row row;
      const double share =
          static_cast<double>(bytes) / static_cast<double>(total) * 100;
      row.start = format_text("{:>{}}{:>{}.0f}%", size_text(bytes), kSizeWidth, share,
                              kShareWidth);
      row.path = printable_text(path);
      row.kind = kind_text(part);
      row.code = code_of(part.place, path);
      row.file = file_of(part.place);
      rows.push_back(std::move(row));
    }
    add_rows(rows);
  }

  void add_blockers() {
    for (const Blocker& blocker : explanation_.blockers) {
      add_blocker(blocker);
      if (blocker.path_count > 1) {
        add_note("and by " + plural(blocker.path_count - 1, "other path"));
      }
      // Without a remedy, shows the reason of the error.
      add_note(blocker.remedy.empty() ? blocker.reason : blocker.remedy);
    }
  }

  // The path is not cut to make room for the code, which moves to the next line
  // instead.
  void add_blocker(const Blocker& blocker) {
    constexpr std::string_view kStart = " x ";
    Row row;
    row.path = printable_text(blocker.short_path);
    row.kind = printable_text(" (" + blocker.type + ")");
    const std::string code = code_of(blocker.place, blocker.short_path);
    const std::string file = file_of(blocker.place);
    const std::string place = code + (code.empty() || file.empty() ? "" : "  ") + file;
    const std::size_t room =
        options_.columns - std::min(options_.columns, kStart.size());
    out_ += paint_.bad(kStart) + label_in(row, room);
    const std::size_t width = width_of(row.label()) + kGap + width_of(place);
    if (!place.empty() && width <= room) {
      out_ += "  " + paint_.faint(place);
    } else if (!place.empty()) {
      out_ +=
          "\n      " + paint_.faint(middle_cut(place, room - std::min(room, kGap + 1)));
    }
    out_ += "\n";
  }

  void add_note(const std::string& text) {
    constexpr std::size_t kMargin = 6;
    if (text.empty()) return;
    for (const std::string& line : wrapped(printable_text(text), kMargin, kMargin)) {
      out_ += std::string(kMargin, ' ') + paint_.faint(line) + "\n";
    }
  }

  struct Widths {
    std::size_t label = 0, code = 0, file = 0;
  };

  // Columns are as wide as their contents. If that is too wide for a line, code is cut
  // first, then paths.
  Widths widths_of(std::span<const Row> rows) const {
    Widths widths;
    std::size_t start = 0;
    for (const Row& row : rows) {
      start = std::max(start, width_of(row.start));
      widths.label = std::max(widths.label, width_of(row.label()));
      widths.code = std::max(widths.code, width_of(row.code));
      widths.file = std::max(widths.file, width_of(row.file));
    }
    widths.file = std::min(widths.file, kWidestFile);
    const std::size_t fixed = start + 3 * kGap + widths.file;
    const std::size_t room = options_.columns - std::min(options_.columns, fixed);
    if (widths.label + widths.code <= room) return widths;
    const std::size_t min_code = std::min(widths.code, std::max(kNarrowest, room / 3));
    widths.code = std::max(min_code, room - std::min(room, widths.label));
    widths.code = std::min({widths.code, room});
    widths.label = std::max(kNarrowest, room - widths.code);
    return widths;
  }

  void add_rows(const std::vector<Row>& rows) {
    const std::string gap(kGap, ' ');
    const Widths widths = widths_of(rows);
    for (const Row& row : rows) {
      const std::string label = label_in(row, widths.label);
      out_ += row.start + gap + paint_.name(label);
      // The last cell of a line is not padded.
      if (!row.code.empty() || !row.file.empty()) {
        out_ +=
            std::string(widths.label - std::min(widths.label, width_of(label)), ' ');
        const std::string code = middle_cut(row.code, widths.code);
        out_ += gap + (row.file.empty() ? code : padded_to(code, widths.code));
      }
      if (!row.file.empty())
        out_ += gap + paint_.faint(middle_cut(row.file, widths.file));
      out_ += "\n";
    }
  }

  void add_imports() {
    std::string text;
    for (const ImportTime time :
         {ImportTime::kLoad, ImportTime::kCall, ImportTime::kLazy}) {
      const std::string names = import_names(time);
      if (names.empty()) continue;
      text +=
          (text.empty() ? "" : "; ") + names + " (" + std::string(name_of(time)) + ")";
    }
    if (!text.empty()) add_wrapped("needs: " + text);
  }

  void add_source(const ExplainedSource& source) {
    std::string text = "source: " + plural(source.functions, "function") + ", " +
                       size_text(source.bytes);
    if (!source.without.empty()) {
      text += format_text("; {} without load on this version of Python alone: ",
                          source.without.size());
      const std::size_t shown = std::min(source.without.size(), options_.top);
      for (std::size_t i = 0; i < shown; ++i) {
        const CodePlace& place = source.without[i];
        const std::string file = file_of(place);
        text += (i == 0 ? "" : ", ") + printable_text(place.function);
        if (!file.empty()) text += " (" + file + ")";
      }
      const std::size_t hidden = source.without.size() - shown;
      if (hidden != 0) text += format_text(" and {} more", hidden);
    }
    add_wrapped(text);
  }

  std::string import_names(ImportTime time) const {
    std::string names;
    std::size_t count = 0;
    std::size_t hidden = 0;
    for (const ExplainedImport& import : explanation_.imports) {
      if (import.record.time != time) continue;
      // Missing imports are always listed.
      if (++count > options_.top && !import.is_missing) {
        ++hidden;
        continue;
      }
      if (!names.empty()) names += ", ";
      names += printable_text(import.record.module);
      if (import.is_missing) names += " [missing]";
    }
    if (hidden != 0) names += format_text(" and {} more", hidden);
    return names;
  }

  // Text in lines broken at spaces. The first line begins at column `first`, the others
  // at column `margin`.
  std::vector<std::string> wrapped(std::string_view text, std::size_t first,
                                   std::size_t margin) const {
    std::vector<std::string> lines(1);
    std::size_t width = first;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(' '), text.size());
      const std::string_view word = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!lines.back().empty() && width + 1 + width_of(word) > options_.columns) {
        lines.emplace_back();
        width = margin;
      } else if (!lines.back().empty()) {
        lines.back() += " ";
        ++width;
      }
      lines.back() += word;
      width += width_of(word);
    }
    return lines;
  }

  void add_wrapped(std::string_view text) {
    constexpr std::size_t kMargin = 7;
    const std::vector<std::string> lines = wrapped(text, 0, kMargin);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      out_ += (i == 0 ? "" : std::string(kMargin, ' ')) + lines[i] + "\n";
    }
  }

  const Explanation& explanation_;
  const ExplanationTextOptions& options_;
  Paint paint_;
  std::string out_;
};

}  // namespace

std::string explanation_text(const Explanation& explanation,
                             const ExplanationTextOptions& options) {
  return Page(explanation, options).write();
}

}  // namespace waybill
