// Code bodies as lines of text.
// Tested by tests/report/report_test.cpp and tests/cli/test_inspect_code.py and
// test_inspect_source.py.

#include <string>
#include <string_view>

#include "report/report_lines.h"
#include "text/format_text.h"
#include "waybill/report.h"

namespace waybill::envelope {
namespace {

void add_instruction(Json row, std::uint64_t& line, const Paint& paint,
                     std::string& out) {
  const std::uint64_t own = number_of(row, "line");
  const bool is_new = own != 0 && own != line;
  if (own != 0) line = own;
  const std::string name = text_of(row, "opcode");
  const std::string number =
      row.contains("argument") ? format_text("{}", number_of(row, "argument")) : "";
  const std::string meaning = text_of(row, "meaning");
  out += paint.faint(format_text("    {:>6}", is_new ? std::to_string(own) : ""));
  out += format_text("{:>8}  ", number_of(row, "offset"));
  // Nothing is filled up at the end of a line.
  if (number.empty()) {
    out += name;
  } else {
    out += format_text("{:<32}{:>6}", name, number);
  }
  if (!meaning.empty()) out += "  " + paint.name(meaning);
  out += "\n";
}

// "job.py:3", or nothing.
std::string where_written(Json body) {
  if (!body.contains("file")) return {};
  return format_text("{}:{}", text_of(body, "file"), body["first_line"].integer());
}

void add_listing(Json body, const Paint& paint, std::string& out) {
  const std::string place = where_written(body);
  if (!place.empty()) out += paint.faint("      " + place) + "\n";
  std::uint64_t line = 0;
  for (const Json row : body["instructions"]) add_instruction(row, line, paint, out);
  if (body.contains("unreadable")) {
    out += "      " +
           paint.bad("unreadable: " + text_of(body["unreadable"], "detail")) + "\n";
  }
  const Json entries = body["exception_entries"];
  if (!entries.empty()) out += "      exception table\n";
  for (const Json entry : entries) {
    out += format_text("        {} to {} -> {}, depth {}{}\n",
                       number_of(entry, "start"), number_of(entry, "end"),
                       number_of(entry, "target"), number_of(entry, "depth"),
                       entry["lasti"].boolean() ? ", lasti" : "");
  }
}

void add_lines(std::string_view text, std::uint64_t line, const Paint& paint,
               std::string& out) {
  const bool has_numbers = line != 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string number = has_numbers ? std::to_string(line++) : "";
    out += paint.faint(format_text("    {:>6}", number));
    out += "  " + printable(text.substr(0, end)) + "\n";
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

void add_source(Json body, const Paint& paint, std::string& out) {
  const Json source = body["source"];
  const std::string place = where_written(body);
  const std::string where = place.empty() ? "" : " " + place;
  if (source.is_null()) {
    out += "      " + paint.bad("no source" + where) + "\n";
  } else if (text_of(source, "kind") == "generated") {
    out += "      source" + where + ": a library writes it\n";
  } else if (source.contains("error")) {
    out += "      " + paint.bad("unreadable: " + text_of(source["error"], "detail")) +
           "\n";
  } else if (!source.contains("text")) {
    out += format_text("      source{}: {} more\n", where,
                       plural(number_of(source, "size"), "byte"));
  } else {
    out += "      source" + where + "\n";
    add_lines(source["text"].text(), number_of(source, "line"), paint, out);
  }
}

}  // namespace

void add_code(Json code, const Paint& paint, std::string& out) {
  out += "\n" + paint.title(format_text("code ({})", code.size())) + "\n";
  std::size_t index = 0;
  for (const Json body : code) {
    out += format_text("  {:>2}  ", index++);
    if (body.contains("error")) {
      out += paint.bad("unreadable: " + text_of(body["error"], "detail")) + "\n";
      continue;
    }
    out += format_text("{}  {}, {}  {}\n", paint.name(text_of(body, "qualified_name")),
                       plural(number_of(body, "argument_count"), "argument"),
                       plural(number_of(body, "size"), "byte"),
                       paint.faint(text_of(body, "hash")));
    std::string names;
    for (const Json name : body["names"]) {
      names += " " + printable(name.text());
    }
    if (!names.empty()) out += paint.faint("      names:" + names) + "\n";
    if (body.contains("source")) add_source(body, paint, out);
    if (body.contains("instructions")) add_listing(body, paint, out);
  }
}

}  // namespace waybill::envelope
