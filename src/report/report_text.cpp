// Lays a report out as lines of text.
// Tested by tests/report/report_test.cpp, tests/cli/test_inspect_code.py and
// test_inspect_source.py.

#include <algorithm>
#include <string>
#include <string_view>

#include "report/report_lines.h"
#include "report/report_model.h"
#include "text/control_characters.h"
#include "text/format_text.h"
#include "waybill/report.h"

namespace waybill {
namespace envelope {

std::string Paint::wrap(const char* code, std::string_view text) const {
  return is_on_ ? format_text("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string text_of(Json model, const char* key) {
  const auto found = model.find(key);
  return found && found->is_text() ? printable(found->text()) : "";
}

std::uint64_t number_of(Json model, const char* key) {
  const auto found = model.find(key);
  return found && found->is_number() ? found->unsigned_integer() : 0;
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return format_text("{} {}{}", count, noun, count == 1 ? "" : "s");
}

namespace {

std::string signature_of(Json model) {
  if (!model["signed"].boolean()) return "not signed";
  if (!model.contains("signature")) return "signed in an unknown way";
  const Json signature = model["signature"];
  return format_text("signed ({} key {}, not checked)", text_of(signature, "algorithm"),
                     text_of(signature, "key"));
}

void add_summary(Json model, const Paint& paint, std::string& out) {
  const Json python = model["python"];
  out +=
      paint.title(format_text("waybill format {}", number_of(model, "format_version")));
  out +=
      format_text(", Python {}.{} (bytecode {}), {}, {}\n", number_of(python, "major"),
                  number_of(python, "minor"), number_of(python, "magic"),
                  plural(number_of(model, "size"), "byte"), signature_of(model));
  out += paint.faint("digest " + text_of(model, "digest")) + "\n";
  if (!model.contains("application")) return;
  const Json application = model["application"];
  const std::uint64_t size = number_of(application, "size");
  const std::string start = text_of(application, "start");
  const std::string shown = application.contains("text")
                                ? "'" + text_of(application, "text") + "'"
                                : start + (size * 2 > start.size() ? "…" : "");
  out += format_text("application {}  {}\n", shown, paint.faint(plural(size, "byte")));
}

void add_substitutions(Json substitutions, const Paint& paint, std::string& out) {
  if (substitutions.empty()) return;
  out += "\n" +
         paint.title(format_text("not sent as they are ({})", substitutions.size())) +
         "\n";
  for (const Json record : substitutions) {
    out += format_text("  {}  {}  {}\n", text_of(record, "policy"),
                       text_of(record, "type"), text_of(record, "path"));
  }
}

void add_environment(Json environment, const Paint& paint, std::string& out) {
  out += "\n" + paint.title("made with") +
         format_text(" Python {} ({}), {}\n", text_of(environment, "python"),
                     text_of(environment, "implementation"),
                     text_of(environment, "platform"));
  for (const Json distribution : environment["distributions"]) {
    const std::string name = text_of(distribution, "name");
    out += format_text("  {} {}", paint.name(name), text_of(distribution, "version"));
    std::string modules;
    for (const Json module : distribution["modules"]) {
      const auto text = printable_text(module.text());
      if (text != name) modules += (modules.empty() ? "" : ", ") + text;
    }
    if (!modules.empty()) out += "  " + paint.faint(modules);
    out += "\n";
  }
}

void add_imports(Json model, const Paint& paint, std::string& out) {
  const Json imports = model["imports"];
  out += "\n" + paint.title(format_text("imports ({})", imports.size())) + "\n";
  std::size_t width = 0;
  for (const Json record : imports) {
    width =
        std::max(width, std::min<std::size_t>(text_of(record, "module").size(), 40));
  }
  for (const Json record : imports) {
    const std::string module = format_text("{:<{}}", text_of(record, "module"), width);
    out += format_text("  {} {:<4}", paint.name(module), text_of(record, "time"));
    const std::string chain = text_of(record, "chain");
    const std::string function = text_of(record, "function");
    const std::string file = text_of(record, "file");
    if (!chain.empty()) out += "  " + chain;
    if (!function.empty()) out += "  in " + function;
    if (!file.empty()) {
      out += "  " + paint.faint(format_text("{}:{}", file, number_of(record, "line")));
    }
    out += "\n";
  }
  const auto own_imports = model.find("own_imports");
  if (!own_imports) return;
  std::string names;
  for (const Json record : *own_imports) names += " " + text_of(record, "module");
  out += paint.faint("  of waybill itself:" + names) + "\n";
}

// A value in one line, without its items.
std::string summary_of(Json value, const Paint& paint) {
  std::string line = paint.name(text_of(value, "kind"));
  const std::string name = text_of(value, "name");
  if (!name.empty()) line += " " + name;
  if (const auto found = value.find("value")) {
    line += " ";
    line += found->is_text() ? "'" + text_of(value, "value") + "'" : found->dump();
  }
  if (value.contains("index")) line += format_text(" {}", number_of(value, "index"));
  if (value.contains("count")) {
    line += format_text(" of {}", number_of(value, "count"));
  }
  if (value.contains("size")) {
    line += paint.faint(format_text("  {}", plural(number_of(value, "size"), "byte")));
  }
  if (value.contains("shared")) {
    line += paint.faint(format_text("  = reference {}", number_of(value, "shared")));
  }
  return line;
}

// The step of paths to a value, or the name of the part of a node.
std::string label_of(Json value) {
  const std::string step = text_of(value, "step");
  return step.empty() ? text_of(value, "field") : step;
}

// Whether the key of a pair needs a line of its own, since the step to its value does
// not show all of it. The number of a field needs none: its name is shown.
bool needs_line(Json key) {
  return text_of(key, "field").empty() &&
         (key.contains("items") || key.contains("shared") || key.contains("size"));
}

// The prefix of a pair's value to which no step leads: the name of its field.
std::string field_prefix(Json pair) {
  const std::string field = text_of(pair[0], "field");
  return field.empty() || pair[1].contains("step") ? "" : field + ": ";
}

// Adds a value and its items. Recursion is bounded by the depth of the outline.
void add_value(Json value, std::size_t indent, const std::string& prefix,
               const Paint& paint, std::string& out) {
  const std::string label = label_of(value);
  out += std::string(indent * 2, ' ') + prefix + (label.empty() ? "" : label + ": ") +
         summary_of(value, paint) + "\n";
  const std::size_t inner = indent + 1;
  const auto items = value.find("items");
  for (std::size_t i = 0; items && i < items->size(); ++i) {
    const Json item = (*items)[i];
    if (!item.is_array()) {
      add_value(item, inner, "", paint, out);
    } else if (item.size() > 1 && !needs_line(item[0])) {
      add_value(item[1], inner, field_prefix(item), paint, out);
    } else {
      if (!item.empty()) add_value(item[0], inner, "", paint, out);
      if (item.size() > 1) add_value(item[1], inner + 1, "→ ", paint, out);
    }
  }
  const std::uint64_t more = number_of(value, "more");
  if (more == 0) return;
  out += std::string(inner * 2, ' ') + paint.faint(format_text("… and {} more", more)) +
         "\n";
}

void add_payload(Json payload, const Paint& paint, std::string& out) {
  const Json statistics = payload["statistics"];
  out += "\n" + paint.title("payload");
  out += format_text(" {}, depth {}, {}, {}\n",
                     plural(number_of(statistics, "values"), "value"),
                     number_of(statistics, "depth"),
                     plural(number_of(statistics, "references"), "reference"),
                     plural(number_of(statistics, "text_bytes"), "byte") + " of text");
  if (payload["outline"].is_object()) add_value(payload["outline"], 1, "", paint, out);
  if (payload.contains("error")) {
    out +=
        "  " + paint.bad("unreadable: " + text_of(payload["error"], "detail")) + "\n";
  }
}

// "1000 x 3 x 'd'"; empty unless shape and format are both known.
std::string items_of(Json buffer) {
  if (buffer["format"].is_null() || buffer["shape"].is_null()) return "";
  std::string out;
  for (const Json extent : buffer["shape"]) {
    out += format_text("{} x ", extent.unsigned_integer());
  }
  return out + "'" + text_of(buffer, "format") + "'  " +
         (buffer["shape"].size() > 1 && text_of(buffer, "order") == "F"
              ? "Fortran order  "
              : "");
}

// "800000 bytes at 128"; if compressed, "800000 bytes, 9000 by zstd at 128".
std::string size_and_place_of(Json buffer) {
  std::string size = plural(number_of(buffer, "length"), "byte");
  if (buffer.contains("compression")) {
    const Json compression = buffer["compression"];
    size += format_text(", {} by {}", number_of(compression, "stored_length"),
                        text_of(compression, "method"));
  }
  return format_text("{} at {}", size, number_of(buffer, "offset"));
}

void add_buffers(Json buffers, const Paint& paint, std::string& out) {
  out += "\n" + paint.title(format_text("buffers ({})", buffers.size())) + "\n";
  std::size_t number = 0;
  for (const Json buffer : buffers) {
    out +=
        format_text("{:>4}  {}  {}{}\n", number++, paint.name(text_of(buffer, "kind")),
                    items_of(buffer), paint.faint(size_and_place_of(buffer)));
  }
}

void add_sections(Json sections, const Paint& paint, std::string& out) {
  out += "\n" + paint.title("sections") + "\n";
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Json section = sections.value_at(i);
    out += format_text("  {:<14}{:>10} at {}\n", sections.key_at(i),
                       plural(number_of(section, "size"), "byte"),
                       number_of(section, "offset"));
  }
}

void add_instruction(Json row, std::uint64_t& line, const Paint& paint,
                     std::string& out) {
  const std::uint64_t row_line = number_of(row, "line");
  const bool is_new = row_line != 0 && row_line != line;
  if (row_line != 0) line = row_line;
  const std::string name = text_of(row, "opcode");
  const std::string number =
      row.contains("argument") ? format_text("{}", number_of(row, "argument")) : "";
  const std::string meaning = text_of(row, "meaning");
  out += paint.faint(format_text("    {:>6}", is_new ? std::to_string(row_line) : ""));
  out += format_text("{:>8}  ", number_of(row, "offset"));
  // The last column is not padded.
  if (number.empty()) {
    out += name;
  } else {
    out += format_text("{:<32}{:>6}", name, number);
  }
  if (!meaning.empty()) out += "  " + paint.name(meaning);
  out += "\n";
}

// "job.py:3"; empty if unknown.
std::string location_of(Json body) {
  if (!body.contains("file")) return {};
  return format_text("{}:{}", text_of(body, "file"), body["first_line"].integer());
}

void add_listing(Json body, const Paint& paint, std::string& out) {
  const std::string place = location_of(body);
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
  const std::string place = location_of(body);
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

// The code bodies, with source and instructions if the model has them.
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

}  // namespace
}  // namespace envelope

std::string printable(std::string_view text) { return envelope::printable_text(text); }

std::string report_text(const Envelope& envelope, const ReportOptions& options) {
  envelope::JsonTree tree;
  envelope::fill_report(envelope, options, tree.root());
  const envelope::Json model = tree.root();
  const envelope::Paint paint(options.colours);
  std::string out;
  envelope::add_summary(model, paint, out);
  envelope::add_imports(model, paint, out);
  if (model.contains("environment")) {
    envelope::add_environment(model["environment"], paint, out);
  }
  envelope::add_substitutions(model["substitutions"], paint, out);
  envelope::add_code(model["code"], paint, out);
  envelope::add_payload(model["payload"], paint, out);
  if (model.contains("buffers")) envelope::add_buffers(model["buffers"], paint, out);
  envelope::add_sections(model["sections"], paint, out);
  return out;
}

}  // namespace waybill
